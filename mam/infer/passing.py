"""One pass of messages over the wiring: gathers and reductions only.

A *store* is a tuple with one flat array of messages a class of variables: ``(messages,)`` for
binary variables, ``(messages, states)`` for others.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from mam.core.devices import by_device
from mam.factors.base import Temperature
from mam.factors.numeric_limits import limit
from mam.graph import PortWiring, Wiring

Store = tuple[Array, ...]
HostStore = tuple[np.ndarray, ...]  # the same on the host
Incoming = tuple[tuple[Array, ...], ...]  # for each block, for each port


def beliefs(wiring: Wiring, evidence: Store, messages: Store) -> Store:
    """Add to the evidence of each variable all messages that reach it."""
    return tuple(
        evidence[kind] + received(wiring, kind, messages) for kind in range(len(wiring.states))
    )


def received(wiring: Wiring, kind: int, messages: Store) -> Array:
    """Return the sum of all messages that reach each variable of a class."""
    store = messages[kind]
    if not len(store):  # a class of variables without factors
        return jnp.zeros((wiring.class_size(kind), *store.shape[1:]), store.dtype)
    rows = by_device(_summed_in_turn, _summed_at_once) if store.ndim > 1 else _summed_at_once
    return jnp.concatenate([rows(store, slots) for slots in wiring.slots[kind]])


def _summed_at_once(store: Array, slots: Int[Array, "most variables"]) -> Array:
    return jnp.sum(store.at[slots].get(mode="fill", fill_value=0.0), 0)


def _summed_in_turn(store: Array, slots: Int[Array, "most variables"]) -> Array:
    """The same for rows of states: a core copies whole rows, where a sum of them reads each entry
    through its index, which takes seventy times as long.
    """

    def add(total: Array, mine: Array) -> tuple[Array, None]:
        return total + store.at[mine].get(mode="fill", fill_value=0.0), None

    nothing = jnp.zeros((slots.shape[1], *store.shape[1:]), store.dtype)
    return jax.lax.scan(add, nothing, slots)[0]


def best_states(beliefs: Store) -> Store:
    """Return the best state of each variable on its own; a tie is OFF, or the first state."""
    return tuple(
        (belief > 0 if belief.ndim == 1 else jnp.argmax(belief, -1)).astype(jnp.int32)
        for belief in beliefs
    )


def degrees(wiring: Wiring) -> tuple[Array, ...]:
    """Return the number of factors of each variable."""
    return tuple(
        jnp.concatenate([jnp.sum(slots < size, 0) for slots in buckets])
        for buckets, size in zip(wiring.slots, wiring.store_sizes, strict=True)
    )


def at_edges(wiring: Wiring, values: Store, padding: tuple[float | int, ...]) -> Incoming:
    """Read per-variable values at every edge; padded edges read the padding of their class."""
    return tuple(
        tuple(
            jnp.asarray(values[port.kind])
            .at[port.index]
            .get(mode="fill", fill_value=padding[port.kind])
            for port in ports
        )
        for ports in wiring.ports
    )


def at_ports(wiring: Wiring, store: Store) -> Incoming:
    """Cut a store into the arrays of the ports."""
    return tuple(tuple(_cut(port, store) for port in ports) for ports in wiring.ports)


def _cut(port: PortWiring, store: Store) -> Array:
    values = store[port.kind]
    piece = jax.lax.slice_in_dim(values, port.start, port.start + port.size)
    return piece.reshape(*port.index.shape, *values.shape[1:])


def to_store(wiring: Wiring, outgoing: Incoming, dtype: np.dtype) -> Store:
    """Put the arrays of all ports back into a store."""
    pieces: list[list[Array]] = [[] for _ in wiring.states]
    for ports, messages in zip(wiring.ports, outgoing, strict=True):
        for port, message in zip(ports, messages, strict=True):
            shape = message.shape[port.index.ndim :]
            pieces[port.kind].append(message.reshape(port.size, *shape))
    return tuple(
        jnp.concatenate(some) if some else jnp.zeros((0,) if n == 2 else (0, n), dtype)
        for some, n in zip(pieces, wiring.states, strict=True)
    )


def normal(message: Array, states: int) -> Array:
    """Return a message inside the limits; a vector is shifted to maximum 0 first."""
    big = limit(message.dtype)
    if states == 2:
        return jnp.clip(message, -big, big)
    return jnp.maximum(message - jnp.max(message, -1, keepdims=True), -big)


def neutral(wiring: Wiring, dtype: np.dtype) -> tuple[float, ...]:
    """Return what padded edges read: OFF for sure if binary, nothing otherwise.

    Four times the limit, so that it stays beyond the limit whatever message is subtracted.
    """
    return tuple(-4 * limit(dtype) if n == 2 else 0.0 for n in wiring.states)


def to_factors(wiring: Wiring, beliefs: Store, messages: Store) -> Incoming:
    """Return the messages from variables to factors: belief less what the factor said itself."""
    there = at_edges(wiring, beliefs, neutral(wiring, beliefs[0].dtype))
    back = at_ports(wiring, messages)
    return tuple(
        tuple(
            normal(belief - message, wiring.states[port.kind])
            for port, belief, message in zip(ports, some, others, strict=True)
        )
        for ports, some, others in zip(wiring.ports, there, back, strict=True)
    )


def from_variables(wiring: Wiring, evidence: Store, known: Incoming, messages: Store) -> Incoming:
    """Return the messages from variables to factors; ``known`` is the evidence at every edge.

    Where a variable has at most two factors its partner's message is read directly.
    """
    direct = all(port.partner is not None for ports in wiring.ports for port in ports)
    # Where all ports read partners, no belief is wanted.
    summed = known if direct else to_factors(wiring, beliefs(wiring, evidence, messages), messages)

    def read(port: PortWiring, summed: Array, evidence: Array) -> Array:
        if port.partner is None:
            return summed
        said = messages[port.kind].at[port.partner].get(mode="fill", fill_value=0.0)
        return normal(evidence + said, wiring.states[port.kind])

    return map_ports(wiring, read, summed, known)


def from_factors(
    wiring: Wiring, potentials: tuple[Array, ...], incoming: Incoming, temperature: Temperature
) -> Incoming:
    """Return the messages of all factors."""
    outgoing = []
    for i, block in enumerate(wiring.blocks):
        messages = block.messages(potentials[wiring.parameters[i]], incoming[i], temperature)
        outgoing.append(
            tuple(
                normal(message, wiring.states[port.kind])
                for port, message in zip(wiring.ports[i], messages, strict=True)
            )
        )
    return tuple(outgoing)


def map_ports(wiring: Wiring, function: Callable[..., Array], *stores: Incoming) -> Incoming:
    """Apply ``function(port, *arrays)`` to every port."""
    return tuple(
        tuple(function(port, *(store[b][p] for store in stores)) for p, port in enumerate(ports))
        for b, ports in enumerate(wiring.ports)
    )


def per_row(values: Array, like: Array) -> Array:
    """Give one value a row the axes of an array of rows."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def random_store(
    wiring: Wiring, key: Array, sampler: Callable[[Array, tuple[int, ...]], Array]
) -> Store:
    """Draw for every message; a draw depends on the key and the edge's number in its own graph."""
    result = []
    for kind, states in enumerate(wiring.states):
        edges = [
            (per_row(port.edge, port.index) + _columns(port)).ravel()
            for ports in wiring.ports
            for port in ports
            if port.kind == kind
        ]
        shape = () if states == 2 else (states,)
        edge = jnp.concatenate([jnp.zeros(0, jnp.int32), *edges])
        # One draw for all ports: its code is long, and XLA compiles it for every place it is in.
        result.append(jax.vmap(lambda e, s=shape: sampler(jax.random.fold_in(key, e), s))(edge))
    return tuple(result)


def first_messages(wiring: Wiring, key: Array, noise: Array, dtype: np.dtype) -> Store:
    """Return small random messages, logistic with the given scale."""

    def draw(key: Array, shape: tuple[int, ...]) -> Array:
        return noise * jax.random.logistic(key, shape, dtype)

    return random_store(wiring, jax.random.fold_in(key, 0), draw)


def shaken(wiring: Wiring, evidence: Store, key: Array, scale: Array) -> Store:
    """Add logistic noise to the evidence, drawn by the variable's number in its own graph."""

    def draw(variable: Array, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        keys = jax.vmap(lambda v: jax.random.fold_in(key, v))(variable)
        return jax.vmap(lambda k: jax.random.logistic(k, shape, dtype))(keys)

    return tuple(
        values + scale * draw(variable, values.shape[1:], values.dtype)
        for values, variable in zip(evidence, wiring.variable, strict=True)
    )


def _columns(port: PortWiring) -> Array:
    width = port.index.shape[1] if port.index.ndim == 2 else 1
    columns = jnp.arange(width, dtype=port.edge.dtype)
    return jnp.broadcast_to(columns if port.index.ndim == 2 else 0 * columns, port.index.shape)


def sum_by_instance(values: Array, instance: Array, instances: int) -> Array:
    """Sum per-row values for each graph of the batch; outside the loops only."""
    return jax.ops.segment_sum(values, instance, instances + 1)[:instances]


def moving(
    wiring: Wiring, old: Store, new: Store, tolerance: Array | float
) -> Bool[Array, " instances"]:
    """Tell which graphs have a message that moved by more than the tolerance."""
    before, after = at_ports(wiring, old), at_ports(wiring, new)
    found = jnp.zeros(wiring.instances, bool)
    for ports, some, others in zip(wiring.ports, before, after, strict=True):
        for port, a, b in zip(ports, some, others, strict=True):
            moved = jnp.abs(a - b) > tolerance
            moved &= per_row(port.instance < wiring.instances, moved)
            found |= _any_by_instance(port, jnp.any(moved.reshape(len(a), -1), 1))
    return found


def _any_by_instance(port: PortWiring, rows: Bool[Array, " rows"]) -> Bool[Array, " instances"]:
    """Whether any row of each instance is set; rows are sorted, so counts are differences."""
    if len(port.bounds) == 2:
        return jnp.any(rows)[None]
    counts = jnp.concatenate([jnp.zeros(1, jnp.int32), jnp.cumsum(rows, dtype=jnp.int32)])
    at = counts[port.bounds]
    return at[1:] > at[:-1]
