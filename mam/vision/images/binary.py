"""Binary images from what users have, and batches of them in a few padded shapes."""

from collections.abc import Iterator, Sequence

import numpy as np
from jaxtyping import Bool, Int, Int8, Shaped

from mam.core.limits import MOST_ON
from mam.data.images import PictureSource, read_picture
from mam.data.pixels import grey

Images = np.ndarray | Sequence[PictureSource]  # (images, rows, cols), or images of any sizes

# Sides of square canvases, and what larger ones are multiples of: images of many sizes share few
# shapes, for each of which programs are compiled.
_SIDES = np.array([128, 192, 256, 384, 512])
_GRAIN = 256


def one_channel(image: PictureSource, name: str = "the image") -> Shaped[np.ndarray, "rows cols"]:
    """Return an image as one finite number or truth value a pixel: an array, or what can be read.

    >>> one_channel(np.zeros(800))
    Traceback (most recent call last):
    ...
    ValueError: the image has shape (800,): was one image given for a list? Give [image]
    """
    if isinstance(image, np.ndarray) and image.ndim < 2:
        raise ValueError(
            f"{name} has shape {image.shape}: was one image given for a list? Give [image]"
        )
    if not isinstance(image, np.ndarray) or image.ndim != 2:
        return grey(read_picture(image, name))
    if image.size == 0:
        raise ValueError(f"{name} has no pixels: its shape is {image.shape}")
    if image.dtype.kind not in "biuf" or not np.isfinite(image).all():
        raise ValueError(f"{name} is not a picture: pixels must be finite numbers or booleans")
    return image


def as_binary(
    image: PictureSource, threshold: float | int | None = None, name: str = "the image"
) -> Bool[np.ndarray, "rows cols"]:
    """Return which pixels are ON: True, 1 or 255, or those above a threshold.

    >>> as_binary(np.array([[0, 255]], np.uint8)).tolist()
    [[False, True]]
    >>> as_binary(np.array([[0, 7, 255]], np.uint8), threshold=26).tolist()
    [[False, False, True]]
    """
    pixels = one_channel(image, name)
    if pixels.dtype == bool:
        return pixels
    if threshold is not None:
        return pixels > threshold
    top = 255 if pixels.max() > 1 else 1
    strange = pixels[(pixels != 0) & (pixels != top)]
    if strange.size:
        raise ValueError(
            f"{name} is not binary: it holds {strange[0]} beside 0 and {top}; give a threshold"
        )
    return pixels != 0


def as_weights(images: Images, threshold: float | int | None, first: int = 0) -> list[np.ndarray]:
    """The pixels of each image as weights: 0 where OFF, their values where ON.

    ``first`` is the number by which errors call the first image.

    >>> as_weights([np.array([[0, 7, 255]], np.uint8)], threshold=26)[0].tolist()
    [[0, 0, 255]]
    """
    names = [f"image {number}" for number in range(first, first + len(images))]
    values = map(one_channel, images, names)
    return [one * as_binary(one, threshold, name) for one, name in zip(values, names, strict=True)]


def refuse_paper(
    image: Shaped[np.ndarray, "rows cols"], mask: Bool[np.ndarray, "rows cols"], name: str
) -> None:
    """Refuse a picture of which most is ON: its paper, not its lines. Truth values are believed.

    >>> page = np.full((3, 3), 255)
    >>> page[1] = 0
    >>> refuse_paper(page, page > 0, "scan.png")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    ValueError: scan.png: 67 % of the pixels are ON: is it dark on light? Give a mask of what ...
    """
    if image.dtype != bool and MOST_ON < mask.mean() < 1:
        raise ValueError(
            f"{name}: {100 * mask.mean():.0f} % of the pixels are ON: is it dark on light? Give "
            "a mask of what is drawn, True on lines, or the picture to group_drawing"
        )


def as_states(
    on: Bool[np.ndarray, "rows cols"], unknown: Bool[np.ndarray, "rows cols"] | None = None
) -> Int8[np.ndarray, "rows cols"]:
    """What is known of each pixel: 1 ON, -1 OFF, 0 nothing.

    >>> as_states(np.array([[True, False, True]]), np.array([[False, False, True]])).tolist()
    [[1, -1, 0]]
    """
    states = on.astype(np.int8)  # a quarter of the time that np.where takes
    states *= 2
    states -= 1
    if unknown is not None:
        states[unknown] = 0
    return states


def canvas_sides(longest: Int[np.ndarray, " images"]) -> Int[np.ndarray, " images"]:
    """The sides of square canvases that hold images with the given longest sides.

    >>> canvas_sides(np.array([3, 200, 600])).tolist()
    [128, 256, 768]
    """
    listed = _SIDES[np.minimum(np.searchsorted(_SIDES, longest), len(_SIDES) - 1)]
    return np.where(longest > _SIDES[-1], -(-longest // _GRAIN) * _GRAIN, listed)


def padded_batches(
    images: Sequence[Shaped[np.ndarray, "_ _"]], sizes: Sequence[int], blank: np.generic
) -> Iterator[tuple[np.ndarray, Shaped[np.ndarray, "size side side"]]]:
    """Group images of similar size: their numbers, and the images in one array.

    Every array is square and holds images of the type of ``blank``, which is what is beyond them:
    as many as the least of ``sizes``, from few to many, that takes what is left, or the last one.
    The last images of a group may be blank.
    """
    shapes = np.array([image.shape for image in images], np.int64).reshape(-1, 2)
    sides = canvas_sides(shapes.max(1, initial=0))
    for side in np.unique(sides):
        members = np.flatnonzero(sides == side)
        for start in range(0, len(members), sizes[-1]):
            numbers = members[start : start + sizes[-1]]
            size = next(size for size in sizes if size >= len(numbers))
            canvas = np.full((size, side, side), blank)
            for place, number in enumerate(numbers):
                rows, cols = shapes[number]
                canvas[place, :rows, :cols] = images[number]
            yield numbers, canvas
