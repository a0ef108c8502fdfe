"""Crossing curves: which pixels belong to which, measured by Dice."""

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Shaped
from scipy.optimize import linear_sum_assignment

from mam.core.progress import Advance
from mam.data import CurvesRow
from mam.data.generate.curves import LEVELS, make_courses
from mam.tasks.report import Report
from mam.tasks.rows import rows_of_kind
from mam.vision.curves.strands.curve_grouper import CurveGrouper

COLUMNS = ("mask", "gaps")
# In hard images a third of the strands are slivers of hidden curves or noise. Learning from them as
# well changes the figures by no more than chance.
_LEARNED_FROM = ("easy", "medium")
_ENOUGH = 0.98  # Dice below which a row counts as an error
_RIGHT = 0.95  # Dice above which a curve counts as right
_BATCH = 16  # rows read and answered at a time


def fit(
    grouper: CurveGrouper, count: int, seed: int = 0, advance: Advance = lambda count: None
) -> CurveGrouper:
    """Learn from ``count`` generated images, easy and medium in turn."""
    if count < 1:
        raise ValueError(f"count {count}: curves are learned from at least one image")
    levels = [LEVELS[_LEARNED_FROM[row % len(_LEARNED_FROM)]] for row in range(count)]
    made = [make_courses(level, seed, row) for row, level in enumerate(levels)]
    images, courses = [row.mask for row, _ in made], [known for _, known in made]
    return grouper.fit(images, courses, progress=advance)


def dice(
    found: Shaped[np.ndarray, "rows cols"], truth: Shaped[np.ndarray, "rows cols"]
) -> list[float]:
    """Return the Dice of every true curve under the best one-to-one match of curves.

    >>> dice(np.array([[0, 2, 2, 1]]), np.array([[0, 1, 1, 1]]))
    [0.8]
    """
    numbers, true = np.unique(truth, return_inverse=True)
    others, own = np.unique(found, return_inverse=True)
    counts = np.zeros((len(numbers), len(others)))
    np.add.at(counts, (true.ravel(), own.ravel()), 1)
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
) -> Report:
    """Measure Dice, averaged over the curves of a set; rows below .98 are errors.

    ``right`` is the share of a set's rows with all curves above .95. Where a row says which pixels
    several curves share (``masks``), these are left out. The part of a row's name before "/" is its
    set; rows without names are one set, "all".
    """
    if column not in COLUMNS:
        raise ValueError(f"column is one of {', '.join(COLUMNS)}, not {column!r}")
    seconds, scored = 0.0, []
    rows = islice(rows_of_kind(source, CurvesRow, "image of curves"), limit)
    while some := list(islice(rows, _BATCH)):
        names = [f"{source}: row {number}" for number, _ in enumerate(some, len(scored))]
        found, spent = scores_of(some, grouper, column, names)
        scored += found
        seconds += spent
        advance(len(some))
    return curves_report(scored, seconds)


class Scored(NamedTuple):
    """How well a row was answered."""

    set: str
    dice: list[float]  # of each curve; none has a label where it is empty
    proved: bool


def scores_of(
    rows: Sequence[CurvesRow], grouper: CurveGrouper, column: str, names: Sequence[str]
) -> tuple[list[Scored], float]:
    """Score rows; also the seconds that the answers took."""
    masks = [_mask(row, column, name) for row, name in zip(rows, names, strict=True)]
    begin = time.perf_counter()
    answers = grouper.predict(masks)
    labels = [found.labels for found in answers]
    spent = time.perf_counter() - begin
    return [
        Scored(
            _set_of(row),
            dice(*_compared(own, row)) if row.labels.any() else [],
            found.proof is not None,
        )
        for row, found, own in zip(rows, answers, labels, strict=True)
    ], spent


def curves_report(scored: Iterable[Scored], seconds: float) -> Report:
    """Report on the scores of all rows; see ``evaluate``."""
    figures: dict[str, list[list[float]]] = {}
    errors: list[int] = []
    skipped: dict[int, str] = {}
    done = proved = 0
    for done, one in enumerate(scored, 1):
        proved += one.proved
        if not one.dice:
            skipped[done - 1] = "no curve has a label"
            continue
        figures.setdefault(one.set, []).append(one.dice)
        if np.mean(one.dice) < _ENOUGH:
            errors.append(done - 1)
    sets = sorted(figures.items())
    measured = {
        "dice": {name: float(np.mean(np.concatenate(rows_))) for name, rows_ in sets},
        "right": {name: float(np.mean([min(r) > _RIGHT for r in rows_])) for name, rows_ in sets},
        "proved": proved / max(done, 1),
    }
    return Report(measured, done - len(skipped), seconds, tuple(errors), skipped)


def _compared(
    found: Int[np.ndarray, "rows cols"], row: CurvesRow
) -> tuple[Shaped[np.ndarray, "rows cols"], Shaped[np.ndarray, "rows cols"]]:
    """The found and the true labels, without pixels that several curves share."""
    if row.masks is None:
        return found, row.labels
    one = row.masks.sum(0) <= 1
    return np.where(one, found, 0), np.where(one, row.labels, 0)


def _set_of(row: CurvesRow) -> str:
    return row.name.split("/")[0] if row.name and "/" in row.name else "all"


def _mask(row: CurvesRow, column: str, name: str) -> Bool[np.ndarray, "rows cols"]:
    found = row.mask if column == "mask" else row.gaps
    if found is None:
        raise ValueError(f"{name} has no column {column!r}; use 'mask'")
    return found
