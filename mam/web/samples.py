"""Pictures to begin with, made by the project's own generators."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from mam.data.images import encode_png
from mam.data.pixels import black_and_white

_WIDE, _HIGH, _FINE = 440, 300, 4  # px of the sketch, and how much finer it is drawn


class SamplePicture(NamedTuple):
    """What a picture is called, and where on the page it is offered."""

    title: str
    tab: str


SAMPLES = {
    "dashes": SamplePicture("Broken contours", "curves"),
    "ropes": SamplePicture("Ropes that cross", "curves"),
    "sketch": SamplePicture("A sketch with gaps", "curves"),
    "letters": SamplePicture("Two letters", "find"),
    "things": SamplePicture("A thing in clutter", "find"),
    "other-things": SamplePicture("The same thing again", "find"),
}


@cache
def sample_png(name: str) -> bytes:
    """The picture of that name, as PNG."""
    return encode_png(_MAKERS[name]())


def _row(kind: str, level: str, seed: int, number: int = 0) -> object:
    from mam.data import make_row, recipe

    return make_row(recipe(kind, level, seed), number)


def _dashes() -> np.ndarray:
    return getattr(_row("pathfinder", "hard", 3), "clean")  # noqa: B009


def _ropes() -> np.ndarray:
    return 255 - black_and_white(getattr(_row("curves", "easy", 8), "mask"))  # noqa: B009


def _letters() -> np.ndarray:
    return getattr(_row("cabc", "easy", 3), "image")  # noqa: B009


def _things() -> np.ndarray:
    return getattr(_row("objects", "easy", 3), "image")  # noqa: B009


def _other_things() -> np.ndarray:
    return getattr(_row("objects", "easy", 3, 1), "image")  # noqa: B009


def _sketch() -> np.ndarray:
    """Dark pen lines on paper: a wave, a ring and a straight line, each with gaps."""
    paper = Image.new("L", (_WIDE * _FINE, _HIGH * _FINE), 244)
    pen = ImageDraw.Draw(paper)
    t = np.linspace(0, 1, 200)
    wave = np.stack([30 + 380 * t, 150 + 70 * np.sin(7 * t)], 1)
    ring = np.stack([230 + 90 * np.cos(2 * np.pi * t), 150 + 90 * np.sin(2 * np.pi * t)], 1)
    bar = np.stack([40 + 370 * t, 260 - 220 * t], 1)
    for line, gaps in ((wave, [(60, 66)]), (ring, [(20, 27), (120, 126)]), (bar, [(30, 36)])):
        start = 0
        for first, last in [*gaps, (len(t), len(t))]:
            points = [(float(x) * _FINE, float(y) * _FINE) for x, y in line[start:first]]
            pen.line(points, fill=40, width=5 * _FINE, joint="curve")
            start = last
    return np.asarray(paper.resize((_WIDE, _HIGH), Image.Resampling.LANCZOS))


_MAKERS: dict[str, Callable[[], np.ndarray]] = {
    "dashes": _dashes,
    "ropes": _ropes,
    "sketch": _sketch,
    "letters": _letters,
    "things": _things,
    "other-things": _other_things,
}
