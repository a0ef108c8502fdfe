"""Values of variables and factors seen from each other, over a wiring.

``passing`` sends messages; these send anything else: the largest value around a factor, the
smallest around a variable, and which variables hang together.
"""

from typing import Literal

import jax
import jax.numpy as jnp
from jaxtyping import Array

from mam.graph import Wiring
from mam.infer import passing
from mam.infer.passing import Incoming, Store

Join = Literal["sum", "max", "min"]
ByFactor = tuple[Array, ...]  # for each block, one value a factor

_PAIRS = {"sum": jnp.add, "max": jnp.maximum, "min": jnp.minimum}
_ROWS = {"sum": jnp.sum, "max": jnp.max, "min": jnp.min}


def around_factors(wiring: Wiring, edges: Incoming, join: Join, empty: float | int) -> ByFactor:
    """Join the values at the edges of every factor; ``empty`` is what joins without effect."""
    result = []
    for b, (block, ports) in enumerate(zip(wiring.blocks, wiring.ports, strict=True)):
        count = len(wiring.factor_instance[b])
        total = jnp.full(count, empty, edges[b][0].dtype)
        for p in range(len(ports)):
            values = edges[b][p]
            if values.ndim == 2:
                values = _ROWS[join](values, 1, initial=empty)
            home = block.home(p)
            if home is not None:
                values = _gathered(values, home, count, join, empty)
            total = _PAIRS[join](total, values)
        result.append(total)
    return tuple(result)


def _gathered(values: Array, home: Array, count: int, join: Join, empty: float | int) -> Array:
    """Join the values of rows that belong to one factor."""
    by = jnp.full(count, empty, values.dtype).at[home]
    into = {"sum": by.add, "max": by.max, "min": by.min}[join]
    return into(values, mode="drop")


def at_factor_edges(wiring: Wiring, values: ByFactor, empty: float | int) -> Incoming:
    """Read the value of its factor at every edge."""
    found = []
    for b, (block, ports) in enumerate(zip(wiring.blocks, wiring.ports, strict=True)):
        mine = []
        for p, port in enumerate(ports):
            home = block.home(p)
            rows = values[b]
            if home is not None:
                rows = rows.at[home].get(mode="fill", fill_value=empty)
            mine.append(jnp.broadcast_to(passing.per_row(rows, port.index), port.index.shape))
        found.append(tuple(mine))
    return tuple(found)


def around_variables(
    wiring: Wiring, edges: Incoming, kind: int, join: Join, empty: float | int
) -> Array:
    """Join the values at the edges of every variable of a class."""
    return jnp.concatenate(
        [_ROWS[join](found, 0, initial=empty) for found in at_slots(wiring, edges, kind, empty)]
    )


def at_slots(wiring: Wiring, edges: Incoming, kind: int, empty: float | int) -> list[Array]:
    """Read values at the edges of every variable: ``(width, variables)`` a bucket of degrees."""
    pieces = [
        values.reshape(-1)
        for ports, some in zip(wiring.ports, edges, strict=True)
        for port, values in zip(ports, some, strict=True)
        if port.kind == kind
    ]
    if not pieces:
        kept = jnp.full(1, empty)
        return [jnp.broadcast_to(kept, bucket.shape) for bucket in wiring.slots[kind]]
    store = jnp.concatenate(pieces)
    return [store.at[bucket].get(mode="fill", fill_value=empty) for bucket in wiring.slots[kind]]


@jax.jit
def regions(wiring: Wiring) -> tuple[Store, ByFactor]:
    """Number the parts of the graphs that hang together: of each variable, and of each factor.

    The number is that of a variable, counted over all classes; padding has numbers of its own. A
    factor without variables gets the number after the last.
    """
    sizes = [wiring.class_size(kind) for kind in range(len(wiring.states))]
    starts = [sum(sizes[:kind]) for kind in range(len(sizes))]
    count = sum(sizes)
    label = jnp.arange(count, dtype=jnp.int32)

    def split(label: Array) -> Store:
        return tuple(label[a : a + n] for a, n in zip(starts, sizes, strict=True))

    def of_factors(label: Array) -> ByFactor:
        edges = passing.at_edges(wiring, split(label), (count,) * len(sizes))
        return around_factors(wiring, edges, "min", count)

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        label, _ = state
        edges = at_factor_edges(wiring, of_factors(label), count)
        kinds = range(len(sizes))
        seen = [around_variables(wiring, edges, kind, "min", count) for kind in kinds]
        new = jnp.minimum(label, jnp.concatenate([label[:0], *seen]).astype(jnp.int32))
        new = jnp.minimum(new, new[new])
        return new, jnp.any(new != label)

    label, _ = jax.lax.while_loop(lambda state: state[1], step, (label, jnp.bool_(True)))
    return split(label), of_factors(label)
