"""Crossing curves: which pixels belong to which, measured by Dice."""

from collections.abc import Iterable, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Shaped, UInt8
from scipy.optimize import linear_sum_assignment

from mam.core.programs import Stopwatch
from mam.core.progress import Advance
from mam.data import CurvesRow
from mam.data.generate.charts import ChartsConfig, make_chart
from mam.data.generate.curves import LEVELS, make_courses
from mam.tasks.report import Report
from mam.tasks.rows import rows_of_kind
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.mask_courses import courses_of
from mam.vision.images.ink import find_ink

COLUMNS = ("mask", "gaps", "image")
# In hard images a third of the strands are slivers of hidden curves or noise. Learning from them as
# well changes the figures by no more than chance.
_MADE = (
    partial(make_courses, LEVELS["easy"]),
    partial(make_chart, ChartsConfig()),
    partial(make_courses, LEVELS["medium"]),
    partial(make_chart, ChartsConfig()),
)
_ENOUGH = 0.98  # Dice below which a row counts as an error
_RIGHT = 0.95  # Dice above which a curve counts as right
_BATCH = 16  # rows read and answered at a time


def fit(
    grouper: CurveGrouper,
    count: int,
    seed: int = 0,
    advance: Advance = lambda count: None,
    sources: Sequence[str] = (),
) -> CurveGrouper:
    """Learn from ``count`` generated images, easy and medium curves and charts in turn, and from
    the rows of data sets with a mask for each curve; with pictures, where these are there.
    """
    if count < 1 and not sources:
        raise ValueError(f"count {count}: curves are learned from at least one image")
    made = [_MADE[row % len(_MADE)](seed, row) for row in range(count)]
    rows, courses = [row for row, _ in made], [list(known) for _, known in made]
    for source in sources:
        for number, row in enumerate(rows_of_kind(source, CurvesRow, "image of curves")):
            if row.masks is None:
                raise ValueError(
                    f"{source}: row {number} has no column 'masks', one for each curve"
                )
            rows.append(row)
            courses.append(courses_of(row.masks))
    masks, pictures = [row.mask for row in rows], [row.image for row in rows]
    return grouper.fit(masks, courses, pictures=pictures, progress=advance)


def dice(
    found: Shaped[np.ndarray, "rows cols"], truth: Shaped[np.ndarray, "rows cols"]
) -> list[float]:
    """Return the Dice of every true curve under the best one-to-one match of curves.

    >>> dice(np.array([[0, 2, 2, 1]]), np.array([[0, 1, 1, 1]]))
    [0.8]
    """
    some = np.flatnonzero((truth != 0) | (found != 0))  # the others are in no curve
    numbers, true = np.unique(truth.ravel()[some], return_inverse=True)
    others, own = np.unique(found.ravel()[some], return_inverse=True)
    shape = len(numbers), len(others)
    counts = np.bincount(true * shape[1] + own, minlength=shape[0] * shape[1]).reshape(shape)
    sizes = counts.sum(1)[:, None] + counts.sum(0)
    scores = (2 * counts / sizes)[np.ix_(numbers > 0, others > 0)]
    rows, cols = linear_sum_assignment(scores, maximize=True)
    best = np.zeros(len(scores))
    best[rows] = scores[rows, cols]
    return best.tolist()


def evaluate(
    source: str,
    grouper: CurveGrouper,
    column: str = "mask",
    limit: int | None = None,
    advance: Advance = lambda count: None,
    appearance: bool = False,
) -> Report:
    """Measure Dice, averaged over the curves of a set; rows below .98 are errors.

    ``right`` is the share of a set's rows with all curves above .95. Where a row says which pixels
    several curves share (``masks``), these are left out. The part of a row's name before "/" is its
    set; rows without names are one set, "all". With ``appearance`` the picture of a row counts as
    well as its mask; with the column "image" the mask is the ink that is found in its picture.
    ``explained`` is the share of ink that belongs to a curve.
    """
    if column not in COLUMNS:
        raise ValueError(f"column is one of {', '.join(COLUMNS)}, not {column!r}")
    watch, scored = Stopwatch(), []
    rows = islice(rows_of_kind(source, CurvesRow, "image of curves"), limit)
    while some := list(islice(rows, _BATCH)):
        names = [f"{source}: row {number}" for number, _ in enumerate(some, len(scored))]
        scored += scores_of(some, grouper, column, names, appearance, watch)
        advance(len(some))
    return curves_report(scored, watch.seconds, watch.compiling)


class Scored(NamedTuple):
    """How well a row was answered."""

    set: str
    dice: list[float]  # of each curve; none has a label where it is empty
    proved: bool
    explained: float  # share of the ink


def scores_of(
    rows: Sequence[CurvesRow],
    grouper: CurveGrouper,
    column: str,
    names: Sequence[str],
    appearance: bool = False,
    watch: Stopwatch | None = None,
) -> list[Scored]:
    """Score rows; the watch runs while they are answered."""
    masks = [mask_of(row, column, name) for row, name in zip(rows, names, strict=True)]
    pictures = None
    if appearance:
        pictures = [_image(row, name) for row, name in zip(rows, names, strict=True)]
    with watch or Stopwatch():
        answers = grouper.predict(masks, pictures)
        labels = [found.labels for found in answers]
    return [
        Scored(
            set_of(row),
            dice(*compared(own, row)) if row.labels.any() else [],
            found.whole_proof is not None,
            found.explained,
        )
        for row, found, own in zip(rows, answers, labels, strict=True)
    ]


def curves_report(scored: Iterable[Scored | str], seconds: float, compiling: float = 0.0) -> Report:
    """Report on the scores of all rows, or why one has none; see ``evaluate``."""
    figures: dict[str, list[list[float]]] = {}
    errors: list[int] = []
    skipped: dict[int, str] = {}
    grouped: list[Scored] = []
    answered = 0
    for number, one in enumerate(scored):
        if isinstance(one, str):
            skipped[number] = one
            continue
        grouped.append(one)
        if not one.dice:
            skipped[number] = "no curve has a label"
            continue
        answered += 1
        figures.setdefault(one.set, []).append(one.dice)
        if np.mean(one.dice) < _ENOUGH:
            errors.append(number)
    sets = sorted(figures.items())
    measured = {
        "dice": {name: float(np.mean(np.concatenate(rows_))) for name, rows_ in sets},
        "right": {name: float(np.mean([min(r) > _RIGHT for r in rows_])) for name, rows_ in sets},
        "proved": sum(one.proved for one in grouped) / max(len(grouped), 1),
        "explained": sum(one.explained for one in grouped) / max(len(grouped), 1),
    }
    return Report(measured, answered, seconds, tuple(errors), skipped, compiling=compiling)


def compared(
    found: Int[np.ndarray, "rows cols"], row: CurvesRow
) -> tuple[Shaped[np.ndarray, "rows cols"], Shaped[np.ndarray, "rows cols"]]:
    """The found and the true labels, without pixels that several curves share."""
    if row.masks is None:
        return found, row.labels
    one = row.masks.sum(0) <= 1
    return np.where(one, found, 0), np.where(one, row.labels, 0)


def set_of(row: CurvesRow) -> str:
    """The set that a row's name tells."""
    return row.name.split("/")[0] if row.name and "/" in row.name else "all"


def mask_of(row: CurvesRow, column: str, name: str) -> Bool[np.ndarray, "rows cols"]:
    """The mask of a row that is looked at."""
    found = getattr(row, column)
    if found is None:
        raise ValueError(f"{name} has no column {column!r}; use 'mask'")
    return find_ink(found, name=name).mask if column == "image" else found


def _image(row: CurvesRow, name: str) -> UInt8[np.ndarray, "rows cols 3"]:
    if row.image is None:
        raise ValueError(f"{name} has no column 'image'; leave appearance out")
    return row.image
