"""The one loop that runs every solver.

A solver offers ``step(state, active, iteration) -> (state, moving)``: one iteration in which only
active instances change, and whether each instance still moves. An instance that has come to rest
is frozen, so its answer does not depend on the rest of the batch.
"""

from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

State = TypeVar("State")


@runtime_checkable
class Solver(Protocol[State]):
    """What the loop runs."""

    @property
    def instances(self) -> int:
        """The number of graphs in the batch."""
        ...

    def step(
        self, state: State, active: Bool[Array, " instances"], iteration: Array
    ) -> tuple[State, Bool[Array, " instances"]]:
        """Advance the active instances; say which of them still move."""
        ...


class Info(NamedTuple):
    """Diagnostics of a run, one entry a graph."""

    converged: Bool[Array, " instances"]
    iterations: Int[Array, " instances"]


def run(
    solver: Solver[State],
    state: State,
    iterations: int | Array,
    active: Bool[Array, " instances"] | None = None,
) -> tuple[State, Info]:
    """Step until every (active) instance rests, or for the given number of iterations."""

    def unfinished(carry: tuple) -> Array:
        _, moving, _, iteration = carry
        return jnp.any(moving) & (iteration < iterations)

    def body(carry: tuple) -> tuple:
        state, moving, counts, iteration = carry
        counts = counts + moving.astype(counts.dtype)
        state, still = solver.step(state, moving, iteration)
        return state, moving & still, counts, iteration + 1

    start = (
        state,
        jnp.ones(solver.instances, bool) if active is None else active,
        jnp.zeros(solver.instances, jnp.int32),
        jnp.int32(0),
    )
    state, moving, counts, _ = jax.lax.while_loop(unfinished, body, start)
    return state, Info(~moving, counts)


def run_fixed(solver: Solver[State], state: State, iterations: int) -> State:
    """Step a fixed number of times, in a form that gradients flow through."""
    active = jnp.ones(solver.instances, bool)

    def body(state: State, iteration: Array) -> tuple[State, None]:
        return solver.step(state, active, iteration)[0], None

    return jax.lax.scan(body, state, jnp.arange(iterations, dtype=jnp.int32))[0]
