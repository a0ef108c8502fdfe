"""Drawing primitives of the generators: thick strokes, discs and rings as small grey pictures."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image, ImageDraw
from scipy import ndimage


def distance_to(mask: Bool[np.ndarray, "rows cols"]) -> Float[np.ndarray, "rows cols"]:
    """Distance of every pixel from the nearest pixel of the mask.

    >>> distance_to(np.array([[True, False, False]])).tolist()
    [[0.0, 1.0, 2.0]]
    """
    return np.asarray(ndimage.distance_transform_edt(~mask))


def grown_by(
    mask: Bool[np.ndarray, "rows cols"], reach: float | int
) -> Bool[np.ndarray, "grown_rows grown_cols"]:
    """The pixels within reach of a mask, on a canvas that is larger by the reach on every side.

    For a small reach this takes a tenth of the time that distances take.

    >>> grown_by(np.ones((1, 1), bool), 1.5).astype(int).tolist()
    [[0, 0, 0, 0, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 1, 1, 1, 0], [0, 0, 0, 0, 0]]
    """
    margin = int(np.ceil(reach))
    rows, cols = mask.shape
    out = np.zeros((rows + 2 * margin, cols + 2 * margin), bool)
    wide, width = np.pad(mask, ((0, 0), (margin, margin))), 0
    for away in range(int(reach), -1, -1):  # lines from the far ones on: each is wider than before
        while (width + 1) ** 2 + away**2 <= reach**2:
            left, right = wide[:, :-1].copy(), wide[:, 1:].copy()
            wide[:, 1:] |= left
            wide[:, :-1] |= right
            width += 1
        for top in {margin - away, margin + away}:
            out[top : top + rows] |= wide
    return out


@dataclass(frozen=True, eq=False)
class Shapes:
    """Polygons, packed: the corners of all in one array, and how many belong to each."""

    corners: Float[np.ndarray, "corners 2"]  # (row, col)
    sizes: tuple[int, ...]


def pack(polygons: Sequence[Float[np.ndarray, "_ 2"]]) -> Shapes:
    """Polygons as one array, which transforms treat at once.

    >>> pack([np.zeros((3, 2)), np.ones((4, 2))]).sizes
    (3, 4)
    """
    return Shapes(np.concatenate(polygons), tuple(map(len, polygons)))


def fill(
    shapes: Shapes, shape: tuple[int, int], scale: int | float = 1
) -> Bool[np.ndarray, "rows cols"]:
    """Which pixels of a `scale` times enlarged canvas of `shape` lie in any of the polygons.

    >>> int(fill(pack([np.array([[3.0, 2.0], [3.0, 5.0], [5.0, 5.0], [5.0, 2.0]])]), (8, 8)).sum())
    12
    """
    canvas = Image.new("L", (int(shape[1] * scale), int(shape[0] * scale)))
    pen = ImageDraw.Draw(canvas)
    flat = (shapes.corners[:, ::-1] * scale).ravel().tolist()
    start = 0
    for size in shapes.sizes:
        pen.polygon(flat[start : start + 2 * size], fill=1)
        start += 2 * size
    return np.asarray(canvas) > 0


def reduce_by(
    picture: UInt8[np.ndarray, "rows cols"], scale: int
) -> UInt8[np.ndarray, "small_rows small_cols"]:
    """Reduce by a whole factor with the Lanczos window.

    >>> reduce_by(np.full((4, 4), 255, np.uint8), 2).tolist()
    [[255, 255], [255, 255]]
    """
    size = (picture.shape[1] // scale, picture.shape[0] // scale)
    return np.asarray(Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


@functools.lru_cache(maxsize=1024)
def stroke_sprite(
    angle: float, length: float | int, width: float | int, scale: int, radius: int
) -> UInt8[np.ndarray, "side side"]:
    """Grey picture of a stroke that leaves the centre pixel along `angle`.

    Drawn as the published strokes are, pixel for pixel: on a canvas ``scale`` times as large, and
    one pixel more, to an end rounded up to whole pixels. The picture has side 2 radius + 1. It is
    shared between calls, hence read-only.

    >>> sprite = stroke_sprite(0.0, 5, 2, 2, 10)
    >>> sprite.shape, sprite[10, 8:18].tolist()
    ((21, 21), [3, 0, 214, 255, 255, 255, 255, 244, 0, 0])
    """
    middle = radius * scale
    end = middle + length * scale * np.array([np.sin(angle), np.cos(angle)])
    row, col = np.ceil(end.round(3)).tolist()  # what is whole but for rounding stays whole
    canvas = Image.new("F", (2 * middle + 1, 2 * middle + 1))
    line = [(middle, middle), (col, row)]
    ImageDraw.Draw(canvas).line(line, fill=255, width=round(width * scale))
    side = 2 * radius + 1
    # Grey levels beyond the limits, which the Lanczos window makes, are cut after both directions.
    grey = np.asarray(canvas.resize((side, side), Image.Resampling.LANCZOS))
    sprite = np.clip(np.rint(grey), 0, 255).astype(np.uint8)
    sprite.flags.writeable = False
    return sprite


@functools.lru_cache(maxsize=16)
def disc(radius: float | int) -> Bool[np.ndarray, "side side"]:
    """The pixels within a radius of the middle one.

    >>> int(disc(4).sum())
    49
    """
    half = int(np.ceil(radius))
    grid = np.arange(-half, half + 1)
    return np.hypot(grid[:, None], grid) <= radius


def disc_sprite(radius: float, scale: int, margin: int) -> UInt8[np.ndarray, "side side"]:
    """Grey picture of a filled disc around the centre pixel, `margin` pixels of dark around it.

    >>> disc_sprite(5.0, 2, 3).shape
    (17, 17)
    """
    half = int(np.ceil(radius)) + margin
    side = 2 * half + 1
    grid = (np.arange(side * scale) + 0.5) / scale - half - 0.5
    inside = grid[:, None] ** 2 + grid[None] ** 2 <= (radius + 0.25) ** 2
    sprite = reduce_by(inside.astype(np.uint8) * 255, scale)
    sprite.flags.writeable = False
    return sprite


def stamp(
    picture: UInt8[np.ndarray, "rows cols"],
    sprite: UInt8[np.ndarray, "side side"],
    row: int,
    col: int,
) -> None:
    """Lay a sprite's maximum over the caller's own picture, centred at (row, col); clips at edges.

    >>> canvas = np.zeros((5, 5), np.uint8)
    >>> stamp(canvas, np.full((3, 3), 9, np.uint8), 0, 4)
    >>> int((canvas == 9).sum())
    4
    """
    half = sprite.shape[0] // 2
    top, left = max(row - half, 0), max(col - half, 0)
    bottom, right = min(row + half + 1, picture.shape[0]), min(col + half + 1, picture.shape[1])
    part = sprite[top - row + half : bottom - row + half, left - col + half : right - col + half]
    window = picture[top:bottom, left:right]
    np.maximum(window, part, out=window)
