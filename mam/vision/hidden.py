"""Strokes that something covers: only the point where their contour ends is known.

A marker drawn over the end of a contour hides its last stroke. The stroke starts at the marker, in
an unknown direction: every link that it may have gets the potential of its best direction.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from mam.vision.attend import Links
from mam.vision.continuation import Continuation
from mam.vision.pairs import find_pairs
from mam.vision.poses import Poses, joined_poses

_DIRECTIONS = 48


def add_hidden(
    poses: Poses,
    points: Sequence[Float[np.ndarray, "_ 2"]],
    continuation: Continuation,
) -> tuple[Poses, Links]:
    """Return the poses with hidden strokes of no length behind them, and the links of these.

    ``points`` are listed by image; a hidden stroke is as long as the others are on average.
    """
    image = np.repeat(np.arange(len(points)), [len(some) for some in points])
    at = np.concatenate([np.zeros((0, 2)), *(np.asarray(p, float) for p in points)])
    reach = float(np.median(poses.length)) / 2 if len(poses) else 0.0
    angle = np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)
    step = reach * np.stack([np.sin(angle), np.cos(angle)], 1)
    turned = _poses(
        np.repeat(image, _DIRECTIONS),
        (at[:, None] + step).reshape(-1, 2),
        np.tile(angle, len(at)),
        2 * reach,
    )
    pairs = find_pairs(joined_poses([poses, turned]), continuation.reach)
    count = len(poses)
    # The stroke is entered at its far end, which its direction points to.
    pairs = pairs.take((pairs.pose[:, 0] < count) & (pairs.pose[:, 1] >= count))
    pairs = pairs.take(pairs.side[:, 1] == 1)
    score = continuation.log_odds(joined_poses([poses, turned]), pairs)
    real, marker = pairs.pose[:, 0], (pairs.pose[:, 1] - count) // _DIRECTIONS
    order = np.lexsort((-score, pairs.side[:, 0], real, marker))
    names = np.stack([marker, real, pairs.side[:, 0]], 1)[order]
    first = np.concatenate([[True], (names[1:] != names[:-1]).any(1)])[: len(order)]
    best = order[first]
    links = Links(np.stack([real[best], count + marker[best]], 1), pairs.side[best], score[best])
    return joined_poses([poses, _poses(image, at, np.zeros(len(at)), 0.0)]), links


def _poses(image: np.ndarray, middle: np.ndarray, angle: np.ndarray, length: float) -> Poses:
    """Strokes that no part was placed for: their type is -1."""
    none = np.full(len(image), -1)
    return Poses(
        image, middle, angle, np.full(len(image), length), none, np.rint(middle).astype(int)
    )
