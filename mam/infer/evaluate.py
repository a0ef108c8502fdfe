"""Scores and bounds in double precision, with true infinities.

Whatever precision the messages were computed in, what is reported is evaluated here: the score of
an assignment exactly, and the dual bound at the given messages, which holds for any messages.
"""

from collections.abc import Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from mam.factors.base import Temperature
from mam.factors.reduce import as_scores, soft_maximum
from mam.graph import CompiledGraph, Wiring
from mam.infer import passing
from mam.infer.passing import HostStore, Store


def scores_by_factor(wiring: Wiring, potentials: Store, states: Store) -> tuple[Array, ...]:
    """Return the log potential of every factor of every block; padding scores 0."""
    at_edges = passing.at_edges(wiring, states, (0,) * len(wiring.states))
    result = []
    for i, block in enumerate(wiring.blocks):
        scores = block.score(potentials[wiring.parameters[i]], at_edges[i])
        result.append(jnp.where(wiring.factor_instance[i] < wiring.instances, scores, 0.0))
    return tuple(result)


def total_score(
    wiring: Wiring, potentials: Store, evidence: Store, states: Store
) -> tuple[Array, tuple[Array, ...]]:
    """Return the score of each graph of the batch, and those of all factors.

    ``evidence`` holds scores per state here, not differences.
    """
    by_factor = scores_by_factor(wiring, potentials, states)
    return summed(wiring, evidence, states, by_factor), by_factor


def summed(wiring: Wiring, evidence: Store, states: Store, by_factor: tuple[Array, ...]) -> Array:
    """Return for each graph the sum of its evidence at the states, and of its factors' scores."""
    total = jnp.zeros(wiring.instances, evidence[0].dtype)
    for kind, chosen in enumerate(states):
        scores = jnp.take_along_axis(evidence[kind], chosen[:, None], 1)[:, 0]
        total += passing.sum_by_instance(scores, wiring.instance[kind], wiring.instances)
    for scores, instance in zip(by_factor, wiring.factor_instance, strict=True):
        total += passing.sum_by_instance(scores, instance, wiring.instances)
    return total


def dual_bound(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    messages: Store,
    temperature: Temperature = 0,
) -> Array:
    """Return, for each graph, an upper bound on the score of any assignment.

    The messages move score from factors to variables; whatever they are, the sum of all maxima
    is at least the maximum of the sum. At a temperature all maxima are soft ones, which lie above.
    """
    total = jnp.zeros(wiring.instances, evidence[0].dtype)
    for kind, states in enumerate(wiring.states):
        moved = as_scores(passing.received(wiring, kind, messages), states)
        best = soft_maximum(evidence[kind] + moved, 1, temperature)
        total += passing.sum_by_instance(best, wiring.instance[kind], wiring.instances)
    incoming = negated(wiring, messages)
    for i, block in enumerate(wiring.blocks):
        best = block.best(potentials[wiring.parameters[i]], incoming[i], temperature)
        total += passing.sum_by_instance(best, wiring.factor_instance[i], wiring.instances)
    return total


def negated(wiring: Wiring, messages: Store) -> passing.Incoming:
    """Return minus the messages at every port, padding being OFF for sure."""
    floor = passing.neutral(wiring, messages[0].dtype)

    def negate(port: passing.PortWiring, message: Array) -> Array:
        present = port.index < wiring.class_size(port.kind)
        present = present.reshape(*present.shape, *[1] * (message.ndim - present.ndim))
        return jnp.where(present, -message, floor[port.kind])

    return passing.map_ports(wiring, negate, passing.at_ports(wiring, messages))


def lowest_possible(
    compiled: CompiledGraph, evidence: Sequence[np.ndarray]
) -> Float[np.ndarray, " graphs"]:
    """Return what every feasible assignment of each graph scores at least.

    A bound below it proves that there is none: in messages infinities are large numbers, so a
    contradiction pulls the bound far down, but never to minus infinity.
    """
    wiring = compiled.wiring
    total = np.zeros(wiring.instances + 1)
    for scores, instance in zip(evidence, wiring.instance, strict=True):
        lowest = np.min(scores, 1, initial=np.inf, where=np.isfinite(scores))
        np.add.at(total, np.asarray(instance), np.where(np.isfinite(lowest), lowest, 0.0))
    for factors, values in zip(compiled.sets, compiled.potentials, strict=True):
        # A factor scores one of its potentials, or 0.
        lowest = np.min(values, 1, initial=0.0, where=np.isfinite(values))
        np.add.at(total, factors.instance, lowest[factors.factors.row])
    return total[:-1]


@jax.jit
def _score_many(
    wiring: Wiring, potentials: Store, evidence: Store, states: Store
) -> tuple[Array, tuple[Array, ...]]:
    return jax.vmap(partial(total_score, wiring, potentials, evidence))(states)


def score(
    compiled: CompiledGraph, evidence: Sequence[np.ndarray], states: HostStore
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Return scores ``(restarts, graphs)`` and factor scores of states with a restart axis."""
    with jax.enable_x64(True):
        total, by_factor = _score_many(
            compiled.wiring, compiled.potentials, tuple(evidence), states
        )
    return np.asarray(total), [np.asarray(scores) for scores in by_factor]
