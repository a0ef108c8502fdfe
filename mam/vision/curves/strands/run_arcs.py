"""Arcs of runs: ink that goes on from column to column, until it parts, meets other ink or ends.

What touches between two columns is an *event*: some arcs come in from the left and some go out to
the right. One that comes in alone and goes out alone is no event, but the same arc. Lines without
a turn along columns, as those of charts, pass every event in the order in which they come: where
two change places, they do so inside an arc that both share.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.vision.curves.strands.ink_runs import InkRuns
from mam.vision.curves.strands.skeleton_cut import borders

_SPIKE = 3.0  # pens: ink that goes farther is no corner of a line


@dataclass(frozen=True, eq=False)
class RunArcs:
    """Arcs, and the events between them."""

    arc: Int[np.ndarray, " runs"]
    left: Int[np.ndarray, " arcs"]  # the event at which each begins
    right: Int[np.ndarray, " arcs"]  # that at which it ends
    order: Int[np.ndarray, " runs"]  # the runs, arc after arc, each from left to right

    def __len__(self) -> int:
        return len(self.left)

    def runs_of(self, arc: int) -> Int[np.ndarray, " _"]:
        """The runs of an arc, from left to right."""
        first, last = self._borders
        return self.order[first[arc] : last[arc] + 1]

    @cached_property
    def _borders(self) -> tuple[np.ndarray, np.ndarray]:
        return borders(self.arc[self.order], len(self))

    @cached_property
    def lengths(self) -> Int[np.ndarray, " arcs"]:
        """How many columns each is long."""
        return np.bincount(self.arc, minlength=len(self))

    @cached_property
    def tips(self) -> Bool[np.ndarray, "arcs 2"]:
        """Whether nothing comes before an arc, and nothing after it."""
        before, after = np.isin(self.left, self.right), np.isin(self.right, self.left)
        return ~np.stack([before, after], 1)

    @cached_property
    def events(self) -> list[tuple[list[int], list[int]]]:
        """The arcs that come to each event and those that leave it, from top to bottom."""
        coming: dict[int, list[int]] = {}
        leaving: dict[int, list[int]] = {}
        first, last = self._borders
        for side, found, border in (
            (self.right, coming, last),
            (self.left, leaving, first),
        ):
            # Runs are numbered from top to bottom in each column.
            for arc in np.argsort(self.order[border], kind="stable").tolist():
                found.setdefault(int(side[arc]), []).append(arc)
        return [(coming[event], leaving[event]) for event in coming if event in leaving]


def find_arcs(runs: InkRuns) -> RunArcs:
    """Follow runs from column to column.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> ink = np.array([[1, 1, 0, 0, 1], [0, 0, 1, 1, 0], [1, 1, 0, 0, 0]], bool)
    >>> arcs = find_arcs(find_runs(ink))
    >>> arcs.arc.tolist(), arcs.events
    ([0, 1, 0, 1, 2, 2, 2], [([0, 1], [2])])
    """
    count = len(runs)
    first, second = touching(runs)
    # A run has a left side, 2 n, and a right side, 2 n + 1; sides that touch share an event.
    graph = coo_array((np.ones(len(first)), (2 * first + 1, 2 * second)), (2 * count, 2 * count))
    event = connected_components(graph, directed=False)[1]
    coming = np.bincount(event[1::2], minlength=2 * count)[event[1::2]]
    leaving = np.bincount(event[::2], minlength=2 * count)[event[1::2]]
    alone = ((coming == 1) & (leaving == 1))[first]
    same = coo_array((np.ones(alone.sum()), (first[alone], second[alone])), (count, count))
    arc = connected_components(same, directed=False)[1]
    order = np.argsort(arc, kind="stable")
    begin, stop = (order[side] for side in borders(arc[order], int(arc.max(initial=-1)) + 1))
    return RunArcs(arc, event[2 * begin], event[2 * stop + 1], order)


def touching(runs: InkRuns) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """Pairs of runs of following columns that touch, at corners too.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> [side.tolist() for side in touching(find_runs(np.array([[1, 0], [0, 1], [1, 0]], bool)))]
    [[0, 1], [2, 2]]
    """
    high = int(runs.bottom.max(initial=0)) + 3
    low = np.searchsorted(runs.col * high + runs.bottom, (runs.col + 1) * high + runs.top - 1)
    below = (runs.col + 1) * high + runs.bottom + 1
    stop = np.searchsorted(runs.col * high + runs.top, below, side="right")
    many = np.maximum(stop - low, 0)
    first = np.repeat(np.arange(len(runs)), many)
    within = np.arange(len(first)) - np.repeat(np.cumsum(many) - many, many)
    return first, low[first] + within


def has_spikes(runs: InkRuns, arcs: RunArcs, pen: float) -> bool:
    """Whether ink goes far both up and down from a run of one arc: a line crosses it upright, or
    stands there alone.

    >>> from mam.vision.curves.strands.ink_runs import find_runs
    >>> ink = np.zeros((60, 60), bool)
    >>> ink[28:32, 5:55] = True
    >>> runs = find_runs(ink)
    >>> has_spikes(runs, find_arcs(runs), 4.0)
    False
    >>> ink[5:55, 28:32] = True
    >>> runs = find_runs(ink)
    >>> has_spikes(runs, find_arcs(runs), 4.0)
    True
    """
    aside = int(np.ceil(pen)) + 1
    arc, here = arcs.arc[arcs.order], np.arange(len(runs))
    before, after = np.maximum(here - aside, 0), np.minimum(here + aside, len(runs) - 1)
    inner = (arc[before] == arc) & (arc[after] == arc)
    top, bottom = runs.top[arcs.order], runs.bottom[arcs.order]
    up = np.minimum(top[before], top[after]) - top
    down = bottom - np.maximum(bottom[before], bottom[after])
    alone = (arcs.tips.all(1) & (arcs.lengths <= 2 * aside))[arc]
    upright = alone & (bottom - top > 2 * _SPIKE * pen)
    return bool((upright | (inner & (np.minimum(up, down) > _SPIKE * pen))).any())
