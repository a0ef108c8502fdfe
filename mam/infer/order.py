"""A good order of elimination for one component, found slowly.

The largest table decides the cost, and the order decides the tables. Two orders compete: the
variable whose leaving joins the fewest strangers goes first (min-fill), or a front sweeps over the
graph. Nothing here looks at a potential.
"""

import heapq
import itertools
import math
from dataclasses import dataclass

import numpy as np

from mam.core.memory import TooLarge

# Tables up to this size take no time, and no other order is tried.
GOOD_ENOUGH = 1 << 12
# Counting the strangers among more neighbours than this takes long; all their pairs are counted.
_MOST_COUNTED = 64

EliminationOrder = list[tuple[int, set[int]]]  # each variable, and its neighbours when it leaves


def best_order(
    near: dict[int, set[int]], states: np.ndarray, largest: float | int
) -> EliminationOrder:
    """Choose an order; refuse with ``TooLarge`` if a table would have more entries than allowed.

    >>> ring = {0: {1, 3}, 1: {0, 2}, 2: {1, 3}, 3: {0, 2}}
    >>> max(len(others) for _, others in best_order(ring, np.full(4, 2), 64))
    2
    """
    sizes = states.astype(float).tolist()
    plan, refusal = None, TooLarge("there is no order")
    for heuristic in (_min_fill, _sweep):
        net = _Net({v: set(others) for v, others in near.items()}, sizes, largest, [])
        try:
            heuristic(net)
        except TooLarge as error:
            refusal = error
            continue
        plan = net if plan is None or net.total() < plan.total() else plan
        if plan.total() <= GOOD_ENOUGH:
            break
    if plan is None:
        raise refusal
    return plan.steps


@dataclass(frozen=True)
class _Net:
    """Who is joined with whom while variables leave."""

    near: dict[int, set[int]]
    sizes: list[float]
    largest: int | float
    steps: list[tuple[int, set[int]]]

    def entries(self, v: int) -> float:
        """The size of the table if this variable left now."""
        # A table over more than 128 variables is out of reach, however large it is.
        around = itertools.islice(self.near[v], 128)
        return self.sizes[v] * math.prod(self.sizes[u] for u in around)

    def cost(self, v: int) -> tuple[bool, int, float, int]:
        """What to keep low: too large a table, strangers joined, entries; ties by number."""
        around, entries = self.near[v], self.entries(v)
        if entries > self.largest or len(around) > _MOST_COUNTED:
            return entries > self.largest, len(around) * (len(around) - 1), entries, v
        return False, sum(len(around - self.near[u]) - 1 for u in around), entries, v

    def take_out(self, v: int) -> list[tuple[int, set[int]]]:
        """Join the neighbours of a variable with each other; return who met which strangers."""
        entries = self.entries(v)
        if entries > self.largest:
            raise TooLarge(
                f"elimination reaches width {len(self.near[v])} and a table of "
                f"{entries:.3g} entries, above {self.largest:.3g}"
            )
        around = self.near.pop(v)
        self.steps.append((v, around))
        met = []
        for u in around:
            strangers = around - self.near[u] - {u}
            self.near[u].discard(v)
            self.near[u] |= strangers
            met.append((u, strangers))
        return met

    def total(self) -> float:
        """The entries of all tables."""
        return sum(self.sizes[v] * math.prod(self.sizes[u] for u in n) for v, n in self.steps)


def _min_fill(net: _Net) -> None:
    """Take out the variable first whose leaving joins the fewest strangers."""
    costs = {v: net.cost(v) for v in net.near}
    waiting = list(costs.values())
    heapq.heapify(waiting)
    while waiting:
        cost = heapq.heappop(waiting)
        v = cost[-1]
        if costs.get(v) != cost:
            continue
        del costs[v]
        touched = set(net.near[v])
        for u, strangers in net.take_out(v):
            for w in strangers:
                touched |= net.near[u] & net.near[w]
        for u in touched - {v}:
            costs[u] = net.cost(u)
            heapq.heappush(waiting, costs[u])


def _sweep(net: _Net) -> None:
    """Take out the variables breadth first, from a far end of each component.

    On a grid the tables then hold one front of it, which min-fill often misses.
    """
    order: list[int] = []
    seen: set[int] = set()
    for start in sorted(net.near, key=lambda v: (len(net.near[v]), v)):
        if start not in seen:
            component = _breadth_first(net.near, _breadth_first(net.near, start)[-1])
            seen.update(component)
            order += component
    for v in order:
        net.take_out(v)


def _breadth_first(near: dict[int, set[int]], start: int) -> list[int]:
    order, seen = [start], {start}
    for v in order:
        fresh = sorted(near[v] - seen, key=lambda u: (len(near[u]), u))
        order += fresh
        seen.update(fresh)
    return order
