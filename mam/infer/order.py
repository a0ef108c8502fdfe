"""In which order variables leave when a model is solved by elimination, and what it costs.

The largest table decides the cost, and the order decides the tables. Two orders compete: the
variable whose leaving joins the fewest strangers goes first (min-fill), or a front sweeps over the
graph. Nothing here looks at a potential.
"""

import heapq
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.core.memory import TooLarge
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence
from mam.infer.exact import unary_scores

# 32 MB in double precision.
LARGEST_TABLE = 1 << 22
# All tables together: some seconds of work, and 128 MB of kept choices for binary variables.
_MOST_ENTRIES = 1 << 28
# Tables up to this size take no time, and no other order is tried.
_GOOD_ENOUGH = 1 << 12
# Counting the strangers among more neighbours than this takes long; all their pairs are counted.
_MOST_COUNTED = 64


@dataclass(frozen=True)
class Elimination:
    """An order of elimination of the variables that have more than one possible state."""

    order: tuple[int, ...]
    # The variables of each step's table: its own, then its neighbours in the order they leave.
    scopes: tuple[tuple[int, ...], ...]
    width: int  # neighbours of a variable when it leaves, at most
    largest: float  # entries of the largest table
    entries: float  # of all tables together


def plan_elimination(
    graph: FactorGraph, evidence: Evidence | None = None, *, largest: int | float = LARGEST_TABLE
) -> Elimination:
    """Choose an order; refuse with ``TooLarge`` if a table would have more entries than allowed.

    With ``largest=math.inf`` nothing is refused, which may take long for large factors.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 4)
    >>> ring = np.stack([x, np.roll(x, 1)], 1)
    >>> builder.add("ring", Pairwise.of(ring, np.eye(2)))
    >>> plan_elimination(builder.build()).width
    2
    >>> plan_elimination(builder.build(), {"x": [np.inf, 0, 0, 0]}).width
    1
    """
    return order_of(graph, possible_states(unary_scores(graph, evidence or {})), largest)


def possible_states(unary: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return the states of each variable that its evidence does not forbid."""
    return [np.flatnonzero(np.isfinite(scores)) for scores in unary]


def order_of(
    graph: FactorGraph, possible: Sequence[np.ndarray], largest: int | float
) -> Elimination:
    """Plan as ``plan_elimination`` does, given the possible states of each variable."""
    sizes = [float(len(states)) for states in possible]
    near = _neighbours(graph, sizes, largest)
    plan, refusal = None, TooLarge("there is no order")
    for heuristic in (_min_fill, _sweep):
        net = _Net({v: set(others) for v, others in near.items()}, sizes, largest, [])
        try:
            heuristic(net)
        except TooLarge as error:
            refusal = error
            continue
        found = net.plan()
        plan = found if plan is None or found.entries < plan.entries else plan
        if plan.largest <= _GOOD_ENOUGH:
            break
    if plan is None:
        raise refusal
    if plan.entries > _MOST_ENTRIES and math.isfinite(largest):
        raise TooLarge(
            f"elimination at width {plan.width} needs {plan.entries:.3g} entries in all tables "
            f"together, above {_MOST_ENTRIES:.3g}"
        )
    return plan


def _neighbours(
    graph: FactorGraph, sizes: list[float], largest: int | float
) -> dict[int, set[int]]:
    """Return for each variable with a choice those that it shares a factor with."""
    near: dict[int, set[int]] = {v: set() for v, size in enumerate(sizes) if size > 1}
    for name, factors in graph.factors:
        scopes = factors.scopes()
        for i in range(len(scopes)):
            scope = [v for v in scopes[i].tolist() if v in near]
            entries = math.prod(sizes[v] for v in scope)
            if entries > largest:
                raise TooLarge(
                    f"factor {name}[{i}] over {len(scope)} variables needs a table of "
                    f"{entries:.3g} entries, above {largest:.3g}"
                )
            for v in scope:
                near[v].update(scope)
    for v, others in near.items():
        others.discard(v)
    return near


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

    def plan(self) -> Elimination:
        """Return the order in which the variables left."""
        rank = {variable: i for i, (variable, _) in enumerate(self.steps)}
        scopes = tuple((v, *sorted(around, key=rank.__getitem__)) for v, around in self.steps)
        tables = [math.prod(self.sizes[v] for v in scope) for scope in scopes]
        width = max((len(scope) - 1 for scope in scopes), default=0)
        largest, entries = max(tables, default=1.0), sum(tables, 0.0)
        return Elimination(tuple(rank), scopes, width, largest, entries)


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
