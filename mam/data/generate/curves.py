"""The curves generator: smooth thick curves that cross, as ropes, cables and fibres do.

Curves are drawn one after another, and each from its start to its end, so that a pixel belongs to
what was drawn last: the upper curve owns a crossing.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8
from scipy import ndimage

from mam.data.generate.draws import generator
from mam.data.generate.warp import outline
from mam.data.raster import fill
from mam.data.schema import CurvesRow

_STEP = 3.0  # px between two points of a curve
_PIECE = 8  # points drawn at a time; a piece is the unit of over and under
_MEMORY = 0.85  # of the curvature from one step to the next: bends last some 20 px
_EIGHT = np.ones((3, 3), bool)


@dataclass(frozen=True)
class CurvesConfig:
    """How images of crossing curves are made. No published generator exists; values are ours."""

    rows: int = 256  # px
    cols: int = 256  # px
    curves: tuple[int, int] = (2, 4)  # least and most, of 1..8
    width: tuple[int, int] = (4, 12)  # px, of 2..24; one width per curve
    length: tuple[float, float] = (0.8, 2.0)  # of the canvas' diagonal
    bend: float = 0.012  # 1/px, typical curvature
    gaps: bool = False  # one-pixel breaks along the upper curve's border at a crossing
    breaks: float = 0.0  # expected number of missing stretches per curve
    noise: float = 0.0  # probability that a pixel is flipped
    stream: int = 0  # of random numbers; every level has its own

    def __post_init__(self) -> None:
        if not 1 <= self.curves[0] <= self.curves[1] <= 8:
            raise ValueError(f"curves {self.curves}: least and most must lie in 1..8")
        if not 2 <= self.width[0] <= self.width[1] <= 24:
            raise ValueError(f"width {self.width}: least and most must lie in 2..24 px")
        if not 0 <= self.noise < 0.5:
            raise ValueError(f"noise {self.noise}: a probability below 0.5 is needed")
        if min(self.rows, self.cols) < 64:
            raise ValueError(f"{self.rows} x {self.cols}: the canvas needs 64 px at least")


_EASY = CurvesConfig(curves=(1, 2))
LEVELS = {
    "easy": replace(_EASY, stream=1),
    "medium": replace(_EASY, curves=(2, 4), gaps=True, stream=2),
    "hard": replace(
        _EASY,
        rows=384,
        cols=384,
        curves=(3, 8),
        width=(2, 24),
        gaps=True,
        breaks=0.5,
        noise=0.002,
        bend=0.02,
        stream=3,
    ),
}


def _path(
    config: CurvesConfig, width: int, rng: np.random.Generator
) -> Float[np.ndarray, "points 2"]:
    """A smooth walk: the curvature wanders, and turns inwards near the canvas' edge."""
    extent = np.array([config.rows, config.cols], float)
    span = rng.uniform(*config.length) * float(np.hypot(*extent))
    steps = max(int(span / _STEP), _PIECE)
    pushes = rng.normal(size=steps) * config.bend * np.sqrt(1 - _MEMORY**2)
    sharpest = 1.0 / (1.5 * width + 4)  # a bend no tighter than the curve is thick
    row, col = rng.uniform(0.15, 0.85, 2) * extent
    heading, curvature = rng.uniform(-np.pi, np.pi), 0.0
    points = np.empty((steps, 2))
    for k in range(steps):
        points[k] = row, col
        curvature = _MEMORY * curvature + pushes[k]
        off_row, off_col = row / extent[0] - 0.5, col / extent[1] - 0.5
        if max(abs(off_row), abs(off_col)) > 0.38:
            inwards = np.arctan2(-off_row, -off_col)
            turn = (inwards - heading + np.pi) % (2 * np.pi) - np.pi
            curvature += 0.03 * float(np.sign(turn))
        curvature = min(max(curvature, -sharpest), sharpest)
        heading += curvature * _STEP
        row, col = row + _STEP * np.sin(heading), col + _STEP * np.cos(heading)
    return points


def _stretches(
    points: Float[np.ndarray, "points 2"],
    width: int,
    config: CurvesConfig,
    rng: np.random.Generator,
) -> list[Float[np.ndarray, "_ 2"]]:
    """The parts of a curve between its breaks."""
    drawn = np.ones(len(points), bool)
    for _ in range(rng.poisson(config.breaks)):
        # The round ends on both sides take `width` of the break away again.
        missing = int((width + rng.uniform(3, 10)) / _STEP) + 1
        start = int(rng.integers(0, len(points)))
        drawn[start : start + missing] = False
    cuts = np.flatnonzero(np.diff(drawn.astype(int))) + 1
    parts = np.split(np.arange(len(points)), cuts)
    return [points[part] for part in parts if len(part) > 1 and drawn[part[0]]]


@dataclass
class _Canvas:
    """The picture under construction; local to one row."""

    labels: UInt8[np.ndarray, "rows cols"]
    clock: Int[np.ndarray, "rows cols"]  # when a pixel was last drawn, 0 = never
    gaps: bool


def _draw_piece(
    canvas: _Canvas, points: Float[np.ndarray, "points 2"], width: int, number: int, now: int
) -> None:
    """Draw a few points of a curve over all that is there."""
    pad = width + 2
    low = np.maximum(np.floor(points.min(axis=0)).astype(int) - pad, 0)
    high = np.minimum(np.ceil(points.max(axis=0)).astype(int) + pad + 1, canvas.labels.shape)
    if (high <= low).any():
        return
    # Pillow's own wide lines are ragged at their joints.
    shapes = outline([points - low], width - 0.5)
    piece = fill(shapes, (int(high[0] - low[0]), int(high[1] - low[1])))
    window = (slice(int(low[0]), int(high[0])), slice(int(low[1]), int(high[1])))
    labels, clock = canvas.labels[window], canvas.clock[window]
    if canvas.gaps:
        rim = ndimage.binary_dilation(piece, _EIGHT) & ~piece
        # The curve's own last stretch is not crossed, it is continued.
        recent = int(np.ceil(3 * width / (_STEP * _PIECE))) + 1
        labels[rim & (clock > 0) & (clock < now - recent)] = 0
    labels[piece] = number
    clock[piece] = now


def make_curves(config: CurvesConfig, seed: int, row: int) -> CurvesRow:
    """Row `row` of the endless data set that `config` and `seed` define.

    >>> one = make_curves(CurvesConfig(curves=(3, 3)), seed=0, row=1)
    >>> one.mask.shape, int(one.labels.max())
    ((256, 256), 3)
    """
    return make_courses(config, seed, row)[0]


def make_courses(
    config: CurvesConfig, seed: int, row: int
) -> tuple[CurvesRow, list[Float[np.ndarray, "points 2"]]]:
    """Row `row`, and the middle line of each of its curves: rows and columns from end to end.

    >>> one, courses = make_courses(CurvesConfig(curves=(3, 3)), seed=0, row=1)
    >>> len(courses), courses[0].shape[1]
    (3, 2)
    """
    rng = generator(config.stream, seed, row)
    shape = (config.rows, config.cols)
    canvas = _Canvas(np.zeros(shape, np.uint8), np.zeros(shape, np.int64), config.gaps)
    now, courses = 0, []
    for number in range(1, int(rng.integers(config.curves[0], config.curves[1] + 1)) + 1):
        width = int(rng.integers(config.width[0], config.width[1] + 1))
        now += 100  # longer ago than any `recent`
        courses.append(_path(config, width, rng))
        for stretch in _stretches(courses[-1], width, config, rng):
            for start in range(0, len(stretch) - 1, _PIECE):
                now += 1
                _draw_piece(canvas, stretch[start : start + _PIECE + 1], width, number, now)
    mask: Bool[np.ndarray, "rows cols"] = canvas.labels > 0
    if config.noise:
        mask = mask ^ (rng.random(shape) < config.noise)
    return CurvesRow(mask, np.where(mask, canvas.labels, 0).astype(np.uint8)), courses
