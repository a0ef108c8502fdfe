r"""Lines of a chart that is printed in several pens, one for each line: a model of every pen.

Where no line turns back along columns, the line of a pen is in one run of ink in every column, or
has not begun, or has ended; it does so once. With a variable for each column, whose states are the
runs of it and *before* and *after* the line, a pen scores

.. math::
    \sum_c e_c(r_c) - J \sum_c [r_c, r_{c+1} \text{ do not touch}]
    - B \sum_c [\text{it begins or ends}]

where e says whether the pen is seen in a run. This is a chain, and its best answer is exact. Which
line passes where others cross it or hide it follows from what is seen of it elsewhere.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import Table
from mam.graph import GraphBuilder
from mam.infer import solve
from mam.vision.curves.strands.appearance import SeenPicture
from mam.vision.curves.strands.ink_runs import InkRuns, find_runs, middle_line
from mam.vision.curves.strands.pens import find_pens, see_pens
from mam.vision.curves.strands.strands import Strands, joined_strands

_SEEN = 0.5  # what a column scores in which a pen is seen
_HIDDEN = -0.1  # where another pen is
_UNSEEN = -0.05  # where nothing is: between dashes
_JUMP = 30.0  # J
_BEGIN = 6.0  # B
_NEVER = -1e3
_WIDE = 1.5  # pens: in a taller run a line lies where its colour is
_EXPLAINED = 0.95  # of the ink: with less, some lines have no pen of their own
_SURE = 0.5  # of the columns of a line in which its pen must be seen
_SHORTEST = 3  # columns


class _Evidence(NamedTuple):
    """What is seen of pens in runs."""

    score: Float[np.ndarray, "pens runs"]
    top: Float[np.ndarray, "pens runs"]  # the rows of a run that a pen has
    bottom: Float[np.ndarray, "pens runs"]


def find_pen_lines(
    ink: Bool[np.ndarray, "rows cols"], strands: Strands, picture: SeenPicture
) -> Strands | None:
    """The line of every pen as a strand; None unless these explain the ink."""
    pens = find_pens(strands, picture)
    if len(pens) < 2:
        return None
    runs, pen = find_runs(ink), 2 * float(np.mean(strands.radius))
    seen = _seen_in(runs, ink, pens, picture, pen)
    chosen = _chosen(runs, seen.score)
    if not _explain(runs, seen, chosen):
        return None
    lines: Strands | None = None
    for number, own in enumerate(chosen):
        run = own[own >= 0]
        if len(run) < _SHORTEST:
            continue
        points = middle_line(runs.col[run], seen.top[number, run], seen.bottom[number, run], pen)
        line = _strand(points, pen)
        lines = line if lines is None else joined_strands(lines, line)
    return lines


def _seen_in(
    runs: InkRuns,
    ink: Bool[np.ndarray, "rows cols"],
    pens: Float[np.ndarray, "pens hues"],
    picture: SeenPicture,
    pen: float,
) -> _Evidence:
    """Look for every pen in every run."""
    places = np.argwhere(ink.T)[:, ::-1]  # run after run
    match, visible = see_pens(pens, places, picture)
    height = runs.bottom - runs.top + 1
    first = np.cumsum(height) - height
    best = np.maximum.reduceat(match, first, axis=1)
    some = np.maximum.reduceat(visible, first)
    hidden = np.where(best.max(0) > 0.5, _HIDDEN, _UNSEEN)
    score = np.where(some, np.maximum(_SEEN * (2 * best - 1), hidden), _UNSEEN)
    number = np.repeat(np.arange(len(runs)), height)
    row = places[:, 0].astype(float)
    mine = (match >= match.max(0)) & (match >= best[:, number] / 2) & (match > 0.3)
    tall = height > _WIDE * pen
    low = np.minimum.reduceat(np.where(mine, row, np.inf), first, axis=1)
    high = np.maximum.reduceat(np.where(mine, row, -np.inf), first, axis=1)
    part = tall & (low <= high)
    low, high = np.where(part, low, 0.0), np.where(part, high, 0.0)
    centre = (low + high) / 2
    reach = np.maximum(high - low, pen - 1) / 2
    top = np.where(part, np.maximum(centre - reach, runs.top), runs.top)
    bottom = np.where(part, np.minimum(centre + reach, runs.bottom), runs.bottom)
    return _Evidence(score, top, bottom)


def _chosen(runs: InkRuns, score: Float[np.ndarray, "pens runs"]) -> Int[np.ndarray, "pens cols"]:
    """The run of every pen in every column, -1 where it is absent: the best answers of chains."""
    start = int(runs.col.min())
    col = runs.col - start
    count = np.bincount(col)
    most = int(count.max())
    place = np.arange(len(col)) - (np.cumsum(count) - count)[col]
    run = np.full((len(count), most + 2), -1)  # the last two: it is still absent, or again
    run[col, place] = np.arange(len(col))
    absent = np.arange(most + 2) >= most
    evidence = np.where(run >= 0, score[:, run], np.where(absent, 0.0, _NEVER))
    builder = GraphBuilder()
    builder.variables("run", evidence.shape[:2], states=most + 2)
    first = np.arange(len(score) * len(count)).reshape(len(score), -1)
    scopes = np.stack([first[:, :-1].ravel(), first[:, 1:].ravel()], 1)
    tables = np.tile(_passing(runs, run), (len(score), 1, 1))
    builder.add("passing", Table.of(scopes, tables))
    found = np.asarray(solve(builder.build(), {"run": evidence})["run"])
    return run[np.arange(len(count)), found.reshape(len(score), -1)]


def _passing(
    runs: InkRuns, run: Int[np.ndarray, "cols states"]
) -> Float[np.ndarray, "_ states states"]:
    """What it scores to pass from a run of a column to one of the next."""
    top, bottom = np.append(runs.top, 0)[run], np.append(runs.bottom, 0)[run]
    touch = top[:-1, :, None] <= bottom[1:, None] + 1
    touch &= bottom[:-1, :, None] >= top[1:, None] - 1
    found = np.where(touch, 0.0, -_JUMP)
    found[:, -2:, :] = found[:, :, -2:] = _NEVER
    found[:, -2, :-2] = found[:, :-2, -1] = -_BEGIN
    found[:, -2, -2] = found[:, -1, -1] = 0.0
    return found


def _explain(runs: InkRuns, seen: _Evidence, chosen: Int[np.ndarray, "pens cols"]) -> bool:
    """Whether the lines of pens take all ink, and are seen along most of their way."""
    height = runs.bottom - runs.top + 1.0
    taken = np.zeros(len(runs))
    for number, own in enumerate(chosen):
        run = own[own >= 0]
        if len(run) and float((seen.score[number, run] > 0).mean()) < _SURE:
            return False
        taken[run] += seen.bottom[number, run] - seen.top[number, run] + 1
    return float(np.minimum(taken, height).sum()) >= _EXPLAINED * float(height.sum())


def _strand(points: Float[np.ndarray, "points 2"], pen: float) -> Strands:
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    along = np.append(0.0, np.cumsum(steps))
    return Strands(
        points=points,
        strand=np.zeros(len(points), np.int64),
        along=along,
        radius=np.full(len(points), pen / 2),
        length=along[-1:],
        width=np.array([pen]),
        node=np.full((1, 2), -1),
        spare=np.zeros(len(points)),
    )
