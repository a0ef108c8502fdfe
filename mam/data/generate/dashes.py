"""Dashed contours that never touch: how one contour grows, stroke by stroke.

The next stroke is drawn at random: the pivot moves on by length + 2 margin along the last
orientation, the tip is a pixel of the ring of radius length + margin around it, with weight

    w(turn) = cos^2(min(continuity * |turn|, pi / 2)), and 0 where the canvas is taken.
"""

import functools
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.data.segments import Stroke


@dataclass(frozen=True)
class DashConfig:
    """How contours are drawn; defaults are the published generator's values."""

    size: int = 300  # px, side of the square canvas
    border: int = 22  # px kept free at each side
    length: int = 5  # px, length of a stroke
    width: float = 2.0  # px, thickness of a stroke
    margin: int = 3  # px, gap kept around a stroke
    continuity: float = 1.8  # the larger, the straighter the contours
    retries: int = 2  # times a stroke that meets another is drawn again

    def __post_init__(self) -> None:
        reach = self.length + int(guard_distance(self)) + 1
        if self.border < reach or self.size <= 4 * self.border:
            raise ValueError(
                f"border {self.border} of a {self.size} px canvas: it must be at least {reach} px "
                "and below a quarter of the canvas"
            )


@dataclass(frozen=True)
class _Ring:
    """Where the tip of the next stroke may fall, and the pixels that each stroke takes."""

    steps: Int[np.ndarray, "tips 2"]  # tip minus pivot, px
    angles: Float[np.ndarray, "tips"]  # forward orientation, radians
    flat: Int[np.ndarray, "tips"]  # the same steps as flat canvas offsets
    bodies: Int[np.ndarray, "tips pixels"]  # flat offsets from the tip of the stroke's own pixels
    guards: tuple[Int[np.ndarray, "_"], ...]  # the same for the pixels nobody else may touch


def _near(angle: float, config: DashConfig, distance: float) -> Int[np.ndarray, "pixels"]:
    """Flat offsets, from a stroke's start, of the pixels within `distance` of its centre line."""
    reach = int(config.length + distance + 1)
    rows, cols = np.mgrid[-reach : reach + 1, -reach : reach + 1]
    along = np.clip(rows * np.sin(angle) + cols * np.cos(angle), 0, config.length)
    gap = np.hypot(rows - along * np.sin(angle), cols - along * np.cos(angle))
    inside = gap <= distance
    return rows[inside] * config.size + cols[inside]


def guard_distance(config: DashConfig) -> float:
    """How near (px) a stroke may come to the centre line of another contour's stroke."""
    # Half the stroke, the margin, and one pixel that the anti-aliased edges spill over.
    return config.width / 2 + config.margin + 1


@functools.lru_cache(maxsize=16)
def _ring(config: DashConfig) -> _Ring:
    radius = config.length + config.margin
    # As published: the circle in steps of about a pixel, rounded down.
    around = np.arange(0, 2 * np.pi, 1 / radius)
    circle = radius * np.stack([np.sin(around), np.cos(around)], axis=1)
    steps = np.unique(np.floor(circle).astype(int), axis=0)
    angles = np.arctan2(steps[:, 0], steps[:, 1])
    bodies = [_near(angle + np.pi, config, config.width / 2) for angle in angles]
    longest = max(len(body) for body in bodies)
    padded = np.stack([np.resize(body, longest) for body in bodies])
    guards = tuple(_near(angle + np.pi, config, guard_distance(config)) for angle in angles)
    return _Ring(steps, angles, steps @ np.array([config.size, 1]), padded, guards)


def turn_weight(turn: Float[np.ndarray, "tips"], continuity: float) -> Float[np.ndarray, "tips"]:
    """Weight of a next stroke that turns by `turn` radians.

    >>> turn_weight(np.array([0.0, np.pi / 7.2, np.pi / 2]), 1.8).round(3).tolist()
    [1.0, 0.5, 0.0]
    """
    wrapped = np.abs((turn + np.pi) % (2 * np.pi) - np.pi)
    # Cut, not only clamped: cos(pi / 2) is not quite 0, and a boxed-in contour would turn back.
    return np.where(continuity * wrapped < np.pi / 2, np.cos(continuity * wrapped) ** 2, 0.0)


def empty_canvas(config: DashConfig) -> Bool[np.ndarray, "rows cols"]:
    """Which pixels are taken before anything is drawn: the border."""
    taken = np.ones((config.size, config.size), dtype=bool)
    taken[config.border : -config.border, config.border : -config.border] = False
    return taken


def _next_tip(
    taken: Bool[np.ndarray, "pixels"],
    pivot: int,
    angle: float,
    config: DashConfig,
    rng: np.random.Generator,
) -> int | None:
    """Index in the ring of the next stroke's tip; None when it meets something every time."""
    ring = _ring(config)
    weights = turn_weight(ring.angles - angle, config.continuity)
    weights[taken[pivot + ring.flat]] = 0.0
    total = np.cumsum(weights)
    if total[-1] <= 0:
        return None
    for _ in range(1 + config.retries):
        chosen = int(np.searchsorted(total, rng.random() * total[-1], side="right"))
        if not taken[pivot + ring.flat[chosen] + ring.bodies[chosen]].any():
            return chosen
    return None


def grow_contour(
    taken: Bool[np.ndarray, "rows cols"],
    origin: tuple[int, int],
    strokes: int,
    config: DashConfig,
    rng: np.random.Generator,
) -> tuple[list[Stroke], Bool[np.ndarray, "rows cols"]] | None:
    """One contour from `origin` and the canvas with it, or None when it runs into something."""
    angle = np.radians(int(rng.integers(-179, 181)))  # whole degrees, as published
    ring = _ring(config)
    flat = taken.ravel().copy()
    here = origin[0] * config.size + origin[1]
    if flat[here + _near(angle, config, config.width / 2)].any():
        return None
    # A contour's own last stroke joins the canvas only after the next one is drawn: its guard
    # reaches further than the gap between two neighbours.
    waiting = here + _near(angle, config, guard_distance(config))
    found = [Stroke(origin[0], origin[1], float(angle))]
    # The pivot that a ring around it would have had: the stroke's end, and back by the radius.
    pivot = _moved(np.array(origin), angle, config.length)
    pivot = _moved(pivot, angle, -config.length - config.margin)
    for _ in range(strokes - 1):
        pivot = _moved(pivot, angle, config.length + 2 * config.margin)
        here = int(pivot[0] * config.size + pivot[1])
        chosen = _next_tip(flat, here, angle, config, rng) if _on_canvas(pivot, config) else None
        if chosen is None:
            return None
        flat[waiting] = True
        waiting = here + ring.flat[chosen] + ring.guards[chosen]
        tip, angle = pivot + ring.steps[chosen], float(ring.angles[chosen])
        # From the second stroke on, the published rows give the tip and the way back from it.
        back = (angle + 2 * np.pi) % (2 * np.pi) - np.pi
        found.append(Stroke(int(tip[0]), int(tip[1]), float(back)))
    flat[waiting] = True
    return found, flat.reshape(taken.shape)


def _moved(place: Int[np.ndarray, "2"], angle: float, by: int) -> Int[np.ndarray, "2"]:
    """Go on by so many px, rounded up as published: steps to the lower right are a bit longer."""
    exact = place + by * np.array([np.sin(angle), np.cos(angle)])
    return np.ceil(exact - 1e-9).astype(int)


def _on_canvas(pivot: Int[np.ndarray, "2"], config: DashConfig) -> bool:
    # The ring around a pivot must lie on the canvas; beyond the border nothing is free anyway.
    reach = config.length + config.margin + 1
    return bool(((pivot >= reach) & (pivot < config.size - reach)).all())
