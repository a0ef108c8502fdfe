"""Routes over strands that several curves share.

Where two curves run on top of each other, the mask shows one strand between two nodes. It belongs
to neither of them alone: each curve enters at one node and leaves at the other. A *route* leads
from node to node over strands that are shared; any end at its start may continue in
any end at its stop.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.strands import Strands

MOST_STRANDS = 4  # of a route


@dataclass(frozen=True, eq=False)
class Routes:
    """Pairs of ends that a route joins, each by its shortest, the smaller number first."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    over: Int[np.ndarray, "pairs _"]  # strands from the first to the second, then -1
    length: Float[np.ndarray, " pairs"]  # px of these strands


def find_routes(strands: Strands, shared: Bool[np.ndarray, " strands"]) -> Routes:
    """Find the shortest route between any two ends, over strands that are shared."""
    strand = np.flatnonzero(shared)
    node, length = strands.node[strand], np.repeat(strands.length[strand], 2)
    step = _Steps(node.ravel(), node[:, ::-1].ravel(), np.repeat(strand, 2), length)
    ends_at, steps_at = _Index.of(strands.node.ravel()), _Index.of(step.start)
    start, stop, total = step.start, step.stop, step.length
    over = np.full((len(start), MOST_STRANDS), -1)
    over[:, 0] = step.strand
    found = []
    for level in range(MOST_STRANDS):
        found.append(_ends_of(ends_at, start, stop, over, total))
        if level + 1 == MOST_STRANDS:
            break
        row, next_ = steps_at.joined(stop)
        kept = (over[row] != step.strand[next_, None]).all(1) & (start[row] != step.stop[next_])
        row, next_ = row[kept], next_[kept]
        over = over[row]
        over[:, level + 1] = step.strand[next_]
        start, stop, total = start[row], step.stop[next_], total[row] + step.length[next_]
    return _shortest(*(np.concatenate(values) for values in zip(*found, strict=True)))


@dataclass(frozen=True, eq=False)
class _Steps:
    """Strands that are shared, in both directions."""

    start: Int[np.ndarray, " steps"]
    stop: Int[np.ndarray, " steps"]
    strand: Int[np.ndarray, " steps"]
    length: Float[np.ndarray, " steps"]


@dataclass(frozen=True, eq=False)
class _Index:
    """The places in an array at which each number stands."""

    order: Int[np.ndarray, " entries"]
    values: Int[np.ndarray, " entries"]  # sorted

    @classmethod
    def of(cls, values: Int[np.ndarray, " entries"]) -> "_Index":
        order = np.argsort(values, kind="stable")
        return cls(order, values[order])

    def joined(
        self, wanted: Int[np.ndarray, " rows"]
    ) -> tuple[Int[np.ndarray, " _"], Int[np.ndarray, " _"]]:
        """Each wanted number with every place at which it stands: rows and places."""
        begin = np.searchsorted(self.values, wanted)
        count = np.searchsorted(self.values, wanted, side="right") - begin
        row = np.repeat(np.arange(len(wanted)), count)
        within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        return row, self.order[begin[row] + within]


def _ends_of(
    ends_at: _Index,
    start: Int[np.ndarray, " routes"],
    stop: Int[np.ndarray, " routes"],
    over: Int[np.ndarray, "routes _"],
    length: Float[np.ndarray, " routes"],
) -> tuple[np.ndarray, ...]:
    """All pairs of an end where a route starts and one where it stops."""
    row, first = ends_at.joined(start)
    also, second = ends_at.joined(stop[row])
    row, first = row[also], first[also]
    apart = (over[row] != first[:, None] // 2).all(1) & (over[row] != second[:, None] // 2).all(1)
    kept = apart & (first < second)  # the way back has them the other way round
    return first[kept], second[kept], over[row[kept]], length[row[kept]]


def _shortest(
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
    over: Int[np.ndarray, "pairs _"],
    length: Float[np.ndarray, " pairs"],
) -> Routes:
    order = np.lexsort((length, second, first))
    first, second, over, length = first[order], second[order], over[order], length[order]
    new = np.append(True, (np.diff(first) != 0) | (np.diff(second) != 0))[: len(first)]
    return Routes(first[new], second[new], over[new], length[new])
