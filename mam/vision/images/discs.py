"""Discs drawn over an image: taken off as far as they can be, and what is left under them.

All discs of an image look alike, also mirrored at the diagonal, so what any one of them has less of
is no disc. Where that common disc is nearly white nothing is known of the pixels; elsewhere, in the
blur of its border, what exceeds it belongs to the strokes.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from scipy import ndimage

DIRECTIONS = 48  # in which a covered stroke may lie
_REACH = 7  # px around the middle of a disc in which it and its blur are
_WHITE = 200  # of 255, from which on a disc hides what is under it
# What sticks out of a disc: looked at so far from its middle (px), in this many directions to
# either side; a direction where nothing does while something does elsewhere is doubted so much.
_RADII = np.arange(4.5, 7.0, 0.5)
_ABREAST = 1
_DOUBT = 4.0


@dataclass(frozen=True, eq=False)
class Hidden:
    """Points of an image where contours end in covered strokes."""

    points: Float[np.ndarray, "points 2"]
    directions: Float[np.ndarray, "points directions"]  # log preference for each, at most 0
    pixels: Bool[np.ndarray, "rows cols"] | None = None  # that are covered; None: not known which

    @classmethod
    def at(cls, points: Int[np.ndarray, "_ 2"] | Float[np.ndarray, "_ 2"]) -> "Hidden":
        """Covered strokes of which nothing more is known."""
        places = np.asarray(points, float).reshape(-1, 2)
        return cls(places, np.zeros((len(places), DIRECTIONS)))

    def covered(self, shape: tuple[int, ...]) -> Bool[np.ndarray, "_ _"]:
        """The covered pixels of an image of this shape: none where they are not given."""
        return np.zeros(shape, bool) if self.pixels is None else self.pixels


def angles() -> Float[np.ndarray, " directions"]:
    """The directions that are tried."""
    return np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)


def ways() -> Float[np.ndarray, "directions 2"]:
    """Unit vectors in all directions that are tried."""
    return np.stack([np.sin(angles()), np.cos(angles())], 1)


class Lifted(NamedTuple):
    """An image without its discs."""

    image: UInt8[np.ndarray, "rows cols"]
    hidden: Hidden


def lift_discs(image: UInt8[np.ndarray, "rows cols"], centres: Int[np.ndarray, "_ 2"]) -> Lifted:
    """Take the discs around given middles off an image; a contour ends under each of them.

    >>> grid = np.arange(-9, 10)
    >>> image = np.where(np.hypot(grid[:, None], grid) < 5, 255, 0).astype(np.uint8)
    >>> image[9] = 255
    >>> left, hidden = lift_discs(image, np.array([[9, 9]]))
    >>> left[9, :8].tolist()
    [255, 255, 255, 255, 255, 0, 0, 0]
    """
    if not len(centres):
        return Lifted(image, Hidden.at(centres))
    rows, cols = image.shape
    wide = np.pad(image.astype(np.int16), _REACH)
    side = np.arange(2 * _REACH + 1)
    window = centres[:, 0, None, None] + side[:, None], centres[:, 1, None, None] + side
    patches = wide[window]
    disc = np.minimum(patches, patches.transpose(0, 2, 1)).min(0)
    unknown = np.zeros(wide.shape, bool)
    for place, patch in zip(zip(*window, strict=True), patches, strict=True):
        wide[place] = np.where(disc >= _WHITE, 0, np.minimum(wide[place], patch - disc))
        unknown[place] |= disc >= _WHITE
    inside = slice(_REACH, _REACH + rows), slice(_REACH, _REACH + cols)
    hidden = Hidden(centres.astype(float), -_doubts(patches - disc), unknown[inside])
    return Lifted(wide[inside].astype(np.uint8), hidden)


def _doubts(rest: Int[np.ndarray, "discs side side"]) -> Float[np.ndarray, "discs directions"]:
    """How unlikely the stroke under each disc has each direction: it sticks out where it ends."""
    way = (ways()[:, None] * _RADII[:, None] + _REACH).reshape(-1, 2).T
    seen = np.stack([ndimage.map_coordinates(one.astype(float), way, order=1) for one in rest])
    seen = seen.reshape(len(rest), DIRECTIONS, -1).sum(2) / 255
    seen = ndimage.maximum_filter1d(seen, 2 * _ABREAST + 1, axis=1, mode="wrap")
    most = seen.max(1, keepdims=True)
    return _DOUBT * (most - seen) / np.maximum(most, 0.5)
