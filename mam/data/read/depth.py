"""Depth pictures of the picking challenge."""

from pathlib import Path

import numpy as np
from jaxtyping import Float, UInt16
from scipy import ndimage

from mam.data.images import read_picture

_UNIT = 1e-4  # metres
_MEDIAN = 5  # px: the pictures have speckles of a few px


def read_depth(path: Path) -> Float[np.ndarray, "rows cols"]:
    """The depth of each pixel in metres; where the sensor saw nothing, that of the nearest one."""
    stored = read_picture(path)
    if stored.ndim != 2 or stored.dtype != np.uint16:
        raise ValueError(f"{path}: a 16-bit grey image of depths is needed, found {stored.shape}")
    return without_holes(_unrotated(stored).astype(np.float32) * np.float32(_UNIT))


def _unrotated(stored: UInt16[np.ndarray, "rows cols"]) -> UInt16[np.ndarray, "rows cols"]:
    """The published files keep the three lowest bits at the top.

    >>> _unrotated(np.array([[8, 0x2000]], np.uint16)).tolist()
    [[1, 1024]]
    """
    return (stored >> 3) | (stored << 13)


def without_holes(depth: Float[np.ndarray, "rows cols"]) -> Float[np.ndarray, "rows cols"]:
    """Fill zeros with the nearest depth, and remove speckles.

    >>> without_holes(np.array([[0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 4.0]])).tolist()
    [[2.0, 2.0, 2.0, 2.0, 4.0, 4.0, 4.0]]
    """
    if not depth.any():
        return depth
    nearest = ndimage.distance_transform_edt(
        depth == 0, return_distances=False, return_indices=True
    )
    return np.asarray(ndimage.median_filter(depth[tuple(np.asarray(nearest))], _MEDIAN))
