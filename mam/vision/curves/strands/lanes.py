"""Lanes: the stretches of lines of a chart between the places where they may change places.

An arc of runs with one line is a *lane*. In one that several lines share, ink that is wider than
the pen shows the uppermost and the lowest of them, which are lanes too; where it is as narrow as
the pen they are on top of each other. Such a *pinch* is the only place where lines can cross; where
ink is wide all along, its narrowest place is taken for one as well. Lanes that meet at events keep
their order, from top to bottom, and so are joined without any choice.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.vision.curves.strands.ink_runs import InkRuns
from mam.vision.curves.strands.run_arcs import RunArcs
from mam.vision.curves.strands.run_widths import RunWidths

_WIDE = 0.5  # px of spare ink from which on two lines are told apart,
_FOR_MORE = 4.0  # times that for each line of three and more: two of them may lie on each other
_SHORT = 12  # columns: shorter wide stretches between two pinches tell nothing,
_SHORT_BESIDE = 3  # and these where lanes go on anyway
_SPECK, _SPECK_SPARE = 3, 0.6  # columns and px of a narrow stretch that is chance
_APART = 12  # columns of an arc that is wide all along; in a shorter one lines may cross,
_MAYBE, _AROUND = 2.5, 4  # and in a longer one where it has no more px to spare, within columns,
_DIP = 0.7  # in part of an arc only if it has so many px more on both sides
_HOLE_COLS, _HOLE_PIXELS = 6, 24  # smaller holes in the ink are between lines that cross


class Lane(NamedTuple):
    """A lane, or a pinch if it has several lines."""

    run: Int[np.ndarray, " cols"]
    col: Int[np.ndarray, " cols"]
    top: Float[np.ndarray, " cols"]
    bottom: Float[np.ndarray, " cols"]
    lines: int

    def height(self, side: int) -> float:
        """The row at which it begins (0) or ends (1)."""
        at = -1 if side else 0
        return float(self.top[at] + self.bottom[at]) / 2


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes and pinches of a picture, and the nodes at which they meet."""

    each: list[Lane]
    node: Int[np.ndarray, "lanes 2"]  # at the left and the right end, -1 for none
    widths: RunWidths

    def __len__(self) -> int:
        return len(self.each)

    @property
    def pinch(self) -> Bool[np.ndarray, " lanes"]:
        """Which are pinches."""
        return np.array([lane.lines > 1 for lane in self.each], bool)


def without_small_holes(ink: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """Fill the small holes that lines leave where they cross at a small angle.

    >>> ink = np.ones((9, 9), bool)
    >>> ink[4, 3:6] = False
    >>> bool(without_small_holes(ink).all())
    True
    """
    number = np.zeros(ink.shape, np.int32)
    ndimage.label(~ink, output=number)
    small = np.bincount(number.ravel()) <= _HOLE_PIXELS
    rows, cols = ink.shape
    filled = ink.copy()
    for hole, (high, wide) in enumerate(ndimage.find_objects(number), 1):
        inner = high.start > 0 and wide.start > 0 and high.stop < rows and wide.stop < cols
        if small[hole] and inner and wide.stop - wide.start <= _HOLE_COLS:
            filled[high, wide] |= number[high, wide] == hole
    return filled


def find_lanes(
    runs: InkRuns, arcs: RunArcs, widths: RunWidths, counts: Int[np.ndarray, " arcs"]
) -> Lanes:
    """Cut arcs into lanes and pinches, and join lanes that go on as the same line.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> from mam.vision.curves.strands.run_arcs import find_arcs
    >>> from mam.vision.curves.strands.run_widths import run_widths
    >>> ink = np.zeros((60, 100), bool)
    >>> for col in range(100):
    ...     ink[col // 2 : col // 2 + 3, col] = ink[50 - col // 2 : 53 - col // 2, col] = True
    >>> runs = find_runs(ink)
    >>> arcs = find_arcs(runs)
    >>> found = find_lanes(runs, arcs, run_widths(runs, arcs), np.array([1, 1, 2, 1, 1]))
    >>> found.pinch.tolist(), found.node.tolist()
    ([False, False, True, False, False], [[-1, 0], [-1, 0], [0, 1], [1, -1], [1, -1]])
    """
    pieces: list[Lane] = []
    ends: list[tuple[list[int], list[int]]] = []  # of each arc, one entry a line
    seams: list[tuple[int, int]] = []
    for arc in range(len(arcs)):
        own = [
            _numbered(pieces, section)
            for section in _sections(runs, arcs, widths, arc, int(counts[arc]))
        ]
        ends.append((own[0], own[-1]))
        for before, after in pairwise(own):
            seams += zip(before, after, strict=True)
    for coming, leaving in arcs.events:
        before = [piece for arc in coming for piece in ends[arc][1]]
        after = [piece for arc in leaving for piece in ends[arc][0]]
        seams += _in_order(pieces, before, after)
    return _joined(pieces, seams, widths)


def _numbered(pieces: list[Lane], section: list[Lane]) -> list[int]:
    """Add the lanes of a section; their numbers, each as often as it has lines."""
    first = len(pieces)
    pieces += section
    return [first + k for k, lane in enumerate(section) for _ in range(lane.lines)]


def _sections(
    runs: InkRuns, arcs: RunArcs, widths: RunWidths, arc: int, lines: int
) -> Iterator[list[Lane]]:
    """The lanes or the pinch of each stretch of an arc, from left to right."""
    run = arcs.runs_of(arc)
    if lines == 1:
        yield [_lane(runs, run)]
        return
    wide = _wide(widths.spare[run], lines)
    cuts = [0, *(np.flatnonzero(np.diff(wide)) + 1).tolist(), len(run)]
    for start, stop in pairwise(cuts):
        own = run[start:stop]
        tip = (start == 0 and arcs.tips[arc, 0]) or (stop == len(run) and arcs.tips[arc, 1])
        # Where all lines begin or end together it is not asked which lies where.
        if tip or wide[start]:
            yield _beside(runs, widths, own, lines)
        else:
            yield [_lane(runs, own)._replace(lines=lines)]


def _lane(runs: InkRuns, run: Int[np.ndarray, " _"]) -> Lane:
    return Lane(run, runs.col[run], runs.top[run].astype(float), runs.bottom[run].astype(float), 1)


def _beside(runs: InkRuns, widths: RunWidths, run: Int[np.ndarray, " _"], lines: int) -> list[Lane]:
    """Lanes at equal distances from the upper border to the lower one."""
    whole = _lane(runs, run)
    upper, lower = widths.upper[run], widths.lower[run]
    found = []
    for number in range(lines):
        share = number / (lines - 1)
        tall = (1 - share) * upper + share * lower
        top = whole.top + share * np.maximum(whole.bottom - whole.top + 1 - tall, 0.0)
        bottom = np.minimum(top + tall - 1, whole.bottom)
        found.append(whole._replace(top=top, bottom=np.maximum(bottom, top)))
    return found


def _wide(spare: Float[np.ndarray, " cols"], lines: int) -> Bool[np.ndarray, " cols"]:
    """Where the ink of an arc is wide enough for all of its lines, with a pinch where they may
    cross.
    """
    count = len(spare)
    wide = spare > _WIDE * (1 if lines == 2 else _FOR_MORE * (lines - 1))
    if wide.all() and count < _APART:
        wide[:] = False
    for start, stop in _stretches(wide):
        own = spare[start:stop]
        whole = stop - start == count
        depth = own.max() - own if whole else _depth(own)
        least = int(depth.argmax())
        if own[least] < _MAYBE and (whole or depth[least] >= _DIP):
            wide[max(start + least - _AROUND, 0) : start + least + _AROUND + 1] = False
    for start, stop in _stretches(~wide):
        inner = start > 0 and stop < count
        if inner and stop - start < _SPECK and spare[start:stop].min() > _SPECK_SPARE:
            wide[start:stop] = True
    for start, stop in _stretches(wide):
        if stop - start < (_SHORT if start > 0 and stop < count else _SHORT_BESIDE):
            wide[start:stop] = False
    return wide


def _depth(values: Float[np.ndarray, " _"]) -> Float[np.ndarray, " _"]:
    """By how much each value is below the largest ones on both sides of it.

    >>> _depth(np.array([1.0, 4.0, 2.0, 3.0, 1.0])).tolist()
    [0.0, 0.0, 1.0, 0.0, 0.0]
    """
    left, right = np.maximum.accumulate(values), np.maximum.accumulate(values[::-1])[::-1]
    return np.minimum(left, right) - values


def _stretches(flag: Bool[np.ndarray, " _"]) -> list[list[int]]:
    """Where each run of ON values begins, and where it stops."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flag.astype(np.int8), [0]])))
    return edges.reshape(-1, 2).tolist()


def _in_order(pieces: list[Lane], before: list[int], after: list[int]) -> list[tuple[int, int]]:
    """Who goes on as whom at an event; where a line begins or ends, as little as can be moves."""
    left, right = [pieces[k].height(1) for k in before], [pieces[k].height(0) for k in after]
    if len(before) > len(after):
        return list(zip([before[k] for k in _aligned(right, left)], after, strict=True))
    return list(zip(before, [after[k] for k in _aligned(left, right)], strict=True))


def _aligned(few: list[float], many: list[float]) -> list[int]:
    """For each of a few heights one of many, in the same order, so that all are as near as can be.

    (scipy's assignment would do; loading it takes longer than most pictures.)

    >>> _aligned([3.0, 9.0], [0.0, 4.0, 8.0])
    [1, 2]
    """
    cost = np.full((len(few) + 1, len(many) + 1), np.inf)
    cost[0] = 0.0
    for i, height in enumerate(few, 1):
        for j in range(i, len(many) + 1):
            taken = cost[i - 1, j - 1] + abs(height - many[j - 1])
            cost[i, j] = min(cost[i, j - 1], taken)
    chosen, j = [], len(many)
    for i in range(len(few), 0, -1):
        while cost[i, j] == cost[i, j - 1]:
            j -= 1
        j -= 1
        chosen.append(j)
    return chosen[::-1]


def _joined(pieces: list[Lane], seams: list[tuple[int, int]], widths: RunWidths) -> Lanes:
    """Lay lanes behind each other where no pinch is between; number the nodes at pinches."""
    pinch = np.array([lane.lines > 1 for lane in pieces], bool)
    seam = np.array(seams, np.int64).reshape(-1, 2)
    choice = pinch[seam].any(1)
    following = dict(seam[~choice].tolist())
    sides = 2 * seam[choice] + [1, 0]
    graph = coo_array((np.ones(len(sides)), tuple(sides.T)), (2 * len(pieces),) * 2)
    group = connected_components(graph, directed=False)[1]
    node = np.full(2 * len(pieces), -1)
    node[sides] = np.unique(group[sides], return_inverse=True)[1].reshape(sides.shape)
    inner, each, both = set(following.values()), [], []
    for number, lane in enumerate(pieces):
        if number in inner:
            continue
        chain = [number]
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        run, col, top, bottom = (
            np.concatenate(some) for some in zip(*(pieces[k][:4] for k in chain), strict=True)
        )
        each.append(Lane(run, col, top, bottom, lane.lines))
        both.append([node[2 * number], node[2 * chain[-1] + 1]])
    return Lanes(each, np.array(both, np.int64).reshape(-1, 2), widths)
