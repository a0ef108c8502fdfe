"""A batch of graphs as one: variables and factors renumbered and stacked, all on the host."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors import KINDS, Factors
from mam.factors.numeric_limits import check_magnitude, magnitudes
from mam.graph.evidence import Evidence, evidence_of_each, group_scores
from mam.graph.model import FactorGraph


@dataclass(frozen=True)
class FactorSet:
    """Factors of one kind and shape, stacked over the graphs of a batch."""

    factors: Factors
    parts: tuple[tuple[int, str, int, int], ...]  # instance, name, first factor, first row
    instance: np.ndarray  # of each factor
    edge: np.ndarray  # number of each factor's first edge inside its own graph
    arity: np.ndarray  # of each factor

    def owner(self, factor: int) -> tuple[int, str, int]:
        """Return instance, group name and index in the group of a factor."""
        starts = [part[2] for part in self.parts]
        part = self.parts[int(np.searchsorted(starts, factor, "right")) - 1]
        return part[0], part[1], factor - part[2]

    def rows(self, name: str) -> list[slice]:
        """Return where the potentials of a factor group stand, for each graph that has it."""
        ends = [part[3] for part in self.parts[1:]] + [len(self.factors.potentials)]
        both = zip(self.parts, ends, strict=True)
        return [slice(part[3], end) for part, end in both if part[1] == name]


@dataclass(frozen=True)
class GraphUnion:
    """The disjoint union of some graphs."""

    graphs: tuple[FactorGraph, ...]
    sets: tuple[FactorSet, ...]
    states: np.ndarray  # of each variable of the union
    starts: np.ndarray  # first variable of each graph

    @classmethod
    def of(cls, graphs: FactorGraph | Sequence[FactorGraph]) -> "GraphUnion":
        """Put graphs beside each other.

        >>> from mam.graph import GraphBuilder
        >>> builder = GraphBuilder()
        >>> _ = builder.variables("x", 3)
        >>> GraphUnion.of([builder.build()] * 2).starts.tolist()
        [0, 3]
        """
        batch = (graphs,) if isinstance(graphs, FactorGraph) else tuple(graphs)
        if not batch:
            raise ValueError("a batch needs at least one graph")
        starts = np.cumsum([0, *(len(graph.states) for graph in batch)])
        states = np.concatenate([graph.states for graph in batch])
        return cls(batch, tuple(_stack_sets(batch, starts)), states, starts[:-1])

    @property
    def instance(self) -> np.ndarray:
        """Which graph each variable belongs to."""
        sizes = np.diff([*self.starts, len(self.states)])
        return np.repeat(np.arange(len(self.graphs)), sizes)

    def check_potentials(self, dtype: type) -> None:
        """Refuse log potentials that messages of this type cannot carry."""
        for group in self.sets:
            size = magnitudes(group.factors.potentials)
            row = int(size.max(1, initial=0).argmax()) if len(size) else 0
            name = next(part[1] for part in reversed(group.parts) if part[3] <= row)
            check_magnitude(size, dtype, f"factor group {name!r} has a log potential")

    def label(self, variable: int) -> str:
        """The name of a variable in its own graph."""
        graph = int(np.searchsorted(self.starts, variable, "right")) - 1
        return self.graphs[graph].label(int(variable - self.starts[graph]))


@dataclass(frozen=True)
class Scores:
    """Log scores of the states of some variables of a union, by their number of states."""

    variables: np.ndarray
    values: np.ndarray  # (variables, states)


def union_scores(
    union: GraphUnion, evidence: Evidence | Sequence[Evidence] | None, dtype: type = np.float64
) -> tuple[Scores, ...]:
    """Return the evidence of all graphs; variables without any have none here."""
    found: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {}
    given = evidence_of_each(len(union.graphs), evidence)
    for start, graph, values in zip(union.starts, union.graphs, given, strict=True):
        for name, array in values.items():
            group = graph.group(name)
            if group.size:
                ids = int(start) + group.ids.ravel()
                scores = group_scores(group, array, dtype)
                found.setdefault(group.states, []).append((ids, scores))
    return tuple(
        Scores(np.concatenate([ids for ids, _ in some]), np.concatenate([s for _, s in some]))
        for _, some in sorted(found.items())
    )


def _stack_sets(batch: tuple[FactorGraph, ...], starts: np.ndarray) -> list[FactorSet]:
    """Group the factors of all graphs by kind and key, in a fixed order, and stack them."""
    found: dict[tuple, list[tuple[int, str, Factors, np.ndarray]]] = {}
    for instance, graph in enumerate(batch):
        edge = 0
        for name, factors in graph.factors:
            arities = factors.arities()
            first = edge + np.cumsum(arities) - arities
            edge += int(arities.sum())
            if len(factors):
                key = (KINDS.index(type(factors)), factors.key(graph.states))
                moved = factors.moved(int(starts[instance]))
                found.setdefault(key, []).append((instance, name, moved, first))
    sets = []
    for key in sorted(found, key=repr):
        members = found[key]
        lengths = [len(factors) for _, _, factors, _ in members]
        rows = [len(factors.potentials) for _, _, factors, _ in members]
        firsts = np.cumsum([0, *lengths])
        first_rows = np.cumsum([0, *rows])
        parts = tuple(
            (instance, name, int(firsts[i]), int(first_rows[i]))
            for i, (instance, name, _, _) in enumerate(members)
        )
        stacked = (
            members[0][2]
            if len(members) == 1
            else type(members[0][2]).stack([factors for _, _, factors, _ in members])
        )
        instance = np.repeat([member[0] for member in members], lengths)
        edges = np.concatenate([member[3] for member in members])
        sets.append(FactorSet(stacked, parts, instance, edges, stacked.arities()))
    return sets
