r"""How tall runs of ink are, against the pen that drew the lines in them.

A line of slope :math:`s` drawn by a pen of width p makes runs about :math:`p \sqrt{1 + s^2}` tall.
So the width :math:`h / \sqrt{1 + s^2}` of a run of height h is that of the pen where one line is
alone, or several lie on top of each other; what is more is *spare*: there the uppermost line lies
along the upper border and the lowest along the lower one. The slope is the smaller one of both
borders, where these differ; the pen's width is the most usual one among strokes of about the same
direction, as drawing programs round.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.vision.curves.strands.along_strands import by_direction
from mam.vision.curves.strands.ink_runs import InkRuns
from mam.vision.curves.strands.run_arcs import RunArcs

_AROUND = 3  # columns on either side that tell the slope of a border,
_AVERAGED = 1  # and whose widths are averaged: lines of single pixels are a staircase
_ALIKE = 0.5  # slopes of both borders that differ by less are averaged
_GRID, _BLUR = 0.1, 0.35  # px: widths among which the most usual one is looked for
_THICK = 4.5  # px: wider pens show by the skeleton of their lines how these go
_LONG = 8  # columns of an arc whose runs tell whether a pen drew the ink
# Of the pen: spare of the tenth run of a hundred, and of the fiftieth; in bundles, where hardly a
# line is alone, of the tenth and the twenty-fifth.
_NARROW, _USUAL = -0.5, 0.2
_NARROW_BUNDLE, _USUAL_BUNDLE = -0.25, 0.1


@dataclass(frozen=True, eq=False)
class RunWidths:
    """Widths of runs against the pen."""

    spare: Float[np.ndarray, " runs"]  # px, across the line
    upper: Float[np.ndarray, " runs"]  # px, along the column: what the line at the upper border has
    lower: Float[np.ndarray, " runs"]
    pen: float  # px

    def by_pen(self, arcs: RunArcs) -> bool:
        """Whether a thin pen of one width drew nearly all ink: a brush is not one."""
        return self._mostly(arcs, 50, (_NARROW, _USUAL))

    def in_bundles(self, arcs: RunArcs) -> bool:
        """The same of lines that are hardly ever alone; some brushes look like that, too."""
        return self._mostly(arcs, 25, (_NARROW_BUNDLE, _USUAL_BUNDLE))

    def _mostly(self, arcs: RunArcs, share: int, limits: tuple[float, float]) -> bool:
        some = self.spare[arcs.lengths[arcs.arc] >= _LONG] / self.pen
        if not len(some) or self.pen > _THICK:
            return False
        low, most = np.percentile(some, [10, share])
        return bool(low >= limits[0] and most <= limits[1])


def run_widths(runs: InkRuns, arcs: RunArcs) -> RunWidths:
    """Measure runs.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> from mam.vision.curves.strands.run_arcs import find_arcs
    >>> ink = np.zeros((20, 60), bool)
    >>> ink[8:11], ink[11:13, 40:] = True, True
    >>> runs = find_runs(ink)
    >>> found = run_widths(runs, find_arcs(runs))
    >>> round(found.pen, 1), found.spare[[10, 50]].round(1).tolist()
    (3.0, [0.0, 2.0])
    """
    order, count = arcs.order, len(runs)
    arc, here = arcs.arc[order], np.arange(count)
    first, last = np.searchsorted(arc, arc), np.searchsorted(arc, arc, side="right") - 1
    low, high = np.maximum(here - _AROUND, first), np.minimum(here + _AROUND, last)
    span = np.maximum(high - low, 1)
    top, bottom = runs.top[order].astype(float), runs.bottom[order].astype(float)
    upper, lower = (top[high] - top[low]) / span, (bottom[high] - bottom[low]) / span
    less = np.where(np.abs(upper) < np.abs(lower), upper, lower)
    slope = np.where(np.abs(upper - lower) < _ALIKE, (upper + lower) / 2, less)
    width = (bottom - top + 1) / np.hypot(1, slope)
    total = np.append(0.0, np.cumsum(width))
    low, high = np.maximum(here - _AVERAGED, first), np.minimum(here + _AVERAGED, last)
    width = (total[high + 1] - total[low]) / (high + 1 - low)
    pen = by_direction(width, np.arctan(np.abs(slope)), _most_usual)
    back = np.argsort(order)
    return RunWidths(
        (width - pen)[back],
        (pen * np.hypot(1, upper))[back],
        (pen * np.hypot(1, lower))[back],
        float(np.median(pen)) if count else 1.0,
    )


def _most_usual(width: Float[np.ndarray, " runs"]) -> float:
    if not len(width):
        return 1.0
    counts = np.bincount(np.rint(width / _GRID).astype(int))
    grid = _GRID * np.arange(int(1 / _GRID), max(np.percentile(width, 90) / _GRID, 15) + 1)
    there = np.flatnonzero(counts)
    near = np.exp(-(((_GRID * there[:, None] - grid) / _BLUR) ** 2) / 2)
    return float(grid[(counts[there] @ near).argmax()])
