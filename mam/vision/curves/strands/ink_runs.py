"""Runs of ink: what is ON in a column without a break, and lines that pass from run to run."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.line_forms import cut_into

_TALL = 3.0  # pens of a run that may have a peak
_BEYOND = 2.0  # px beyond half a pen that a run goes on where its line has a peak


@dataclass(frozen=True, eq=False)
class InkRuns:
    """Runs of ink, column after column and from top to bottom."""

    col: Int[np.ndarray, " runs"]
    top: Int[np.ndarray, " runs"]
    bottom: Int[np.ndarray, " runs"]  # the last row of it

    def __len__(self) -> int:
        return len(self.col)


def find_runs(ink: Bool[np.ndarray, "rows cols"]) -> InkRuns:
    """Find the runs of every column.

    >>> found = find_runs(np.array([[1, 0], [1, 1], [0, 0], [1, 1]], bool))
    >>> found.col.tolist(), found.top.tolist(), found.bottom.tolist()
    ([0, 0, 1, 1], [0, 3, 1, 3], [1, 3, 1, 3])
    """
    change = np.diff(np.pad(ink.T, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    col, top = np.nonzero(change == 1)
    return InkRuns(col, top, np.nonzero(change == -1)[1] - 1)


def middle_line(
    col: Int[np.ndarray, " columns"],
    top: Float[np.ndarray, " columns"],
    bottom: Float[np.ndarray, " columns"],
    pen: float,
) -> Float[np.ndarray, "points 2"]:
    """The line through runs of following columns, a point a pixel; the pen's width is known.

    Between two columns it passes the middle of what their runs have in common. Where a tall run
    goes on beyond that on one side, the line has a peak there, or its end.

    >>> middle_line(np.arange(3), np.array([4.0, 4, 5]), np.array([6.0, 6, 7]), 3.0).tolist()
    [[5.0, 0.0], [5.0, 0.5], [5.5, 1.5], [6.0, 2.0]]
    """
    meet = (np.maximum(top[1:], top[:-1]) + np.minimum(bottom[1:], bottom[:-1])) / 2
    centre = (top + bottom) / 2
    enters = np.append(meet[:1] if len(meet) else centre[:1], meet)
    leaves = np.append(meet, meet[-1:] if len(meet) else centre[:1])
    half = pen * np.hypot(1.0, leaves - enters) / 2
    high = np.minimum(enters, leaves) - top > half + _BEYOND
    low = bottom - np.maximum(enters, leaves) > half + _BEYOND
    peak = (high ^ low) & (bottom - top > 2 * _TALL * half)
    rows = np.stack([np.where(high, top + pen / 2, bottom - pen / 2), leaves], 1)
    columns = np.stack([col, col + 0.5], 1).astype(float)
    rows[-1, 1], columns[-1, 1] = rows[-1, 0] if peak[-1] else centre[-1], col[-1]
    kept = np.stack([peak, np.ones_like(peak)], 1)
    places = np.stack([rows[kept], columns[kept]], 1)
    if not peak[0]:
        places = np.concatenate([[[centre[0], col[0]]], places])
    return cut_into(places, np.rint(np.linalg.norm(np.diff(places, axis=0), axis=1)))
