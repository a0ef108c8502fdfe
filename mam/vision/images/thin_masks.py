"""Masks of thin curves: most pixels are OFF, so that it pays to look at the others alone."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

# Looks at pixels, for each of the picture, that take as long as the transform of all of them does.
_LOOKS = 10


def places(mask: Bool[np.ndarray, "rows cols"]) -> Int[np.ndarray, "pixels 2"]:
    """Rows and columns of the ON pixels, in order: `np.argwhere`, many times as fast.

    >>> places(np.array([[False, True], [True, False]])).tolist()
    [[0, 1], [1, 0]]
    """
    return np.stack(np.divmod(np.flatnonzero(mask), max(mask.shape[1], 1)), 1)


def box_of(mask: Bool[np.ndarray, "rows cols"]) -> tuple[slice, slice]:
    """The rows and columns between which all ON pixels lie.

    >>> box_of(np.array([[False, False], [False, True]]))
    (slice(1, 2, None), slice(1, 2, None))
    """
    rows, cols = (np.flatnonzero(mask.any(axis)) for axis in (1, 0))
    if not len(rows):
        return slice(0, 0), slice(0, 0)
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(cols[0]), int(cols[-1]) + 1)


def grown(mask: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """The ON pixels and the eight around each.

    >>> grown(np.array([[True, False, False]])).tolist()
    [[True, True, False]]
    """
    tall, wide = mask.copy(), mask.copy()
    tall[1:] |= mask[:-1]
    tall[:-1] |= mask[1:]
    wide |= tall
    wide[:, 1:] |= tall[:, :-1]
    wide[:, :-1] |= tall[:, 1:]
    return wide


def pinholes(mask: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """OFF pixels by themselves, or two side by side, with ON pixels or the picture's edge around.

    >>> pinholes(np.array([[True, False, True, False, False, False]]))[0].astype(int).tolist()
    [0, 1, 0, 0, 0, 0]
    """
    off = np.pad(~mask, 1)
    beside = np.zeros(mask.shape, np.uint8)
    for moved in _four(off):
        beside += moved
    lone = ~mask & (beside == 0)
    half = ~mask & (beside == 1)
    if half.any():
        pair = np.zeros(mask.shape, bool)
        for moved in _four(np.pad(half, 1)):
            pair |= moved
        lone |= half & pair
    return lone


def _four(wide: Bool[np.ndarray, "_ _"]) -> tuple[np.ndarray, ...]:
    """The pixels above, below, left and right of those of a picture with a rim of one."""
    return wide[:-2, 1:-1], wide[2:, 1:-1], wide[1:-1, :-2], wide[1:-1, 2:]


def depths(mask: Bool[np.ndarray, "rows cols"]) -> Float[np.ndarray, "rows cols"]:
    """The distance of each ON pixel to the nearest OFF one, px; beyond the edge all is OFF.

    >>> depths(np.ones((3, 4), bool)).round(2).tolist()
    [[1.0, 1.0, 1.0, 1.0], [1.0, 2.0, 2.0, 1.0], [1.0, 1.0, 1.0, 1.0]]
    """
    wide = np.pad(mask, 1)
    on, width = np.flatnonzero(wide), wide.shape[1]
    high = _along(wide.ravel(), on, width)
    square = _by_transform(wide, on) if high is None else _squared(high, on)
    del high  # as large as the picture
    found = np.zeros(wide.shape)
    found.ravel()[on] = np.sqrt(square)
    return found[1:-1, 1:-1]


def _squared(high: Int[np.ndarray, " pixels"], on: Int[np.ndarray, " on"]) -> np.ndarray:
    """Squares of distances: columns further away, as long as one might hold a nearer pixel."""
    square = high[on].astype(np.int64) ** 2
    step, open_ = 1, np.flatnonzero(square > 1)
    while len(open_):
        at = on[open_]
        near = np.minimum(high[at - step], high[at + step]).astype(np.int64)
        square[open_] = np.minimum(square[open_], near**2 + step**2)
        step += 1
        open_ = open_[square[open_] > step**2]
    return square


def _by_transform(wide: Bool[np.ndarray, "rows cols"], on: Int[np.ndarray, " on"]) -> np.ndarray:
    """The same by the nearest OFF pixels of all; distances of all would take twice the memory."""
    nearest = ndimage.distance_transform_edt(wide, return_distances=False, return_indices=True)
    assert isinstance(nearest, np.ndarray)
    at = np.divmod(on, wide.shape[1])
    both = zip(nearest, at, strict=True)
    return sum((axis.ravel()[on].astype(np.int64) - own) ** 2 for axis, own in both)  # type: ignore


def _along(
    flat: Bool[np.ndarray, " pixels"], on: Int[np.ndarray, " on"], width: int
) -> Int[np.ndarray, " pixels"] | None:
    """How far the next OFF pixel above or below lies; None where that takes too long to look."""
    far = np.zeros(len(flat), np.int32)
    open_, step, looks = on, 1, 0
    while len(open_):
        far[open_] = step
        looks += len(open_)
        if looks > _LOOKS * len(flat):
            return None
        open_ = open_[flat[open_ - step * width] & flat[open_ + step * width]]
        step += 1
    return far


def ridges(depth: Float[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """ON pixels that lie no less deep than any of the eight around them.

    >>> ridges(np.array([[1.0, 2.0, 2.0, 1.0, 0.0]])).tolist()
    [[False, True, True, False, False]]
    """
    wide = np.pad(depth, 1)
    flat, width = wide.ravel(), wide.shape[1]
    kept = np.flatnonzero(flat > 0)
    for step in (1, -1, width, -width, width + 1, -width - 1, width - 1, 1 - width):
        kept = kept[flat[kept] >= flat[kept + step]]
    found = np.zeros(wide.shape, bool)
    found.ravel()[kept] = True
    return found[1:-1, 1:-1]
