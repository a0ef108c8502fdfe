"""Pictures of a grouping: each curve in its own colour and order, over the picture."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Shaped, UInt8
from PIL import Image, ImageDraw, ImageFont

from mam.core.svg import PALETTE, Line
from mam.data.pixels import rgb

_SIDE = 900  # px of the longer side of an overlay; a larger picture keeps its size
_DIM = 2  # the picture under the curves is this many times darker
_MARKER = (255, 255, 255)
_PALE = 3  # the picture around ink is this many times nearer to white
_INK = PALETTE[5]
_Font = ImageFont.ImageFont | ImageFont.FreeTypeFont


class Tag(NamedTuple):
    """Words for the picture's caption, and the points they are about."""

    text: str
    points: Sequence[Sequence[float | int]] = ()


def overlay(
    picture: Shaped[np.ndarray, "rows cols *channels"],
    lines: Sequence[Line],
    tag: Tag | None = None,
    curves: Sequence[int] | None = None,
) -> UInt8[np.ndarray, "_ _ 3"]:
    """Draw curves over a picture: a number at the start, an arrow head at the end.

    Lines are numbered in the order given; those of two points only, single strokes, have no
    number. Lines of one of the ``curves``, its branches, have one colour.

    >>> overlay(np.zeros((30, 30), np.uint8), [np.array([[5.0, 5], [20, 20], [20, 28]])]).shape
    (900, 900, 3)
    """
    dim = rgb(picture) // _DIM
    scale = max(1, round(_SIDE / max(dim.shape[:2])))
    large = np.repeat(np.repeat(dim, scale, 0), scale, 1)
    canvas = Image.fromarray(large)
    pen = ImageDraw.Draw(canvas)
    thick = max(2, max(large.shape) // 300)
    font = ImageFont.load_default(size=max(10, max(large.shape) // 45))
    for number, line in enumerate(lines):
        curve = number if curves is None else curves[number]
        colour = tuple(int(v) for v in PALETTE[curve % len(PALETTE)])
        # A pixel's middle is half a pixel from its corner.
        points = [((c + 0.5) * scale, (r + 0.5) * scale) for r, c in line]
        pen.line(points, fill=colour, width=thick, joint="curve")
        if len(points) > 3:
            _arrow(pen, points, colour, 3.0 * thick)
            at = (points[0][0] + thick, points[0][1] + thick)
            pen.text(at, str(number + 1), fill=colour, font=font)
    if tag is not None:
        _caption(pen, tag, scale, thick, font)
    return np.asarray(canvas)


def draw_ink(
    picture: Shaped[np.ndarray, "rows cols *channels"], mask: Bool[np.ndarray, "rows cols"]
) -> UInt8[np.ndarray, "rows cols 3"]:
    """What was taken as ink in one colour, over the pale picture.

    >>> draw_ink(np.zeros((1, 2), np.uint8), np.array([[True, False]])).tolist()
    [[[213, 94, 0], [170, 170, 170]]]
    """
    pale = 255 - (255 - rgb(picture)) // _PALE
    return np.where(mask[..., None], _INK, pale).astype(np.uint8)


def _arrow(
    pen: ImageDraw.ImageDraw, points: list[tuple[float, float]], colour: tuple, size: float
) -> None:
    (x0, y0), (x, y) = points[-2], points[-1]
    length = float(np.hypot(x - x0, y - y0)) or 1.0
    dx, dy = (x - x0) / length * size, (y - y0) / length * size
    pen.polygon([(x + dx, y + dy), (x - dy / 2, y + dx / 2), (x + dy / 2, y - dx / 2)], fill=colour)


def _caption(pen: ImageDraw.ImageDraw, tag: Tag, scale: int, thick: int, font: _Font) -> None:
    for row, col in tag.points:
        x, y, r = (col + 0.5) * scale, (row + 0.5) * scale, 6 * thick
        pen.ellipse([x - r, y - r, x + r, y + r], outline=_MARKER, width=thick)
    pen.text((2 * thick, 2 * thick), tag.text, fill=_MARKER, font=font)
