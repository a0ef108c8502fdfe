"""What a ``Wiring`` promises the solvers (``mam.graph.wiring``), checked."""

from collections.abc import Iterator

import numpy as np

from mam.graph.wiring import PortWiring, Wiring


def check_wiring(wiring: Wiring) -> None:
    """Raise ``ValueError`` that names the first promise that is broken, and where."""
    counts = len(wiring.ports), len(wiring.factor_instance), len(wiring.parameters)
    if counts != (len(wiring.blocks),) * 3:
        raise ValueError(f"{len(wiring.blocks)} blocks with ports, instances, sets of {counts}")
    for kind, states in enumerate(wiring.states):
        _check_class(wiring, kind, f"the variables with {states} states")
    for where, port in _ports(wiring):
        _check_rows(port, wiring.instances, where)


def _ports(wiring: Wiring) -> Iterator[tuple[str, PortWiring]]:
    for b, ports in enumerate(wiring.ports):
        for p, port in enumerate(ports):
            yield f"port {p} of block {b}", port


def _check_class(wiring: Wiring, kind: int, what: str) -> None:
    size, store = wiring.class_size(kind), wiring.store_sizes[kind]
    mine = sorted((one for one in _ports(wiring) if one[1].kind == kind), key=lambda p: p[1].start)
    end = 0
    owner = np.full(store + 1, size)  # the variable of each message
    for where, port in mine:
        if port.start != end:
            raise ValueError(
                f"{where} starts at {port.start} of the store, the last ended at {end}"
            )
        end += port.size
        index = np.asarray(port.index).ravel()
        if end > store or index.min(initial=0) < 0 or index.max(initial=0) > size:
            raise ValueError(f"{where} names a variable beyond {size} or a message beyond {store}")
        owner[port.start : end] = index
    if end != store:
        raise ValueError(f"{what} have a store of {store} messages, but ports for {end}")
    for name, array in (("variable", wiring.variable), ("instance", wiring.instance)):
        if len(array[kind]) != size:
            raise ValueError(f"{what} have {len(array[kind])} entries of {name}, not {size}")
    _check_slots(wiring, kind, owner, what)
    _check_partners(mine, owner, size, store)


def _check_slots(wiring: Wiring, kind: int, owner: np.ndarray, what: str) -> None:
    store, first = wiring.store_sizes[kind], 0
    listed = np.zeros(store + 1, np.int64)
    for bucket in wiring.slots[kind]:
        slots = np.asarray(bucket)
        variables = np.broadcast_to(first + np.arange(slots.shape[1]), slots.shape)
        present = slots < store
        if slots.min(initial=0) < 0 or slots.max(initial=0) > store:
            raise ValueError(f"the slots of {what} name a message beyond the store of {store}")
        if np.any(owner[slots[present]] != variables[present]):
            raise ValueError(f"the slots of {what} list a message that leads to another variable")
        listed += np.bincount(slots[present], minlength=store + 1)
        first += slots.shape[1]
    wanted = owner[:-1] < wiring.class_size(kind)
    if np.any(listed[:-1] != wanted):
        raise ValueError(f"the slots of {what} do not list every message exactly once")


def _check_partners(
    ports: list[tuple[str, PortWiring]], owner: np.ndarray, size: int, store: int
) -> None:
    degree = np.bincount(owner[:-1], minlength=size + 1)
    for where, port in ports:
        if port.partner is None:
            continue
        own = port.start + np.arange(port.size)
        there = owner[own] < size
        own, partner = own[there], np.asarray(port.partner).ravel()[there]
        alone = degree[owner[own]] == 1
        both = (degree[owner[own]] == 2) & (partner != own) & (partner < store)
        right = np.where(alone, partner == store, both)
        right &= alone | (owner[np.minimum(partner, store)] == owner[own])
        if not right.all():
            raise ValueError(f"{where} has a partner that is not the variable's only other message")


def _check_rows(port: PortWiring, instances: int, where: str) -> None:
    instance, rows = np.asarray(port.instance), port.index.shape[0]
    lengths = {len(np.asarray(values)) for values in (port.edge, port.arity, instance)}
    if lengths != {rows}:
        raise ValueError(f"{where} has {rows} rows, but edges, arities or instances for {lengths}")
    if np.any(np.diff(instance) < 0) or instance.min(initial=0) < 0:
        raise ValueError(f"the rows of {where} are not sorted by instance")
    bounds = np.searchsorted(instance, np.arange(instances + 1))
    if not np.array_equal(np.asarray(port.bounds), bounds):
        raise ValueError(f"the bounds of {where} do not say where its instances begin")
