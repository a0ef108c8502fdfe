"""A user's own picture: which of its strokes or lines form one curve?"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar

import numpy as np
from jaxtyping import Bool, Float, UInt8

from mam.core.limits import INK_PIECES
from mam.core.model_files import find_model, model_kind
from mam.core.resize import resized, scaled
from mam.core.svg import as_svg
from mam.core.words import counted
from mam.data.images import PictureSource
from mam.data.pixel_size import PixelSize, read_pixel_size
from mam.tasks.chart_axes import ChartAxes
from mam.tasks.seen import refuse_many, see_ink
from mam.vision.curves.answer import Grouped, Point, Same, proved_in_words
from mam.vision.curves.corrections import Corrections
from mam.vision.curves.facts import CurveFacts, measured
from mam.vision.curves.line_forms import line_length, simplified, smoothed
from mam.vision.curves.strands.curve_answer import CurveGrouping
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.images.ink import Ink, InkPicture, describe_strokes

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
    branches: bool = False


@dataclass(frozen=True, eq=False)
class Drawing:
    """The curves of a picture, longest first."""

    picture: UInt8[np.ndarray, "rows cols *channels"]
    lines: list[Float[np.ndarray, "_ 2"]] = field(default_factory=list)
    strokes: int = 0
    model: str = ""
    assumed: str = ""  # about the picture, in words
    score: float = 0.0
    bound: float | None = None
    proof: str | None = None
    pieces_proof: str | None = "exact"
    markers: Sequence[Point] = ()
    same: Same | None = None  # whether both markers are on one curve
    piece: str = "stroke"  # what its model groups: strokes or strands
    ink: Ink | None = None
    settings: GroupSettings | None = None
    found: Grouped | None = None  # the grouping itself,
    scale: float = 1.0  # of a picture of this scale
    order: Sequence[int] = ()  # which of its chains each line is
    simplify: float = 0.5  # px that a line may leave its smooth course to have fewer points
    pixel_size: PixelSize | None = None
    axes: ChartAxes | None = None  # of a chart: what places mean

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the picture."""
        rows, cols = self.picture.shape[:2]
        return int(rows), int(cols)

    @property
    def facts(self) -> list[CurveFacts]:
        """What can be measured on every curve, in pixels of the picture."""
        if self.found is None:
            return []
        return measured(self.found, self.lines, self.order, self.scale)

    @property
    def curves(self) -> list[int]:
        """The number of the curve that each line is of: one that branches has several lines."""
        if self.found is None:
            return list(range(len(self.lines)))
        group, chains = self.found.group, self.found.chains
        own = [int(group[chains[k].strokes[0]]) for k in self.order]
        number = {curve: new for new, curve in enumerate(dict.fromkeys(own))}
        return [number[curve] for curve in own]

    @property
    def masks(self) -> Bool[np.ndarray, "curves rows cols"]:
        """The pixels of every curve. Where curves cross, a pixel belongs to all of them."""
        if self.found is None or not len(self.order):
            return np.zeros((0, *self.shape), bool)
        masks, chains = self.found.masks, self.found.chains
        curves = self.curves
        first = [self.order[curves.index(curve)] for curve in dict.fromkeys(curves)]
        # Strokes have a mask for each chain.
        each = len(masks) == len(chains)
        which = [k if each else int(self.found.group[chains[k].strokes[0]]) for k in first]
        return np.stack([resized(masks[k], self.shape) for k in which])

    @property
    def counts(self) -> str:
        """How many curves, of how many pieces, in words."""
        number, lines = len(set(self.curves)), len(self.lines)
        branches = f" with {counted(lines, 'line')}" if number < lines else ""
        return f"{counted(number, 'curve')}{branches} of {counted(self.strokes, self.piece)}"

    def own(self, points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "points 2"]:
        """Points of the grouping in pixels of the picture."""
        return (points + 0.5) / self.scale - 0.5

    def __repr__(self) -> str:
        sure = proved_in_words(self.proof, self.pieces_proof)
        return f"<Drawing: {self.counts}, model {self.model}, score {self.score:.4g}, {sure}>"

    def _repr_svg_(self) -> str:
        """What a notebook shows: every curve in its own colour."""
        return as_svg(self.shape, self.lines, repr(self))


def group_drawing(
    picture: PictureSource,
    *,
    model: str = "auto",
    markers: Sequence[Point] | None = None,
    threshold: float | int | None = None,
    ink: str = "auto",
    box: Sequence[Point] | None = None,
    bridging: float | int = 1.0,
    branches: bool = False,
    forbid: Sequence[PointPair] = (),
    demand: Sequence[PointPair] = (),
    bound: bool = False,
    simplify: float | int = 0.5,
    pixel_size: PixelSize | None = None,
    axes: ChartAxes | None = None,
    most: int = INK_PIECES,
    name: str = "the picture",
    page: int | None = None,
) -> Drawing:
    """Find the ink, choose a model by its look where none is given, and group it.

    The picture is a path, an array, or whatever else `read_picture` reads. Gaps ``bridging`` times
    wider than those learned from are bridged as well. With ``branches`` lines may branch, and a
    curve is a tree with a line for each of its branches. Links to ``forbid`` and to ``demand`` are
    named by two places each; the nearest ends of pieces are meant. ``ink``, ``box`` and ``most``
    are explained in `see_ink` and `refuse_many`; lines leave their smooth course by no more than
    ``simplify`` px. The pixel size is the file's own where none is given.
    """
    if pixel_size is None:
        pixel_size = read_pixel_size(picture)
    pixels, seen = see_ink(picture, threshold=threshold, ink=ink, box=box, name=name, page=page)
    for number, marker in enumerate(markers or (), 1):
        _refuse_outside(marker, pixels.shape, f"marker {number}")
    look = describe_strokes(seen.mask)
    if not look.count:
        raise ValueError(f"{name}: there is nothing but specks of one or two pixels in it")
    refuse_many(seen.mask, most, name)
    short = look.short and not branches
    chosen = ("contours" if short else "curves") if model == "auto" else model
    settings = GroupSettings(chosen, bound, float(bridging), branches)
    strokes = model_kind(chosen) == "contours"
    if strokes and branches:
        raise ValueError(f"the model {chosen} groups strokes, which do not branch; use 'curves'")
    scale = _stroke_scale(look.length) if strokes else 1.0
    found = _grouped(seen, pixels, settings, strokes, scale)
    if forbid or demand:
        found = _corrected(found, settings, scale, forbid, demand)
    words = f"; {'short strokes' if short else 'lines'}"
    asked = Drawing(
        pixels,
        model=chosen,
        assumed=seen.assumed + (words if model == "auto" else ""),
        markers=markers or (),
        ink=seen,
        settings=settings,
        scale=scale,
        simplify=float(simplify),
        pixel_size=pixel_size,
        axes=axes,
    )
    return answered(asked, found)


def _stroke_scale(length: float) -> float:
    """What brings strokes to the length that the contour model knows."""
    scale = _STROKE / length
    return 1.0 if 1 / _ALIKE < scale < _ALIKE else scale


def _grouped(
    ink: Ink, pixels: InkPicture, settings: GroupSettings, strokes: bool, scale: float
) -> Grouped:
    """Group short strokes at the scale that the model knows, or lines of any width and colour."""
    if strokes:
        [found] = _loaded(ContourGrouper, settings).predict([scaled(ink.contrast, scale)])
        return found
    picture = pixels if pixels.ndim == 3 else None
    [lines] = _loaded(CurveGrouper, settings).predict([ink.mask], [picture])
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
    lines = [simplified(drawing.own(line), drawing.simplify) for line in _smooth_lines(found)]
    order = sorted(range(len(lines)), key=lambda k: line_length(lines[k]), reverse=True)
    points = [scaled_point(marker, drawing.scale) for marker in drawing.markers]
    return replace(
        drawing,
        lines=[lines[k] for k in order],
        strokes=len(found.group),
        score=found.score,
        bound=found.bound,
        proof=found.proof,
        pieces_proof=found.pieces_proof,
        same=found.same(*points) if points else None,
        piece="stroke" if isinstance(found, Grouping) else "strand",
        found=found,
        order=order,
    )


def _smooth_lines(found: Grouped) -> list[Float[np.ndarray, "_ 2"]]:
    """Lines along pixels of skeletons without their steps; those along strokes have none."""
    if isinstance(found, Grouping):
        return found.polylines
    lines = zip(found.polylines, found.widths, strict=True)
    return [smoothed(line, float(width)) for line, width in lines]


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
    found = kind.load(path).set_params(bound=settings.bound, bridging=settings.bridging)
    return found.set_params(branches=True) if settings.branches else found


def _refuse_outside(marker: Point, shape: tuple[int, ...], name: str) -> None:
    row, col = marker
    if not (0 <= row < shape[0] and 0 <= col < shape[1]):
        raise ValueError(
            f"{name} ({row:g}, {col:g}) lies outside the picture of {shape[0]} x {shape[1]} px"
        )
