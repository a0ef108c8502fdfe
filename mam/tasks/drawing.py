"""A user's own picture: which of its strokes or lines form one curve?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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
from mam.vision.curves.answer import Grouped, Point, Same
from mam.vision.curves.corrections import Corrections
from mam.vision.curves.strands.curve_answer import CurveGrouping
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.images.ink import Ink, describe_strokes, find_ink

_Grouper = TypeVar("_Grouper", ContourGrouper, CurveGrouper)

PointPair = Sequence[Point]  # of two ends: they name a link

_STROKE = 5.65  # px, length of the strokes that the contour model knows, as `describe_strokes` says
_ALIKE = 1.3  # a picture whose strokes are this many times longer or shorter is rescaled


@dataclass(frozen=True)
class GroupSettings:
    """How a drawing is grouped."""

    model: str
    bound: bool = False
    bridging: float = 1.0


@dataclass(frozen=True, eq=False)
class Drawing:
    """The curves of a picture, longest first."""

    picture: UInt8[np.ndarray, "rows cols"]
    lines: list[Float[np.ndarray, "_ 2"]] = field(default_factory=list)
    strokes: int = 0
    model: str = ""
    assumed: str = ""  # about the picture, in words
    score: float = 0.0
    bound: float | None = None
    proof: str | None = None
    markers: Sequence[Point] = ()
    same: Same | None = None  # whether both markers are on one curve
    piece: str = "stroke"  # what its model groups: strokes or strands
    ink: Ink | None = None
    settings: GroupSettings | None = None
    found: Grouped | None = None  # the grouping itself,
    scale: float = 1.0  # of a picture of this scale
    order: Sequence[int] = ()  # which of its chains each line is

    def own(self, points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "points 2"]:
        """Points of the grouping in pixels of the picture."""
        return (points + 0.5) / self.scale - 0.5

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
    markers: Sequence[Point] | None = None,
    threshold: float | int | None = None,
    polarity: str = "auto",
    bridging: float | int = 1.0,
    forbid: Sequence[PointPair] = (),
    demand: Sequence[PointPair] = (),
    bound: bool = False,
    name: str = "the picture",
    page: int | None = None,
) -> Drawing:
    """Find the ink, choose a model by its look where none is given, and group it.

    The picture is a path, an array, or whatever else `read_picture` reads. Gaps ``bridging`` times
    wider than those learned from are bridged as well. Links to ``forbid`` and to ``demand`` are
    named by two places each; the nearest ends of pieces are meant.
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
    settings = GroupSettings(chosen, bound, float(bridging))
    strokes = model_kind(chosen) == "contours"
    scale = _stroke_scale(look.length) if strokes else 1.0
    found = _grouped(ink, settings, strokes, scale)
    if forbid or demand:
        found = _corrected(found, settings, scale, forbid, demand)
    seen = f"; {'short strokes' if look.short else 'continuous lines'}"
    words = ink.assumed + (seen if model == "auto" else "")
    asked = Drawing(
        pixels, model=chosen, assumed=words, markers=markers or (), ink=ink, scale=scale
    )
    return answered(replace(asked, settings=settings), found)


def _stroke_scale(length: float) -> float:
    """What brings strokes to the length that the contour model knows."""
    scale = _STROKE / length
    return 1.0 if 1 / _ALIKE < scale < _ALIKE else scale


def _grouped(ink: Ink, settings: GroupSettings, strokes: bool, scale: float) -> Grouped:
    """Group short strokes at the scale that the model knows, or lines of any width."""
    if strokes:
        [found] = _loaded(ContourGrouper, settings).predict([scaled(ink.contrast, scale)])
        return found
    [lines] = _loaded(CurveGrouper, settings).predict([ink.mask])
    return lines


def solved_again(found: Grouped, settings: GroupSettings, known: Corrections) -> Grouped:
    """The same pieces and links, with what is known of some links."""
    if isinstance(found, Grouping):
        return _loaded(ContourGrouper, settings).corrected(found, known)
    assert isinstance(found, CurveGrouping)
    return _loaded(CurveGrouper, settings).corrected(found, known)


def _corrected(
    found: Grouped,
    settings: GroupSettings,
    scale: float,
    forbid: Sequence[PointPair],
    demand: Sequence[PointPair],
) -> Grouped:
    """Solve again with links that are known."""

    def ends(which: Sequence[PointPair], name: str) -> list[tuple[int, int]]:
        return [
            (
                found.end_at(scaled_point(one, scale), f"{name} {number}, first place"),
                found.end_at(scaled_point(other, scale), f"{name} {number}, second place"),
            )
            for number, (one, other) in enumerate(which, 1)
        ]

    known = Corrections(ends(forbid, "forbidden link"), ends(demand, "demanded link"))
    return solved_again(found, settings, known)


def answered(drawing: Drawing, found: Grouped) -> Drawing:
    """A drawing with its answer in pixels of the picture, longest curve first."""
    lines = [drawing.own(line) for line in found.polylines]
    order = sorted(range(len(lines)), key=lambda k: line_length(lines[k]), reverse=True)
    points = [scaled_point(marker, drawing.scale) for marker in drawing.markers]
    return replace(
        drawing,
        lines=[lines[k] for k in order],
        strokes=len(found.group),
        score=found.score,
        bound=found.bound,
        proof=found.proof,
        same=found.same(*points) if points else None,
        piece="stroke" if isinstance(found, Grouping) else "strand",
        found=found,
        order=order,
    )


def scaled_point(point: Point, scale: float) -> Float[np.ndarray, "2"]:
    """A point of the picture in one of another scale."""
    return (np.asarray(point, float) + 0.5) * scale - 0.5


def _loaded(kind: type[_Grouper], settings: GroupSettings) -> _Grouper:
    return _read(kind, *_version(settings.model), settings)


def _version(model: str) -> tuple[Path, int]:
    """The file of a model, and when it was last written."""
    path = find_model(model).resolve()
    return path, path.stat().st_mtime_ns


@lru_cache(maxsize=8)
def _read(kind: type[_Grouper], path: Path, written: int, settings: GroupSettings) -> _Grouper:
    """A grouper stays loaded: it knows the sizes of the arrays that it compiled for."""
    return kind.load(path).set_params(bound=settings.bound, bridging=settings.bridging)


def line_length(line: Float[np.ndarray, "_ 2"]) -> float:
    """Return the length of a polyline, px."""
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def _refuse_outside(marker: Point, shape: tuple[int, ...], name: str) -> None:
    row, col = marker
    if not (0 <= row < shape[0] and 0 <= col < shape[1]):
        raise ValueError(
            f"{name} ({row:g}, {col:g}) lies outside the picture of {shape[0]} x {shape[1]} px"
        )
