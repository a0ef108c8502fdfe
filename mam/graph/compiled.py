"""From graphs on the host to the padded wiring that the solvers run.

A batch of different graphs is their disjoint union: variables and factors are renumbered and
stacked, and each remembers its instance. All of it is array work; nothing loops over factors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import jax
import numpy as np

from mam.factors import KINDS, Factors, Padding, Plan, Port, Ragged
from mam.factors.limits import largest_finite
from mam.graph.model import FactorGraph
from mam.graph.wiring import PortWiring, Wiring


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
        largest = largest_finite(dtype)
        for values, group in zip(self.potentials, self.sets, strict=True):
            size = np.abs(values, where=np.isfinite(values), out=np.zeros(values.shape))
            if size.size and size.max() > largest:
                row = int(np.argwhere(size == size.max())[0, 0])
                name = next(part[1] for part in reversed(group.parts) if part[3] <= row)
                raise ValueError(
                    f"factor group {name!r} has a log potential of magnitude {size.max():.3g}, "
                    f"above {largest:g}: scale the model down or use precision='double'"
                )
        return tuple(values.astype(dtype) for values in self.potentials)

    def with_potentials(self, new: Mapping[str, object]) -> "CompiledGraph":
        """Return the same structure with other log potentials for the named factor groups."""
        potentials = [values.copy() for values in self.potentials]
        for name, values in new.items():
            for target, group in zip(potentials, self.sets, strict=True):
                for rows in group.rows(name):
                    target[rows] = np.reshape(values, target[rows].shape)
        return replace(self, potentials=tuple(potentials))

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
    sets = _stack_sets(batch, starts, states)
    size = max(
        len(states), *(graph.edges for graph in batch), sum(graph.edges for graph in batch), 1
    )
    padding = Padding(size, room)
    plans = [
        [(i, plan) for plan in group.factors.plans(states, padding, _label(i, group))]
        for i, group in enumerate(sets)
    ]
    flat = [item for items in plans for item in items]
    instances = 1 if len(batch) == 1 else 1 << (len(batch) - 1).bit_length()
    layout = _Layout(states, starts, instances, padding)
    wiring, kind, position = layout.wire(flat, sets)
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


def _stack_sets(
    batch: tuple[FactorGraph, ...], starts: np.ndarray, states: np.ndarray
) -> list[FactorSet]:
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


@dataclass(frozen=True)
class _Layout:
    """The numbering of variables in classes and buckets, and of messages in stores."""

    states: np.ndarray
    starts: np.ndarray
    instances: int
    padding: Padding

    def wire(
        self, plans: list[tuple[int, Plan]], sets: list[FactorSet]
    ) -> tuple[Wiring, np.ndarray, np.ndarray]:
        classes = tuple(int(n) for n in np.unique(self.states)) or (2,)
        kind = np.searchsorted(classes, self.states)
        port_kinds = [
            [self._port_kind(port, kind, classes) for port in plan.ports] for _, plan in plans
        ]
        position = np.zeros(len(self.states), np.int64)
        slots, variable, instance, store_sizes, starts = [], [], [], [], {}
        for c in range(len(classes)):
            size = 0
            owners, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
            for b, (_, plan) in enumerate(plans):
                for p, port in enumerate(plan.ports):
                    if port_kinds[b][p] != c:
                        continue
                    starts[b, p] = size
                    flat = port.variables.ravel()
                    present = np.flatnonzero(flat >= 0)
                    owners.append(flat[present])
                    places.append(size + present)
                    size += flat.size
            store_sizes.append(size)
            buckets, members = self._variable_buckets(
                c, kind, np.concatenate(owners), np.concatenate(places), size
            )
            known = members >= 0
            position[members[known]] = np.flatnonzero(known)
            owner_graph = np.searchsorted(self.starts, members, "right") - 1
            slots.append(buckets)
            variable.append(np.where(known, members - self.starts[owner_graph], 0).astype(np.int32))
            instance.append(np.where(known, owner_graph, self.instances).astype(np.int32))
        ports = tuple(
            tuple(
                self._port(port, port_kinds[b][p], starts[b, p], sets[s], position, slots)
                for p, port in enumerate(plan.ports)
            )
            for b, (s, plan) in enumerate(plans)
        )
        factor_instance = tuple(
            self._instance(plan.factor, sets[s]).astype(np.int32) for s, plan in plans
        )
        wiring = Wiring(
            tuple(plan.block for _, plan in plans),
            ports,
            tuple(slots),
            tuple(variable),
            tuple(instance),
            factor_instance,
            tuple(s for s, _ in plans),
            classes,
            tuple(store_sizes),
            self.instances,
        )
        return wiring, kind, position

    def _port_kind(self, port: Port, kind: np.ndarray, classes: tuple[int, ...]) -> int:
        """The class of a port's variables; only ports over binary variables can be empty."""
        present = port.variables[port.variables >= 0]
        return int(kind[present[0]]) if present.size else classes.index(2)

    def _variable_buckets(
        self, c: int, kind: np.ndarray, owners: np.ndarray, places: np.ndarray, size: int
    ) -> tuple[tuple[np.ndarray, ...], np.ndarray]:
        """Return the slots of each bucket, and the variables in their new order (-1: padding)."""
        members = np.flatnonzero(kind == c)
        local = np.zeros(len(kind), np.int64)
        local[members] = np.arange(len(members))
        degrees = np.bincount(local[owners], minlength=len(members))
        order = np.argsort(local[owners], kind="stable")
        offsets = np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)])
        lists = Ragged(places[order], offsets)
        buckets, ordered = [], []
        for width, rows in self.padding.buckets(f"variables {c}", degrees):
            table = lists.rectangle(rows, width)
            buckets.append(np.where(table < 0, size, table).astype(np.int32))
            ordered.append(
                np.where(rows < 0, -1, members[np.maximum(rows, 0)] if len(members) else -1)
            )
        return tuple(buckets), np.concatenate(ordered)

    def _instance(self, factor: np.ndarray, group: FactorSet) -> np.ndarray:
        return np.where(factor < 0, self.instances, group.instance[np.maximum(factor, 0)])

    def _port(
        self,
        port: Port,
        kind: int,
        start: int,
        group: FactorSet,
        position: np.ndarray,
        slots: list[tuple[np.ndarray, ...]],
    ) -> PortWiring:
        outside = sum(len(bucket) for bucket in slots[kind])
        index = np.where(
            port.variables < 0, outside, position[np.maximum(port.variables, 0)]
        ).astype(np.int32)
        instance = self._instance(port.factor, group)
        edge = np.where(port.factor < 0, 0, group.edge[np.maximum(port.factor, 0)] + port.slot)
        arity = np.where(port.factor < 0, 1, group.arity[np.maximum(port.factor, 0)])
        bounds = np.searchsorted(instance, np.arange(self.instances + 1))
        return PortWiring(
            index,
            edge.astype(np.int32),
            arity.astype(np.int32),
            instance.astype(np.int32),
            bounds.astype(np.int32),
            kind,
            start,
        )
