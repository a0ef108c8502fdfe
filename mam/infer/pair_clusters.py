"""Pairwise models with variables for pairs, so that factors can agree on more than single states.

A cycle is cut into triangles from its first variable. For each of their sides i, j a variable
stands for both states at once, and each triangle is a table over its three sides. All tables are
hard or as they were, and the new variables follow from the old ones: every assignment scores what
it did.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mam.factors import Factors, Pairwise, Table
from mam.factors.reduce import every_configuration
from mam.graph import FactorGraph, VariableGroup
from mam.infer.cycles import Cycle, Pair

_PREFIX = "two of "  # names what is added here


@dataclass(frozen=True)
class PairModel:
    """A graph as tables of pairs and other factors."""

    graph: FactorGraph
    tables: Mapping[Pair, np.ndarray]
    others: tuple[tuple[str, Factors], ...]

    @classmethod
    def of(cls, graph: FactorGraph) -> "PairModel":
        """Add up all factors that join the same two variables."""
        tables: dict[Pair, np.ndarray] = {}
        others = []
        for name, factors in graph.factors:
            if not _joins_pairs(factors):
                others.append((name, factors))
                continue
            for i in range(len(factors)):
                listing = factors.table(i, graph.states)
                u, v = (int(x) for x in listing.variables)
                table = np.full((graph.states[u], graph.states[v]), -np.inf)
                table[tuple(listing.configurations.T)] = listing.potentials
                pair = (min(u, v), max(u, v))
                tables[pair] = tables.get(pair, 0.0) + (table if u < v else table.T)
        return cls(graph, tables, tuple(others))

    def with_clusters(self, cycles: Sequence[Cycle]) -> tuple[FactorGraph, tuple[Pair, ...]]:
        """Return the graph with the triangles of the cycles, and the pairs of its new variables."""
        triangles = sorted({t for cycle in cycles for t in _triangles(cycle)})
        sides = {pair for a, b, c in triangles for pair in ((a, b), (b, c), (a, c))}
        states, size = self.graph.states, len(self.graph.states)
        joint = {pair: int(states[pair[0]] * states[pair[1]]) for pair in sides}
        ordered = tuple(sorted(sides, key=lambda pair: (joint[pair], pair)))
        number = {pair: size + i for i, pair in enumerate(ordered)}
        groups = list(self.graph.variables)
        counts = np.array([joint[pair] for pair in ordered])
        for n in np.unique(counts):
            mine = np.flatnonzero(counts == n)
            groups.append(VariableGroup(f"{_PREFIX}{n}", (len(mine),), int(n), size + int(mine[0])))
        added = [*self._links(number), *_corners(triangles, number, states)]
        return FactorGraph(tuple(groups), (*self.others, *added)), ordered

    def _links(self, number: Mapping[Pair, int]) -> list[tuple[str, Factors]]:
        """The tables of the pairs, of those with a variable over that as well."""
        plain, linked = defaultdict(list), defaultdict(list)
        for pair, table in self.tables.items():
            (linked if pair in number else plain)[table.shape].append((pair, table))
        result: list[tuple[str, Factors]] = []
        for shape, some in plain.items():
            factors = Pairwise.of([pair for pair, _ in some], np.stack([t for _, t in some]))
            result.append((f"pairs {shape}", factors))
        for shape, some in linked.items():
            cases = every_configuration(shape)
            cases = np.concatenate([cases, np.arange(len(cases))[:, None]], 1)
            scopes = [(*pair, number[pair]) for pair, _ in some]
            scores = np.stack([table.ravel() for _, table in some])
            result.append((f"{_PREFIX}{shape}", Table.of(scopes, scores, configurations=cases)))
        return result


def with_values(values: np.ndarray, pairs: Sequence[Pair], states: np.ndarray) -> np.ndarray:
    """Return the states of all variables, those of pairs too."""
    if not pairs:
        return values
    first, second = np.array(pairs).T
    return np.concatenate([values, values[first] * states[second] + values[second]])


def _joins_pairs(factors: Factors) -> bool:
    return isinstance(factors, Pairwise) or (
        isinstance(factors, Table) and factors.variables.shape[1] == 2
    )


def _triangles(cycle: Cycle) -> list[tuple[int, int, int]]:
    found = []
    for one, other in pairwise(cycle[1:]):
        a, b, c = sorted((cycle[0], one, other))
        found.append((a, b, c))
    return found


def _corners(
    triangles: Sequence[tuple[int, int, int]], number: Mapping[Pair, int], states: np.ndarray
) -> list[tuple[str, Factors]]:
    """The three sides of a triangle mean the same three states."""
    by_shape = defaultdict(list)
    for a, b, c in triangles:
        scope = [number[a, b], number[b, c], number[a, c]]
        by_shape[tuple(states[[a, b, c]].tolist())].append(scope)
    result = []
    for shape, scopes in by_shape.items():
        x, y, z = every_configuration(shape).T
        cases = np.stack([x * shape[1] + y, y * shape[2] + z, x * shape[2] + z], 1)
        factors = Table.of(scopes, np.zeros(len(cases)), configurations=cases)
        result.append((f"{_PREFIX}three {shape}", factors))
    return result
