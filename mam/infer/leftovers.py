"""The components that elimination leaves over, as graphs of their own.

Everything outside such a component is known: fixed by evidence, or solved. It stays in the graph
as variables with one possible state, so that the factors need not change.
"""

from dataclasses import dataclass

import numpy as np

from mam.factors import Ragged
from mam.graph import FactorGraph, Scores, VariableGroup
from mam.infer.connected import number_components
from mam.infer.solved_components import SolvedComponents


@dataclass(frozen=True)
class Rest:
    """A component, or several that share a factor, as a graph."""

    graph: FactorGraph
    evidence: dict[str, np.ndarray]
    variables: np.ndarray  # the union's number of each variable of the graph
    free: np.ndarray  # which of them are to be decided
    owner: int  # the graph of the batch
    order: np.ndarray | None = None  # of the variables, for sweeps


def leftovers(
    found: SolvedComponents, scores: tuple[Scores, ...], whole: bool = False
) -> list[Rest]:
    """Return every component that is not solved; with ``whole`` those of a graph together."""
    union, solved = found.union, found.solved
    free = np.flatnonzero(~solved)
    if not len(free):
        return []
    label = _by_graph(found) if whole else _joined(found)
    counts = zip(*np.unique(union.states, return_counts=True), strict=True)
    known = {int(n): np.zeros((int(count), int(n))) for n, count in counts}
    place = np.zeros(len(union.states), np.int64)
    for n in known:
        place[union.states == n] = np.arange(len(known[n]))
    for some in scores:
        known[some.values.shape[1]][place[some.variables]] = some.values
    owner, scopes = union.instance, [group.factors.scopes() for group in union.sets]
    # Every factor with an open variable belongs to one component.
    owners = [_owner(some, label, ~solved) for some in scopes]
    in_order = free[np.argsort(label[free], kind="stable")]
    ends = np.cumsum(np.bincount(label[free]))[:-1]
    result = []
    for one, mine in enumerate(np.split(in_order, ends)):
        rows = [np.flatnonzero(own == one) for own in owners]
        result.append(_rest(found, mine, rows, scopes, int(owner[mine[0]]), known, place))
    return result


def _owner(scopes: Ragged, label: np.ndarray, open_: np.ndarray) -> np.ndarray:
    """The component of each factor, -1 where nothing of it is left over."""
    owner = np.full(len(scopes), -1)
    mine = open_[scopes.values]
    owner[scopes.row_of_value[mine]] = label[scopes.values[mine]]
    return owner


def _by_graph(found: SolvedComponents) -> np.ndarray:
    """Number the graphs in which something is left over."""
    owner = found.union.instance
    return np.unique(np.where(found.solved, -1, owner), return_inverse=True)[1] - int(
        found.solved.any()
    )


def _joined(found: SolvedComponents) -> np.ndarray:
    """Number the components that are left over; those that share a factor are one."""
    union = found.union
    pairs = []
    for group in union.sets:
        scopes = group.factors.scopes()
        open_ = ~found.solved[scopes.values]
        values, rows = scopes.values[open_], scopes.row_of_value[open_]
        first = np.searchsorted(rows, rows)
        pairs.append(np.stack([values[first], values], 1))
    return number_components(~found.solved, pairs)


def _rest(
    found: SolvedComponents,
    mine: np.ndarray,
    chosen: list[np.ndarray],
    scopes: list[Ragged],
    owner: int,
    known: dict[int, np.ndarray],
    place: np.ndarray,
) -> Rest:
    union = found.union
    needed = [some.take(rows).values for some, rows in zip(scopes, chosen, strict=True)]
    variables = np.unique(np.concatenate([mine, *needed]))
    variables = variables[np.argsort(union.states[variables], kind="stable")]
    taken = np.zeros(len(union.states), bool)
    taken[mine] = True
    number = np.full(len(union.states), -1)
    number[variables] = np.arange(len(variables))
    states = union.states[variables]
    groups, evidence = [], {}
    for n in np.unique(states):
        own = variables[states == n]
        name = f"x{n}"
        groups.append(VariableGroup(name, (len(own),), int(n), int((states < n).sum())))
        certain = np.where(np.arange(n) == found.values[own][:, None], 0.0, -np.inf)
        evidence[name] = np.where(taken[own][:, None], known[int(n)][place[own]], certain)
    factors = tuple(
        (f"{i}", group.factors.take(rows, number))
        for i, (group, rows) in enumerate(zip(union.sets, chosen, strict=True))
        if len(rows)
    )
    return Rest(FactorGraph(tuple(groups), factors), evidence, variables, taken[variables], owner)
