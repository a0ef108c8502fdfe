"""Pictures, masks and depths at another size: one way for all of them.

A pixel of the result is a mean of those around its place, weighted by a tent as wide as the
reduction (bilinear, with anti-aliasing). No weight is negative, so what nothing touches stays 0.
"""

import numpy as np
from jaxtyping import Shaped
from PIL import Image

Pixels = Shaped[np.ndarray, "..."]


def resized(pixels: Pixels, shape: tuple[int, int]) -> Pixels:
    """A picture with so many rows and columns, of the same type; masks are ON above a half.

    >>> resized(np.array([[0, 0, 8, 8]], np.uint8), (1, 2)).tolist()
    [[1, 7]]
    """
    if pixels.shape[:2] == shape:
        return pixels
    size = shape[1], shape[0]
    if pixels.dtype == np.uint8:
        return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))
    planes = pixels.reshape(*pixels.shape[:2], -1).astype(np.float32)
    small = [
        np.asarray(Image.fromarray(plane).resize(size, Image.Resampling.BILINEAR))
        for plane in np.moveaxis(planes, -1, 0)
    ]
    joined = np.stack(small, -1).reshape(*shape, *pixels.shape[2:])
    return joined > 0.5 if pixels.dtype == bool else joined.astype(pixels.dtype)


def scaled(pixels: Pixels, scale: float) -> Pixels:
    """A picture at another scale.

    >>> scaled(np.eye(4, dtype=bool), 0.5).shape
    (2, 2)
    """
    rows, cols = (max(1, round(side * scale)) for side in pixels.shape[:2])
    return resized(pixels, (rows, cols))


def scale_to(shape: tuple[int, ...], side: int | None) -> float:
    """By how much a picture is reduced so that its longer side is at most ``side`` px, if given.

    >>> scale_to((480, 640), 640), scale_to((3000, 4000), 1000), scale_to((9, 9), None)
    (1.0, 0.25, 1.0)
    """
    return 1.0 if side is None else min(1.0, side / max(shape[0], shape[1], 1))
