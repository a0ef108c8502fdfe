"""Solving wirings that are made where their candidates are: functions to be compiled in.

See ``mam.graph.wiring``. Messages go in sweeps along an order or all at once, variables are
decided, and the answer says what it scores and breaks.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from mam.core.devices import on_one_gpu
from mam.factors.reduce import as_scores
from mam.graph import Wiring
from mam.infer import passing
from mam.infer.evaluate import scores_by_factor, summed
from mam.infer.loop import run
from mam.infer.messages import BeliefPropagation
from mam.infer.passing import Store
from mam.infer.stages import Stages
from mam.infer.sweeps import Sweeps
from mam.infer.window_sweeps import can_sweep, sweep_windows


class Flooding(NamedTuple):
    """Settings of messages of all factors at once."""

    iterations: int
    damping: float
    noise: float = 0.01  # scale of the logistic first messages
    seed: int = 0


class Swept(NamedTuple):
    """What messages over a wiring find, by class of variables or by instance."""

    states: Store
    score: Array  # of the evidence and of the factors that are not violated
    violated: Array  # how many factors are
    exact: Array  # whether the states are known to be the best ones: on forests


def sweep_wired(
    wiring: Wiring, potentials: Store, evidence: Store, stages: Stages, sweeps: int
) -> Swept:
    """Sweep there and back so many times, and decide in order: a function to be compiled in.

    ``evidence`` is finite: score(ON) - score(OFF), or scores per state.
    """
    if on_one_gpu() and can_sweep(wiring, stages):
        beliefs = sweep_windows(wiring, evidence, stages, sweeps)
    else:
        beliefs = _sweep_by_stages(wiring, potentials, evidence, stages, sweeps)
    return _found(wiring, potentials, evidence, beliefs, jnp.asarray(stages.exact) & (sweeps > 0))


def _sweep_by_stages(
    wiring: Wiring, potentials: Store, evidence: Store, stages: Stages, sweeps: int
) -> Store:
    solver = Sweeps(wiring, potentials, evidence, stages, 0, 0.0, fresh=False)
    everyone = jnp.ones(wiring.instances, bool)
    state = jax.lax.fori_loop(
        0, sweeps, lambda _, state: solver.there_and_back(state, everyone), solver.quiet()
    )
    return solver.finish(state, decide=True)[1]


def flood_wired(wiring: Wiring, potentials: Store, evidence: Store, flooding: Flooding) -> Swept:
    """Send all messages at once so many times, then take every variable's best state on its own."""
    kind = evidence[0].dtype
    settings = (jnp.asarray(value, kind) for value in (flooding.damping, 0.0))
    key = jax.random.fold_in(jax.random.key(flooding.seed), 0)
    solver = BeliefPropagation.of(wiring, potentials, evidence, key, *settings)
    first = solver.init(jnp.asarray(flooding.noise, kind))
    messages, _ = run(solver, first, flooding.iterations)
    never = jnp.zeros(wiring.instances, bool)
    return _found(wiring, potentials, evidence, solver.beliefs(messages), never)


def _found(
    wiring: Wiring, potentials: Store, evidence: Store, beliefs: Store, exact: Array
) -> Swept:
    """The states that beliefs say, and what they score."""
    states = passing.best_states(beliefs)
    by_factor = scores_by_factor(wiring, potentials, states)
    known = tuple(as_scores(values, n) for values, n in zip(evidence, wiring.states, strict=True))
    possible = tuple(jnp.where(jnp.isneginf(scores), 0.0, scores) for scores in by_factor)
    broken = jnp.zeros(wiring.instances, jnp.int32)
    for scores, instance in zip(by_factor, wiring.factor_instance, strict=True):
        wrong = jnp.isneginf(scores).astype(jnp.int32)
        broken += passing.sum_by_instance(wrong, instance, wiring.instances)
    score = summed(wiring, known, states, possible)
    return Swept(states, score, broken, exact)
