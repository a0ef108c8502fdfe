"""Large pictures are searched at a smaller size; what is found is told in their own pixels."""

import numpy as np
from jaxtyping import Shaped
from PIL import Image

from mam.vision.elastic.photographs.object_learning import Example, check_example
from mam.vision.images.photo_edges import check_picture


def scale_to(shape: tuple[int, ...], side: int) -> float:
    """By how much a picture is reduced so that its longer side is at most ``side`` px.

    >>> scale_to((480, 640), 640), scale_to((3000, 4000), 1000)
    (1.0, 0.25)
    """
    return min(1.0, side / max(shape[0], shape[1], 1))


def reduced(pixels: Shaped[np.ndarray, "..."], scale: float) -> Shaped[np.ndarray, "..."]:
    """A picture, mask or depth at another scale.

    >>> reduced(np.eye(4, dtype=bool), 0.5).shape
    (2, 2)
    """
    if scale == 1.0:
        return pixels
    size = max(1, round(pixels.shape[1] * scale)), max(1, round(pixels.shape[0] * scale))
    if pixels.dtype == np.uint8:
        return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BOX))
    planes = pixels[..., None] if pixels.ndim == 2 else pixels
    small = [
        np.asarray(Image.fromarray(plane.astype(np.float32)).resize(size, Image.Resampling.BOX))
        for plane in np.moveaxis(planes, -1, 0)
    ]
    joined = np.stack(small, -1).reshape(*small[0].shape, *pixels.shape[2:])
    return joined > 0.5 if pixels.dtype == bool else joined.astype(pixels.dtype)


def reduced_example(example: Example, side: int) -> Example:
    """An example whose picture is no larger than ``side``; told apart from others as before."""
    check_picture(example.image, example.where)
    check_example(example)
    scale = scale_to(example.image.shape, side)
    return example._replace(
        image=reduced(example.image, scale),
        mask=reduced(example.mask, scale),
        depth=None if example.depth is None else reduced(example.depth, scale),
        picture=example.key,
    )
