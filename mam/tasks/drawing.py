"""A user's own picture: which of its strokes or lines form one curve?"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from jaxtyping import Float, UInt8

from mam.core.model_files import find_model, model_kind
from mam.core.resize import scaled
from mam.core.svg import as_svg
from mam.core.words import counted
from mam.data.images import PictureSource, read_picture
from mam.data.pixels import grey, shown
from mam.vision.curves.answer import Grouped, Same
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.images.ink import Ink, describe_strokes, find_ink

_Grouper = TypeVar("_Grouper", ContourGrouper, CurveGrouper)

_STROKE = 5.65  # px, length of the strokes that the contour model knows, as `describe_strokes` says
_ALIKE = 1.3  # a picture whose strokes are this many times longer or shorter is rescaled


@dataclass(frozen=True, eq=False)
class Drawing:
    """The curves of a picture, longest first."""

    picture: UInt8[np.ndarray, "rows cols"]
    lines: list[Float[np.ndarray, "_ 2"]]
    strokes: int
    model: str
    assumed: str  # about the picture, in words
    score: float
    bound: float | None
    proof: str | None
    markers: Sequence[Sequence[float | int]] = ()
    same: Same | None = None  # whether both markers are on one curve
    piece: str = "stroke"  # what its model groups: strokes or strands

    def __repr__(self) -> str:
        sure = "proved optimal" if self.proof else "not proved optimal"
        curves = f"{counted(len(self.lines), 'curve')} of {counted(self.strokes, self.piece)}"
        return f"<Drawing: {curves}, model {self.model}, score {self.score:.4g}, {sure}>"

    def _repr_svg_(self) -> str:
        """What a notebook shows: every curve in its own colour."""
        rows, cols = self.picture.shape
        return as_svg((rows, cols), self.lines, repr(self))


def group_drawing(
    picture: PictureSource,
    *,
    model: str = "auto",
    markers: Sequence[Sequence[float | int]] | None = None,
    threshold: float | int | None = None,
    polarity: str = "auto",
    bound: bool = False,
    name: str = "the picture",
    page: int | None = None,
) -> Drawing:
    """Find the ink, choose a model by its look where none is given, and group it.

    The picture is a path, an array, or whatever else `read_picture` reads.
    """
    pixels = read_picture(picture, name, page)
    pixels = shown(pixels) if pixels.ndim == 2 else grey(pixels)
    for number, marker in enumerate(markers or (), 1):
        _refuse_outside(marker, pixels.shape, f"marker {number}")
    ink = find_ink(pixels, threshold, polarity, name)
    look = describe_strokes(ink.mask)
    if not look.count:
        raise ValueError(f"{name}: there is nothing but specks of one or two pixels in it")
    chosen = ("contours" if look.short else "curves") if model == "auto" else model
    if model_kind(chosen) == "contours":
        found = _contours(ink, chosen, look.length, bound, markers)
    else:
        found = _curves(ink, chosen, bound, markers)
    order = sorted(found.lines, key=line_length, reverse=True)
    seen = f"; {'short strokes' if look.short else 'continuous lines'}"
    words = ink.assumed + (seen if model == "auto" else "")
    return replace(found, picture=pixels, lines=order, assumed=words, markers=markers or ())


def _contours(
    ink: Ink,
    model: str,
    length: float,
    bound: bool,
    markers: Sequence[Sequence[float | int]] | None,
) -> Drawing:
    """Group short strokes, at the scale that the model knows."""
    scale = _STROKE / length
    if 1 / _ALIKE < scale < _ALIKE:
        scale = 1.0
    grouper = _loaded(ContourGrouper, *_version(model), bound)
    [found] = grouper.predict([scaled(ink.contrast, scale)])
    lines = [(line + 0.5) / scale - 0.5 for line in found.polylines]
    same = None
    if markers is not None:
        at = [(np.asarray(marker, float) + 0.5) * scale - 0.5 for marker in markers]
        same = found.same(at[0], at[1])
    return _drawing(ink, lines, model, found, same)


def _curves(
    ink: Ink, model: str, bound: bool, markers: Sequence[Sequence[float | int]] | None
) -> Drawing:
    """Group continuous lines of any width."""
    [found] = _loaded(CurveGrouper, *_version(model), bound).predict([ink.mask])
    same = None
    if markers is not None:
        same = found.same(np.asarray(markers[0], float), np.asarray(markers[1], float))
    drawing = _drawing(ink, list(found.polylines), model, found, same)
    return replace(drawing, piece="strand")


def _drawing(
    ink: Ink, lines: list[np.ndarray], model: str, found: Grouped, same: Same | None
) -> Drawing:
    certificate = found.score, found.bound, found.proof
    return Drawing(ink.contrast, lines, len(found.group), model, "", *certificate, same=same)


def _version(model: str) -> tuple[Path, int]:
    """The file of a model, and when it was last written."""
    path = find_model(model).resolve()
    return path, path.stat().st_mtime_ns


@lru_cache(maxsize=8)
def _loaded(kind: type[_Grouper], path: Path, written: int, bound: bool) -> _Grouper:
    """A grouper stays loaded: it knows the sizes of the arrays that it compiled for."""
    return kind.load(path).set_params(bound=bound)


def line_length(line: Float[np.ndarray, "_ 2"]) -> float:
    """Return the length of a polyline, px."""
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def _refuse_outside(marker: Sequence[float | int], shape: tuple[int, ...], name: str) -> None:
    row, col = marker
    if not (0 <= row < shape[0] and 0 <= col < shape[1]):
        raise ValueError(
            f"{name} ({row:g}, {col:g}) lies outside the picture of {shape[0]} x {shape[1]} px"
        )
