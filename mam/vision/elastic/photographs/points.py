"""Points of an object at about equal distances (paper, "Edge detection and heuristic
sparsification")."""

import numpy as np
from jaxtyping import Int

_CLOSE = 1.35  # times the target distance: how far the next point of a walk may be


def pick_points(
    points: Int[np.ndarray, "points 2"], distance: float | int, rng: np.random.Generator
) -> Int[np.ndarray, " chosen"]:
    """Numbers of points, no two closer than ``distance``, in the order in which they were picked.

    A walk starts at a random point and goes on to the point nearest to the target distance that is
    as far from all picked ones; where there is none, another walk starts at a random free point.

    >>> line = np.stack([np.zeros(31, int), np.arange(31)], 1)
    >>> chosen = pick_points(line, 10, np.random.default_rng(0))
    >>> np.diff(np.sort(line[chosen, 1])).min() >= 10
    np.True_
    """
    chosen: list[int] = []
    room = np.full(len(points), np.inf)  # to the nearest picked point
    while (free := np.flatnonzero(room >= distance)).size:
        here = int(rng.choice(free))
        while True:
            chosen.append(here)
            away = np.hypot(*(points - points[here]).T)
            room = np.minimum(room, away)
            ahead = np.flatnonzero((room >= distance) & (away <= _CLOSE * distance))
            if not ahead.size:
                break
            here = int(ahead[away[ahead].argmin()])
    return np.array(chosen, np.int64)
