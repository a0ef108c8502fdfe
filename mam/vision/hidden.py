"""Strokes that something covers: only the point where their contour ends is known.

A marker drawn over the end of a contour hides its last stroke. The stroke starts at the marker, in
a direction that is unknown, or only guessed from what sticks out of the marker: every link that it
may have gets the potential of its best direction.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8
from scipy import ndimage

from mam.vision.attend import Links
from mam.vision.continuation import Continuation, CountedContinuation
from mam.vision.pairs import find_pairs
from mam.vision.poses import Poses, joined_poses

_DIRECTIONS = 48
# What sticks out of a disc: looked at so far from its middle (px), in this many directions to
# either side; a direction where nothing does while something does elsewhere is doubted so much.
_RADII = np.arange(4.5, 7.0, 0.5)
_ABREAST = 1
_DOUBT = 4.0
# From the point where a covered stroke starts to its middle, in lengths of a stroke. Less than
# half: blur makes strokes look longer (tuned on 3,000 training images).
_TO_MIDDLE = 0.47


@dataclass(frozen=True, eq=False)
class Hidden:
    """Points of an image where contours end in covered strokes."""

    points: Float[np.ndarray, "points 2"]
    directions: Float[np.ndarray, "points directions"]  # log preference for each, at most 0

    @classmethod
    def at(cls, points: Int[np.ndarray, "_ 2"] | Float[np.ndarray, "_ 2"]) -> "Hidden":
        """Covered strokes of which nothing more is known."""
        places = np.asarray(points, float).reshape(-1, 2)
        return cls(places, np.zeros((len(places), _DIRECTIONS)))


def under_discs(
    image: UInt8[np.ndarray, "rows cols"], centres: Int[np.ndarray, "_ 2"], radius: float
) -> Hidden:
    """Strokes under discs of one kind: a longer stroke sticks out of the disc on one side.

    All discs look alike, also mirrored at the diagonal; what any one has less of is no disc.
    """
    if not len(centres):
        return Hidden.at(centres)
    reach = int(np.ceil(radius)) + 3
    wide = np.pad(image.astype(float), reach)
    side = 2 * reach + 1
    patches = np.stack([wide[row : row + side, col : col + side] for row, col in centres])
    disc = np.minimum(patches, patches.transpose(0, 2, 1)).min(0)
    way = _ways()[:, None] * _RADII[:, None] + reach
    rest = np.stack(
        [ndimage.map_coordinates(patch - disc, way.reshape(-1, 2).T, order=1) for patch in patches]
    ).reshape(len(patches), _DIRECTIONS, -1)
    seen = ndimage.maximum_filter1d(rest.sum(2) / 255, 2 * _ABREAST + 1, axis=1, mode="wrap")
    most = seen.max(1, keepdims=True)
    doubt = _DOUBT * (most - seen) / np.maximum(most, 0.5)
    return Hidden(centres.astype(float), -doubt)


def _angles() -> Float[np.ndarray, " directions"]:
    return np.arange(_DIRECTIONS) * (2 * np.pi / _DIRECTIONS)


def _ways() -> Float[np.ndarray, "directions 2"]:
    return np.stack([np.sin(_angles()), np.cos(_angles())], 1)


def add_hidden(
    poses: Poses,
    hidden: Sequence[Hidden],
    continuation: Continuation,
) -> tuple[Poses, Links]:
    """Return the poses with hidden strokes of no length behind them, and the links of these.

    ``hidden`` is listed by image; a hidden stroke is as long as most others.
    """
    if isinstance(continuation, CountedContinuation):
        raise ValueError(
            "counts of parts say nothing about strokes that are covered: use a model with the "
            "smooth continuation, or images without markers"
        )
    image = np.repeat(np.arange(len(hidden)), [len(some.points) for some in hidden])
    at = np.concatenate([np.zeros((0, 2)), *(some.points for some in hidden)])
    preference = np.concatenate([np.zeros(0), *(some.directions.ravel() for some in hidden)])
    reach = _TO_MIDDLE * float(np.median(poses.length)) if len(poses) else 0.0
    step = reach * _ways()
    turned = _poses(
        np.repeat(image, _DIRECTIONS),
        (at[:, None] + step).reshape(-1, 2),
        np.tile(_angles(), len(at)),
        2 * reach,
    )
    together = joined_poses([poses, turned])
    pairs = find_pairs(together, continuation.reach)
    count = len(poses)
    # The stroke is entered at its far end, which its direction points to.
    pairs = pairs.take((pairs.pose[:, 0] < count) & (pairs.pose[:, 1] >= count))
    pairs = pairs.take(pairs.side[:, 1] == 1)
    score = continuation.log_odds(together, pairs) + preference[pairs.pose[:, 1] - count]
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
