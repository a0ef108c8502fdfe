"""Max-product from several starts at once: the restarts are one more axis of the arrays."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, UInt32

from mam.graph import PortWiring, Wiring
from mam.infer import passing
from mam.infer.deadline import Deadline
from mam.infer.loop import Info, run, run_in_pieces
from mam.infer.messages import BeliefPropagation
from mam.infer.options import Options
from mam.infer.passing import Store
from mam.infer.problem import Problem
from mam.infer.stages import Stages, stages_of
from mam.infer.sweeps import Sweeps

# Iterations between two looks whether messages still move.
_STRIDE = 5
# Messages times steps that take well below a second on any machine: they are made at once.
_SHORT = 10_000_000


class _At(NamedTuple):
    """Where a run stands between two pieces."""

    messages: Store
    made: np.int32  # steps so far
    found: "Propagated | None"


class Propagated(NamedTuple):
    """What a run leaves; all arrays have a leading axis of restarts."""

    messages: Store
    beliefs: Store
    decisive: Store  # the beliefs to decode: in order, given the states of earlier variables
    info: Info


@partial(jax.jit, static_argnames=("blocks",))
def _propagate(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    keys: Array,
    jitter: Array,
    settings: tuple[Array, Array, Array, Array],
    blocks: int,
    messages: Store,
    active: Array,
    before: Array,
    steps: Array,
) -> Propagated:
    """Make steps of ``_STRIDE`` iterations; where none were made before, from new messages."""
    damping, noise, tolerance, _ = settings

    def one(key: Array, jitter: Array, messages: Store, active: Array) -> Propagated:
        shaken = passing.shaken(wiring, evidence, jax.random.fold_in(key, 2), jitter)
        solver = BeliefPropagation.of(
            wiring, potentials, shaken, key, damping, tolerance, blocks=blocks, stride=_STRIDE
        )
        first = solver.init(noise)
        messages = tuple(
            jnp.where(before == 0, *both) for both in zip(first, messages, strict=True)
        )
        messages, info = run(solver, messages, steps, active, before)
        beliefs = solver.beliefs(messages)
        return Propagated(messages, beliefs, beliefs, info)

    return _each(one, keys, jitter, messages, active)


def _each(one: Callable[..., Propagated], *of_restarts: Array | Store) -> Propagated:
    """Map over restarts; a single one is not vectorised, which is faster."""
    if len(of_restarts[0]) == 1:
        return jax.tree.map(lambda x: x[None], one(*jax.tree.map(lambda x: x[0], of_restarts)))
    return jax.vmap(one)(*of_restarts)


@partial(jax.jit, static_argnames=("decide",))
def _sweep(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    keys: Array,
    jitter: Array,
    settings: tuple[Array, Array, Array, Array],
    stages: Stages,
    decide: bool,
) -> Propagated:
    damping, noise, tolerance, iterations = settings

    def one(key: Array, jitter: Array) -> Propagated:
        shaken = passing.shaken(wiring, evidence, jax.random.fold_in(key, 2), jitter)
        solver = Sweeps(wiring, potentials, shaken, stages, damping, tolerance)
        first = passing.first_messages(wiring, key, noise, evidence[0].dtype)
        state, info = run(solver, solver.init(first), iterations)
        last = solver.finish(state, decide)
        # What follows a decision is certain: repair and margins want what was known before.
        messages, beliefs = solver.init((state if decide else last)[0])
        return Propagated(messages, beliefs, last[1] if decide else beliefs, info)

    return _each(one, keys, jitter)


def propagate_restarts(
    problem: Problem, options: Options, end: Deadline, order: Sequence[np.ndarray] | None = None
) -> Propagated:
    """Run all restarts, on sweeps along the given order if there is one.

    They stop at the ``end``; sweeps do not look at the clock.
    """
    common = (
        problem.compiled.wiring,
        problem.potentials,
        problem.evidence,
        restart_keys(options.seed, options.restarts),
        np.where(np.arange(options.restarts) == 0, 0, options.jitter).astype(options.dtype),
        settings_of(options, options.iterations),
    )
    with jax.enable_x64(options.precision == "double"):
        if options.schedule == "sweeps":
            stages = stages_of(problem.compiled, order)
            return _sweep(*common, stages, options.decoding == "in order")
        return _in_pieces(problem, options, end, common)


def _in_pieces(problem: Problem, options: Options, end: Deadline, common: tuple) -> Propagated:
    """Propagate so that the clock is looked at, if it takes long enough to matter."""
    wiring, steps = problem.compiled.wiring, -(-options.iterations // _STRIDE)
    blocks = 1 if options.schedule == "parallel" else options.blocks

    def advance(at: _At, active: np.ndarray, more: np.int32) -> tuple[_At, Info]:
        found = _propagate(*common, blocks, at.messages, active, at.made, more)
        return _At(found.messages, at.made + more, found), found.info

    none: Any = tuple(
        np.zeros((options.restarts, size) if n == 2 else (options.restarts, size, n), options.dtype)
        for size, n in zip(wiring.store_sizes, wiring.states, strict=True)
    )
    short = sum(of.size for of in none) * steps < _SHORT
    all_of_them = np.ones((options.restarts, wiring.instances), bool)
    begin = _At(none, np.int32(0), None)
    last, counts = run_in_pieces(advance, begin, all_of_them, steps, end, steps if short else 1)
    assert last.found is not None  # the first piece is always made
    info = last.found.info._replace(iterations=cast(Array, counts * _STRIDE))
    return last.found._replace(info=info)


def restart_keys(seed: int, count: int) -> Array:
    """Return one key a restart; the r-th does not depend on how many there are."""
    return keys_of(*seeds(seed, count))


def seeds(seed: int, count: int) -> tuple[np.uint32, UInt32[np.ndarray, " count"]]:
    """Return what ``keys_of`` makes keys from, as compiled functions take it."""
    return np.uint32(seed % (1 << 32)), np.arange(count, dtype=np.uint32)


@jax.jit
def keys_of(seed: Array, numbers: Array) -> Array:
    """Return one key a number."""
    return jax.vmap(jax.random.fold_in, in_axes=(None, 0))(jax.random.key(seed), numbers)


def settings_of(options: Options, iterations: int) -> tuple:
    """Return damping, noise, tolerance and iterations, as the compiled functions take them."""
    kind = options.dtype
    return kind(options.damping), kind(options.noise), kind(options.tolerance), np.int32(iterations)


@jax.jit
def go_on(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    settings: tuple[Array, Array, Array, Array],
    messages: Store,
    active: Array,
) -> tuple[Store, Store]:
    """Continue every restart on evidence of its own; return messages and beliefs."""
    damping, _, tolerance, iterations = settings

    def one(evidence: Store, messages: Store, active: Array) -> tuple[Store, Store]:
        unused = jax.random.key(0)
        solver = BeliefPropagation.of(wiring, potentials, evidence, unused, damping, tolerance)
        messages, _ = run(solver, messages, iterations, active)
        return messages, solver.beliefs(messages)

    return jax.vmap(one)(evidence, messages, active)


@jax.jit
def beliefs_of_restarts(
    wiring: Wiring, evidence: Store, messages: Store, best: tuple[Array, ...]
) -> Store:
    """Return the beliefs that messages give, each factor's being those of the restart it names."""
    count = messages[0].shape[0]
    ports = [passing.at_ports(wiring, tuple(store[r] for store in messages)) for r in range(count)]
    which = tuple(
        tuple(values if (home := block.home(p)) is None else values[home] for p in range(len(some)))
        for block, some, values in zip(wiring.blocks, wiring.ports, best, strict=True)
    )

    def choose(port: PortWiring, which: Array, *restarts: Array) -> Array:
        return jnp.stack(restarts)[which, jnp.arange(len(which))]

    chosen = passing.map_ports(wiring, choose, which, *ports)
    return passing.beliefs(wiring, evidence, passing.to_store(wiring, chosen, messages[0].dtype))
