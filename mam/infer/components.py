"""A batch of graphs as independent components, and which of them elimination can solve.

Evidence and hard constraints cut the graphs; what is left falls into components. Each of them is
eliminated if its tables stay small enough, whatever the others are like.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from mam.core.memory import TooLarge
from mam.factors import Ragged
from mam.factors.network import Tables
from mam.graph import GraphUnion, Scores
from mam.infer.condition import Conditioned, condition
from mam.infer.connected import FactorComponents, number_components
from mam.infer.network_of_tables import write_network
from mam.infer.order import GOOD_ENOUGH, EliminationOrder, best_order
from mam.infer.rounds import NEVER, Round, Rounds, plan_rounds
from mam.infer.twins import Twins, find_twins

# Entries of the largest table, and of all tables that are kept: 8 MB and 512 MB.
LARGEST_TABLE = 1 << 20
_MOST_ENTRIES = 1 << 26


class _Effort(NamedTuple):
    """What planning may take."""

    growth: float  # of the pairs of neighbours while variables leave
    planned: int  # variables of components that get a second, slower planner when the first fails


_THOROUGH = _Effort(1e9, 5000)
_BRIEF = _Effort(1.2, 500)


@dataclass(frozen=True)
class Split:
    """Independent components of a batch of graphs, and an order that eliminates some of them."""

    union: GraphUnion
    network: Conditioned
    component: np.ndarray  # of each variable, auxiliary ones too; -1 where it is fixed
    graph: np.ndarray  # of each variable, likewise
    exact: np.ndarray  # whether each component is eliminated by the plan
    plan: Rounds
    twins: Twins  # equal components, of which the plan has the first
    refusal: str  # why the first of the others is not; "" if all are

    @property
    def solved(self) -> np.ndarray:
        """Which variables of the graphs are fixed, or in a component that is eliminated."""
        own = self.component[: len(self.union.states)]
        return np.append(self.exact, True)[own]

    @property
    def graph_of_component(self) -> np.ndarray:
        """Which graph each component belongs to."""
        graph = np.zeros(len(self.exact), np.int64)
        free = self.component >= 0
        graph[self.component[free]] = self.graph[free]
        return graph


def split(
    union: GraphUnion,
    scores: Sequence[Scores],
    largest: float | int = LARGEST_TABLE,
    thorough: bool = True,
) -> Split:
    """Cut the graphs at what is certain, find the components, and plan their elimination.

    Without ``thorough`` a component that does not soon look easy is left over: then planning takes
    no longer than a few iterations of messages.
    """
    union.check_potentials(np.float64)
    whole, unwritten = write_network(union, scores)
    large = [factors.scopes() for factors in unwritten]
    network = condition(whole)
    free = network.fixed < 0
    pairs = [_stars(some.scopes) for some in network.tables]
    pairs += [np.stack([s.values, s.values[s.offsets[s.row_of_value]]], 1) for s in large]
    component = number_components(free, pairs)
    graph = _graph_of(union, whole.tables, len(network.states))
    blocked = np.zeros(int(component.max(initial=-1)) + 1, bool)
    if not thorough:
        blocked |= _wide(network.tables, component, len(blocked))
    for scopes in large:
        own = component[scopes.values]
        blocked[own[own >= 0]] = True
    twins = find_twins(network.tables, component, network.states, blocked)
    chosen = np.where(np.append(twins.alone & ~blocked, False)[component], component, -1)
    allowed = np.full(len(blocked), float(largest))
    for some in network.tables:
        # A table that is there already costs nothing more.
        np.maximum.at(allowed, component[some.scopes[:, 0]], float(np.prod(some.shape)))
    plan, refusal = _plan(network, chosen, twins.place, allowed, _THOROUGH if thorough else _BRIEF)
    refusal = "a factor's table is too large to write down" if large else refusal
    exact = ~blocked
    exact[chosen[(chosen >= 0) & (plan.left > len(plan.rounds))]] = False
    plan, exact = _affordable(plan, chosen, exact)
    return Split(union, network, component, graph, exact[twins.first], plan, twins, refusal)


def _wide(tables: Sequence[Tables], component: np.ndarray, count: int) -> np.ndarray:
    variables = np.bincount(component[component >= 0], minlength=count)
    factors, edges = np.zeros((2, count), np.int64)
    for some in tables:
        own = np.bincount(component[some.scopes[:, 0]], minlength=count)
        factors, edges = factors + own, edges + some.scopes.shape[1] * own
    return FactorComponents(component, variables, factors, edges).wide


def _stars(scopes: np.ndarray) -> np.ndarray:
    """Pairs that join the variables of each table."""
    first = np.repeat(scopes[:, 0], scopes.shape[1])
    return np.stack([first, scopes.ravel()], 1)


def _graph_of(union: GraphUnion, tables: Sequence[Tables], size: int) -> np.ndarray:
    """The graph of each variable; an auxiliary one belongs to that of its factor."""
    if len(union.graphs) == 1:
        return np.zeros(size, np.int64)
    joined = number_components(np.ones(size, bool), [_stars(some.scopes) for some in tables])
    known = np.zeros(int(joined.max(initial=-1)) + 1, np.int64)
    known[joined[: len(union.states)]] = union.instance
    return known[joined]


def _plan(
    network: Conditioned,
    component: np.ndarray,
    place: np.ndarray,
    largest: np.ndarray,
    effort: _Effort,
) -> tuple[Rounds, str]:
    """Plan all components together; those with large tables get a second, slower planner."""
    scopes = [some.scopes for some in network.tables if some.scopes.shape[1] > 1]
    plan = plan_rounds(network.states, scopes, component, place, largest, effort.growth)
    refusal, wanted = "", component >= 0
    fine = np.minimum(GOOD_ENOUGH, np.append(largest, 0.0)[component])
    poor = np.unique(component[wanted & (plan.entries > fine)])
    size = np.bincount(component[wanted], minlength=1)
    orders = []
    for one in poor[size[poor] <= effort.planned]:
        mine = component == one
        near = _neighbours(mine, scopes)
        try:
            order = best_order(near, network.states, float(largest[one]))
        except TooLarge as error:
            refusal = refusal or f"a component of {size[one]} variables: {error}"
            continue
        tables = np.array([float(network.states[[v, *n]].prod(dtype=float)) for v, n in order])
        if tables.sum() < plan.entries[mine].sum():
            orders.append((mine, order, tables))
    still = poor[size[poor] > effort.planned]
    if len(still) and np.isinf(plan.entries[np.isin(component, still)]).any() and not refusal:
        refusal = f"a component of {size[still].max()} variables grows too large tables"
    return _replanned(plan, orders), refusal


def _neighbours(mine: np.ndarray, scopes: Sequence[np.ndarray]) -> dict[int, set[int]]:
    near: dict[int, set[int]] = {int(v): set() for v in np.flatnonzero(mine)}
    for some in scopes:
        for scope in some[mine[some[:, 0]]].tolist():
            for v in scope:
                near[v].update(scope)
    for v, others in near.items():
        others.discard(v)
    return near


def _replanned(
    plan: Rounds, orders: list[tuple[np.ndarray, EliminationOrder, np.ndarray]]
) -> Rounds:
    """Take some components out of a plan and put orders for them in its place."""
    if not orders:
        return plan
    moved = np.any([mine for mine, _, _ in orders], 0)
    rounds = list(_without(plan, moved).rounds)
    left, entries = plan.left.copy(), plan.entries.copy()
    together: dict[int, EliminationOrder] = {}
    # Variables that stay are past any last round.
    for _, order, tables in orders:
        for step, height, size in zip(order, _heights(order), tables, strict=True):
            left[step[0]], entries[step[0]] = len(rounds) + height, size
            together.setdefault(height, []).append(step)
    for _, now in sorted(together.items()):
        near = [np.array(sorted(others), np.int64) for _, others in now]
        rounds.append(Round(np.array([v for v, _ in now]), Ragged.of(near)))
    return Rounds(tuple(rounds), left, entries)


def _heights(order: EliminationOrder) -> list[int]:
    """The earliest round in which each variable can leave, with the tables of a sequential order.

    It must wait for those that hand a table on to it. Neighbours never leave together: one of
    them waits for the other.

    >>> _heights([(0, {1}), (2, {1}), (1, {3}), (3, set())])
    [0, 0, 1, 2]
    """
    turn = {variable: number for number, (variable, _) in enumerate(order)}
    height = [0] * len(order)
    for number, (_, others) in enumerate(order):
        if others:
            heir = min(turn[other] for other in others)
            height[heir] = max(height[heir], height[number] + 1)
    return height


def _without(plan: Rounds, gone: np.ndarray) -> Rounds:
    """The plan without some variables, which none of its other variables is joined with."""
    rounds = []
    for one in plan.rounds:
        keep = np.flatnonzero(~gone[one.variables])
        rounds.append(Round(one.variables[keep], one.neighbours.take(keep)))
    return replace(plan, rounds=tuple(rounds))


def _affordable(
    plan: Rounds, component: np.ndarray, exact: np.ndarray
) -> tuple[Rounds, np.ndarray]:
    """Leave out the components that are not exact, and the most expensive beyond the budget."""
    free = component >= 0
    cost = np.bincount(component[free], np.minimum(plan.entries[free], 1e30), len(exact))
    cost = np.where(exact, cost, 0.0)
    order = np.argsort(cost, kind="stable")
    kept = exact.copy()
    kept[order[np.cumsum(cost[order]) > _MOST_ENTRIES]] = False
    gone = np.zeros(len(component), bool)
    gone[free] = ~kept[component[free]]
    left = np.where(gone, NEVER, plan.left)
    return replace(_without(plan, gone), left=left), kept
