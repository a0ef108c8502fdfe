"""Graphs as cost networks: small tables only, with auxiliary variables for structured factors.

An exact solver wants every factor in a list of its configurations, but that of a Pattern or a large
Or is exponential. Auxiliary variables, determined by the others through hard tables, keep all
tables small and leave the score of every assignment as it is.
"""

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import singledispatch

import numpy as np

from mam.factors import Choice, Factors, Or, Pattern
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence
from mam.models.dense import evidence_scores

# Solvers take tables over up to this many variables whole, others as lists.
MOST_WHOLE = 3
# A variable that says which member of a list is ON meets each in a table of twice its states, so
# that tables grow with the square of the list: up to here they stay below 1 MB.
MOST_SELECTED = 256


@dataclass(frozen=True)
class Function:
    """Log potentials of the listed configurations of some variables; others are impossible."""

    scope: tuple[int, ...]
    cases: np.ndarray
    scores: np.ndarray

    def whole(self, states: list[int]) -> np.ndarray:
        """Return the table over all configurations, -inf where impossible."""
        table = np.full([states[v] for v in self.scope], -np.inf)
        table[tuple(self.cases.T)] = self.scores
        return table


@dataclass(frozen=True)
class Network:
    """Variables, those of the graph first, and functions over them."""

    states: list[int] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    @classmethod
    def of(cls, graph: FactorGraph, evidence: Evidence | None = None) -> "Network":
        """Write a graph with its evidence as a network."""
        network = cls(graph.states.tolist())
        for name, scores in evidence_scores(graph, evidence).items():
            for variable, row in zip(graph.ids(name).ravel(), scores, strict=True):
                if np.any(row != 0):
                    network.add((int(variable),), row)
        for _, factors in graph.factors:
            for i in range(len(factors)):
                encode(factors, i, graph.states, network)
        return network

    def variable(self, states: int) -> int:
        """Add an auxiliary variable."""
        self.states.append(states)
        return len(self.states) - 1

    def add(self, scope: tuple[int, ...], table: np.ndarray) -> None:
        """Add a function given by its whole table."""
        cases = np.argwhere(np.isfinite(table))
        self.functions.append(Function(scope, cases, table[tuple(cases.T)]))

    def demand(self, scope: tuple[int, ...], allowed: np.ndarray) -> None:
        """Add a hard constraint."""
        self.add(scope, np.where(allowed, 0.0, -np.inf))


@singledispatch
def encode(factors: Factors, factor: int, states: np.ndarray, network: Network) -> None:
    """Add one factor to a network; kinds that say nothing better are listed."""
    listing = factors.table(factor, states)
    scope = tuple(int(v) for v in listing.variables)
    network.functions.append(Function(scope, listing.configurations, listing.potentials))


@encode.register
def _encode_or(factors: Or, factor: int, states: np.ndarray, network: Network) -> None:
    """Join the parents two by two into one variable that says whether any is ON."""
    child = int(factors.child[factor])
    log_pi01, log_pi10 = factors.potentials[factors.row[factor]]
    waiting = deque(int(v) for v in factors.parents[factor])
    if not waiting:
        network.add((child,), np.array([0.0, log_pi10]))
        return
    a, b, either = np.indices((2, 2, 2))
    while len(waiting) > 1:
        joined = network.variable(2)
        scope = waiting.popleft(), waiting.popleft(), joined
        network.demand(scope, either == (a | b))
        waiting.append(joined)
    network.add((waiting[0], child), np.array([[0.0, log_pi10], [log_pi01, 0.0]]))


@encode.register
def _encode_choice(factors: Choice, factor: int, states: np.ndarray, network: Network) -> None:
    """A variable for the member that is ON; of a long list, for stretches of it first."""
    waiting = deque(int(v) for v in factors.members[factor])
    while len(waiting) > MOST_SELECTED:
        stretch = [waiting.popleft() for _ in range(MOST_SELECTED)]
        joined = network.variable(2)
        choices = np.arange(len(stretch) + 1)
        network.demand((_select(stretch, network), joined), (choices > 0)[:, None] == [False, True])
        waiting.append(joined)
    scores = np.zeros(len(waiting) + 1)
    scores[0] = factors.potentials[factors.row[factor], 0]
    network.add((_select(waiting, network),), scores)


@encode.register
def _encode_pattern(factors: Pattern, factor: int, states: np.ndarray, network: Network) -> None:
    """A variable for the pattern, and one a group for the member that is ON (0: none)."""
    rows = factors.patterns.dense()
    pattern = network.variable(len(rows))
    network.add((pattern,), factors.potentials[factors.row[factor]])
    network.demand(
        (pattern, int(factors.part[factor])), np.any(rows, axis=1, keepdims=True) == [False, True]
    )
    for k in range(factors.patterns.groups):
        members = factors.members[factor * factors.patterns.groups + k]
        choices = np.arange(len(members) + 1)
        network.demand((pattern, _select(members, network)), rows[:, k, None] == (choices > 0))


def _select(members: Iterable, network: Network) -> int:
    """Add a variable for the member that is ON, counted from 1; 0 says that none is."""
    listed = list(members)
    selected = network.variable(len(listed) + 1)
    choices = np.arange(len(listed) + 1)
    for j, member in enumerate(listed):
        network.demand((selected, int(member)), (choices == j + 1)[:, None] == [False, True])
    return selected
