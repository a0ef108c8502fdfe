"""From graphs on the host to the padded wiring that the solvers run.

A batch of different graphs is their disjoint union: variables and factors are renumbered and
stacked, and each remembers its instance. All of it is array work; nothing loops over factors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np

from mam.factors import KINDS, Factors, Padding
from mam.factors.base import check_potentials
from mam.factors.limits import check_magnitude, magnitudes
from mam.graph.layout import FactorSet, wire
from mam.graph.model import FactorGraph, unknown
from mam.graph.wiring import Wiring


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

    @property
    def edges(self) -> int:
        """The number of edges, without padding."""
        return sum(graph.edges for graph in self.graphs)

    def parameters(self, dtype: type = np.float32) -> tuple[np.ndarray, ...]:
        """Return the potentials in the given precision, refusing what it cannot carry."""
        for values, group in zip(self.potentials, self.sets, strict=True):
            size = magnitudes(values)
            row = int(size.max(1, initial=0).argmax()) if len(size) else 0
            name = next(part[1] for part in reversed(group.parts) if part[3] <= row)
            check_magnitude(size, dtype, f"factor group {name!r} has a log potential")
        return tuple(values.astype(dtype) for values in self.potentials)

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
    graphs: FactorGraph | Sequence[FactorGraph], room: Mapping[str, int] | None = None
) -> CompiledGraph:
    """Wire a graph, or a batch of graphs as their disjoint union.

    ``room`` is that of an earlier compiled graph: arrays get at least its sizes, so that a stream
    of graphs settles on one shape.
    """
    batch = (graphs,) if isinstance(graphs, FactorGraph) else tuple(graphs)
    if not batch:
        raise ValueError("a batch needs at least one graph")
    starts = np.cumsum([0, *(len(graph.states) for graph in batch)])
    states = np.concatenate([graph.states for graph in batch])
    sets = _stack_sets(batch, starts)
    size = max(len(states), sum(graph.edges for graph in batch), 1)
    padding = Padding(size, room)
    plans = [
        [(i, plan) for plan in group.factors.plans(states, padding, _label(i, group))]
        for i, group in enumerate(sets)
    ]
    flat = [item for items in plans for item in items]
    instances = 1 if len(batch) == 1 else 1 << (len(batch) - 1).bit_length()
    wiring, kind, position = wire(
        [(i, plan, sets[i]) for i, plan in flat], states, starts, instances, padding
    )
    return CompiledGraph(
        batch,
        jax.device_put(wiring),
        tuple(sets),
        tuple(plan.factor for _, plan in flat),
        tuple(_padded_potentials(i, group, padding) for i, group in enumerate(sets)),
        kind,
        position,
        starts[:-1],
        padding.room,
    )


def _label(index: int, group: FactorSet) -> str:
    return f"{index} {group.factors.kind}"


def _padded_potentials(index: int, group: FactorSet, padding: Padding) -> np.ndarray:
    values = group.factors.potentials
    if len(values) == 1:
        return values
    capacity = padding.rows(f"{_label(index, group)}/potentials", len(values), values.shape[1])
    return np.pad(values, ((0, capacity - len(values)), (0, 0)))


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
