"""From graphs on the host to the padded wiring that the solvers run.

A batch of different graphs is their disjoint union: variables and factors are renumbered and
stacked, and each remembers its instance. All of it is array work; nothing loops over factors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from mam.core.growing import GrowingSizes
from mam.core.words import counted
from mam.factors import Padding
from mam.factors.base import check_potentials
from mam.graph.evidence import Evidence, evidence_of_each, group_scores
from mam.graph.layout import wire
from mam.graph.model import FactorGraph, unknown
from mam.graph.union import FactorSet, GraphUnion, Scores
from mam.graph.wiring import Wiring

# Edges of the smallest batches of a stream: up to here they share one shape.
_LEAST_GROWING = 1 << 10
_GRAPHS = "graphs"  # the label of the number of graphs among the sizes of arrays


@dataclass(frozen=True)
class CompiledGraph:
    """One graph or a batch of graphs, wired and padded."""

    graphs: tuple[FactorGraph, ...]
    wiring: Wiring
    sets: tuple[FactorSet, ...]
    factor_rows: tuple[np.ndarray, ...]  # for each block: which factor of its set, -1 is padding
    potentials: tuple[np.ndarray, ...]  # for each set, in double precision
    kind: np.ndarray  # class of each variable of the union
    position: np.ndarray  # place of each variable in its class
    starts: np.ndarray  # first variable of each graph in the union
    room: Mapping[str, int]

    def __repr__(self) -> str:
        variables = sum(len(graph.states) for graph in self.graphs)
        size = f"{counted(variables, 'variable')}, {counted(self.edges, 'edge')}"
        return f"<CompiledGraph: {counted(len(self.graphs), 'graph')}, {size}>"

    @property
    def edges(self) -> int:
        """The number of edges, without padding."""
        return sum(graph.edges for graph in self.graphs)

    def parameters(self, dtype: type = np.float32) -> tuple[np.ndarray, ...]:
        """Return the potentials in the given precision, refusing what it cannot carry."""
        self.union.check_potentials(dtype)
        return tuple(values.astype(dtype) for values in self.potentials)

    @property
    def union(self) -> GraphUnion:
        """The graphs of the batch as one, with the potentials that they have here."""
        sets = tuple(
            replace(group, factors=replace(group.factors, potentials=values))
            for group, values in zip(self.sets, self.potentials, strict=True)
        )
        states = np.concatenate([graph.states for graph in self.graphs])
        return GraphUnion(self.graphs, sets, states, self.starts)

    def unpacked(self, packed: Sequence[np.ndarray]) -> tuple[Scores, ...]:
        """Return packed scores per state by the numbers of the variables of the union."""
        found = []
        for kind, scores in enumerate(packed):
            variables = np.flatnonzero(self.kind == kind)
            found.append(Scores(variables, scores[self.position[variables]]))
        return tuple(found)

    def with_potentials(self, new: Mapping[str, Any]) -> "CompiledGraph":
        """Return the same structure with other log potentials for the named factor groups."""
        potentials = [values.copy() for values in self.potentials]
        for name, given in new.items():
            self.check_factor_group(name)
            values = check_potentials(given, f"factor group {name!r}")
            for target, group in zip(potentials, self.sets, strict=True):
                for rows in group.rows(name):
                    target[rows] = np.reshape(values, target[rows].shape)
        return replace(self, potentials=tuple(potentials))

    def check_factor_group(self, name: str) -> None:
        """Raise ValueError if there is no factor group of this name."""
        known = {part[1] for group in self.sets for part in group.parts}
        if name not in known:
            raise ValueError(unknown("factor group", name, sorted(known)))

    def gather(self, values: Sequence[np.ndarray]) -> np.ndarray:
        """Return per-class arrays as one array over the variables of the union."""
        result = np.zeros(len(self.kind), values[0].dtype if values else np.int64)
        for kind, array in enumerate(values):
            mine = self.kind == kind
            result[mine] = array[self.position[mine]]
        return result


def compile_graphs(
    graphs: FactorGraph | Sequence[FactorGraph],
    room: Mapping[str, int] | None = None,
    least: int = 1,
) -> CompiledGraph:
    """Wire a graph, or a batch of graphs as their disjoint union.

    ``room`` is that of an earlier compiled graph: arrays get at least its sizes, so that a stream
    of graphs settles on one shape. ``least`` edges are made room for in any case.
    """
    union = GraphUnion.of(graphs)
    batch, sets, states = union.graphs, union.sets, union.states
    starts = np.append(union.starts, len(states))
    size = max(len(states), sum(graph.edges for graph in batch), least)
    padding = Padding(size, room)
    plans = [
        [(i, plan) for plan in group.factors.plans(states, padding, _label(i, group))]
        for i, group in enumerate(sets)
    ]
    flat = [item for items in plans for item in items]
    instances = max(1 << (len(batch) - 1).bit_length(), padding.room.get(_GRAPHS, 0))
    padding.room[_GRAPHS] = instances
    wiring, kind, position = wire(
        [(i, plan, sets[i]) for i, plan in flat], states, starts, instances, padding
    )
    return CompiledGraph(
        batch,
        jax.device_put(wiring),
        sets,
        tuple(plan.factor for _, plan in flat),
        tuple(_padded_potentials(i, group, padding) for i, group in enumerate(sets)),
        kind,
        position,
        starts[:-1],
        padding.room,
    )


def compile_growing(graphs: Sequence[FactorGraph], sizes: GrowingSizes) -> CompiledGraph:
    """Wire a batch of graphs in arrays of the known sizes, which grow where they are too small.

    Batches of a quarter of the size have sizes of their own.
    """
    size = sum(max(graph.edges, len(graph.states)) for graph in graphs)
    grade = f"{(max(size, _LEAST_GROWING) - 1).bit_length() // 2} "
    known = {
        label.removeprefix(grade): size
        for label, size in sizes.known.items()
        if label.startswith(grade)
    }
    compiled = compile_graphs(graphs, known, _LEAST_GROWING)
    if all(known.get(label, 0) >= count for label, count in compiled.room.items()):
        return compiled
    room = {
        label: sizes.fit(grade + label, count, least=8 if label == _GRAPHS else 1)
        for label, count in compiled.room.items()
    }
    return compile_graphs(graphs, room, _LEAST_GROWING)


def pack_evidence(
    compiled: CompiledGraph, evidence: Evidence | Sequence[Evidence] | None, dtype: type
) -> tuple[np.ndarray, ...]:
    """Return one ``(variables, states)`` array of log scores a class, in the order of the wiring.

    Evidence for a group is an array of its shape with score(ON) - score(OFF) if it is binary, or
    of its shape with one more axis of scores per state. -inf forbids a state, and +inf demands it:
    a demanded state scores 0 and the others are forbidden.
    """
    given = evidence_of_each(len(compiled.graphs), evidence)
    wiring = compiled.wiring
    packed = [
        np.zeros((wiring.class_size(c), n), dtype=np.float64) for c, n in enumerate(wiring.states)
    ]
    for start, graph, values in zip(compiled.starts, compiled.graphs, given, strict=True):
        for name, array in values.items():
            group = graph.group(name)
            ids = int(start) + group.ids.ravel()
            if ids.size:
                target = packed[int(compiled.kind[ids[0]])]
                target[compiled.position[ids]] = group_scores(group, array, dtype)
    return tuple(packed)


def _label(index: int, group: FactorSet) -> str:
    return f"{index} {group.factors.kind}"


def _padded_potentials(index: int, group: FactorSet, padding: Padding) -> np.ndarray:
    values = group.factors.potentials
    if len(values) == 1:
        return values
    capacity = padding.rows(f"{_label(index, group)}/potentials", len(values), values.shape[1])
    return np.pad(values, ((0, capacity - len(values)), (0, 0)))
