"""The one loop that runs every solver.

A solver offers ``step(state, active, iteration) -> (state, moving)``: one iteration in which only
active instances change, and whether each instance still moves. An instance that has come to rest
is frozen, so its answer does not depend on the rest of the batch.
"""

import time
from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int

from mam.infer.deadline import Deadline

State = TypeVar("State")

_PIECE = 0.5  # seconds that pieces of a long run may take before they grow no more


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
    before: int | Array = 0,
) -> tuple[State, Info]:
    """Step until every (active) instance rests, or for the given number of iterations.

    ``before``: iterations that were made earlier; the solver sees numbers that follow on them.
    """

    def unfinished(carry: tuple) -> Array:
        _, moving, _, iteration = carry
        return jnp.any(moving) & (iteration < before + iterations)

    def body(carry: tuple) -> tuple:
        state, moving, counts, iteration = carry
        counts = counts + moving.astype(counts.dtype)
        state, still = solver.step(state, moving, iteration)
        return state, moving & still, counts, iteration + 1

    start = (
        state,
        jnp.ones(solver.instances, bool) if active is None else active,
        jnp.zeros(solver.instances, jnp.int32),
        jnp.int32(before),
    )
    state, moving, counts, _ = jax.lax.while_loop(unfinished, body, start)
    return state, Info(~moving, counts)


def run_in_pieces(
    advance: Callable[[State, np.ndarray, np.int32], tuple[State, Info]],
    state: State,
    active: Bool[np.ndarray, "... instances"],
    steps: int,
    end: Deadline,
    piece: int = 1,
) -> tuple[State, np.ndarray]:
    """Run a compiled loop until it rests, for some steps or until ``end``, whichever is first.

    ``advance(state, active, steps)`` makes so many steps, first ``piece``. Between two calls the
    host looks at the clock and can be interrupted; the first is always made.
    Returns the state and how many steps each instance made.
    """
    moving, over = active, False
    counts = np.zeros(moving.shape, np.int64)
    while moving.any() and steps > 0 and not over:
        begin = time.monotonic()
        state, info = advance(state, moving, np.int32(min(piece, steps)))
        counts += np.asarray(info.iterations)
        moving = moving & ~np.asarray(info.converged)
        steps -= min(piece, steps)
        # The first call also compiles.
        if time.monotonic() - begin < _PIECE:
            piece *= 2
        over = end.over
    return state, counts


def run_fixed(solver: Solver[State], state: State, iterations: int) -> State:
    """Step a fixed number of times, in a form that gradients flow through."""
    active = jnp.ones(solver.instances, bool)

    def body(state: State, iteration: Array) -> tuple[State, None]:
        return solver.step(state, active, iteration)[0], None

    return jax.lax.scan(body, state, jnp.arange(iterations, dtype=jnp.int32))[0]
