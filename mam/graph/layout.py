"""Where everything stands: variables in classes and buckets, messages in stores.

All of it is array work; nothing loops over factors or variables.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors import Padding, Plan, Port, Ragged
from mam.graph.union import FactorSet
from mam.graph.wiring import PortWiring, Wiring

Placed = tuple[int, Plan, FactorSet]  # number of the set, one of its blocks, the set


@dataclass(frozen=True)
class _Class:
    """The variables with one number of states, and the store of their messages."""

    members: np.ndarray  # variables in their new order, -1 is padding
    slots: tuple[np.ndarray, ...]  # for each bucket of degrees (width, variables)
    store: int  # the number of messages
    starts: dict[tuple[int, int], int]  # where the messages of each (block, port) begin
    other: np.ndarray  # for each message: the other one of its variable; store: none; -1: several

    @property
    def size(self) -> int:
        return len(self.members)


def wire(
    plans: Sequence[Placed],
    states: np.ndarray,
    starts: np.ndarray,
    instances: int,
    padding: Padding,
) -> tuple[Wiring, np.ndarray, np.ndarray]:
    """Return the wiring, and the class of each variable with its place in it."""
    numbers = tuple(int(n) for n in np.unique(states)) or (2,)
    kind = np.searchsorted(numbers, states)
    port_kinds = {
        (b, p): _port_kind(port, kind, numbers)
        for b, (_, plan, _) in enumerate(plans)
        for p, port in enumerate(plan.ports)
    }
    classes = [_class(c, plans, port_kinds, kind, padding, n) for c, n in enumerate(numbers)]
    position = np.zeros(len(states), np.int64)
    variable, instance = [], []
    for one in classes:
        known = one.members >= 0
        position[one.members[known]] = np.flatnonzero(known)
        graph = np.searchsorted(starts, one.members, "right") - 1
        variable.append(np.where(known, one.members - starts[graph], 0).astype(np.int32))
        instance.append(np.where(known, graph, instances).astype(np.int32))
    ports = tuple(
        tuple(
            _port(port, port_kinds[b, p], classes, (b, p), group, position, instances)
            for p, port in enumerate(plan.ports)
        )
        for b, (_, plan, group) in enumerate(plans)
    )
    wiring = Wiring(
        tuple(plan.block for _, plan, _ in plans),
        ports,
        tuple(one.slots for one in classes),
        tuple(variable),
        tuple(instance),
        tuple(
            _instance(plan.factor, group, instances).astype(np.int32) for _, plan, group in plans
        ),
        tuple(i for i, _, _ in plans),
        numbers,
        tuple(one.store for one in classes),
        instances,
    )
    return wiring, kind, position


def _port_kind(port: Port, kind: np.ndarray, numbers: tuple[int, ...]) -> int:
    """The class of a port's variables; only ports over binary variables can be empty."""
    present = port.variables[port.variables >= 0]
    return int(kind[present[0]]) if present.size else numbers.index(2)


def _class(
    c: int,
    plans: Sequence[Placed],
    port_kinds: dict[tuple[int, int], int],
    kind: np.ndarray,
    padding: Padding,
    states: int,
) -> _Class:
    owners, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    starts, store = {}, 0
    for (b, p), port_kind in port_kinds.items():
        if port_kind == c:
            starts[b, p] = store
            flat = plans[b][1].ports[p].variables.ravel()
            present = np.flatnonzero(flat >= 0)
            owners.append(flat[present])
            places.append(store + present)
            store += flat.size
    variables = np.flatnonzero(kind == c)
    lists = _messages_of(variables, len(kind), np.concatenate(owners), np.concatenate(places))
    slots, members = [], []
    for width, rows in padding.buckets(f"variables {c}", lists.lengths, cost=states):
        table = lists.rectangle(rows, width)
        slots.append(np.where(table < 0, store, table).astype(np.int32).T)
        found = variables[np.maximum(rows, 0)] if len(variables) else rows
        members.append(np.where(rows < 0, -1, found))
    other = _other(lists, store)
    return _Class(np.concatenate(members), tuple(slots), store, starts, other)


def _messages_of(
    variables: np.ndarray, count: int, owners: np.ndarray, places: np.ndarray
) -> Ragged:
    """List for each variable of a class where its messages stand."""
    local = np.zeros(count, np.int64)
    local[variables] = np.arange(len(variables))
    degrees = np.bincount(local[owners], minlength=len(variables))
    order = np.argsort(local[owners], kind="stable")
    return Ragged(places[order], np.concatenate([[0], np.cumsum(degrees, dtype=np.int64)]))


def _other(lists: Ragged, store: int) -> np.ndarray:
    other = np.full(store, -1, np.int64)
    first = lists.offsets[:-1]
    alone = first[lists.lengths == 1]
    other[lists.values[alone]] = store
    two = first[lists.lengths == 2]
    other[lists.values[two]] = lists.values[two + 1]
    other[lists.values[two + 1]] = lists.values[two]
    return other


def _instance(factor: np.ndarray, group: FactorSet, instances: int) -> np.ndarray:
    return np.where(factor < 0, instances, group.instance[np.maximum(factor, 0)])


def _port(
    port: Port,
    kind: int,
    classes: Sequence[_Class],
    place: tuple[int, int],
    group: FactorSet,
    position: np.ndarray,
    instances: int,
) -> PortWiring:
    mine = classes[kind]
    absent = port.variables < 0
    index = np.where(absent, mine.size, position[np.maximum(port.variables, 0)])
    start = mine.starts[place]
    other = mine.other[start : start + port.variables.size].reshape(port.variables.shape)
    simple = bool(np.all(absent | (other >= 0)))
    partner = np.where(absent, mine.store, other).astype(np.int32) if simple else None
    instance = _instance(port.factor, group, instances)
    factor = np.maximum(port.factor, 0)
    edge = np.where(port.factor < 0, 0, group.edge[factor] + port.slot)
    arity = np.where(port.factor < 0, 1, group.arity[factor])
    bounds = np.searchsorted(instance, np.arange(instances + 1))
    return PortWiring(
        index.astype(np.int32),
        edge.astype(np.int32),
        arity.astype(np.int32),
        instance.astype(np.int32),
        partner,
        bounds.astype(np.int32),
        kind,
        start,
    )
