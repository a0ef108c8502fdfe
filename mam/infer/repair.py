"""Repair of a decoding: fix the most certain variables, propagate, and go on with the rest.

A decoding that takes each variable's best state on its own can violate a hard factor, at ties or
when messages oscillate. Fixing half of the free variables at a time and running the messages again
lets the rest follow. Ties are broken by a little seeded noise on the evidence, drawn per graph.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem, margins

_ROUNDS = 12

Propagate = Callable[[HostStore, Store, np.ndarray], tuple[Store, Store]]


def decimate(
    problem: Problem,
    messages: Store,
    wanted: np.ndarray,
    propagate: Propagate,
    noise: float,
    seed: int,
) -> tuple[np.ndarray, ...]:
    """Return states for the wanted instances of a batch, most certain variables first.

    ``propagate(evidence, messages, active)`` runs the messages and returns them with the beliefs.
    """
    fixed = [np.zeros(len(evidence), bool) for evidence in problem.evidence]
    states = [np.zeros(len(evidence), np.int32) for evidence in problem.evidence]
    base = _with_noise(problem, noise, seed)
    evidence: HostStore = base.evidence
    for _ in range(_ROUNDS):
        messages, beliefs = propagate(evidence, messages, wanted)
        host = [np.asarray(belief) for belief in beliefs]
        free = [~mine for mine in fixed]
        for kind, belief in enumerate(host):
            best = (belief > 0) if belief.ndim == 1 else belief.argmax(1)
            states[kind] = np.where(fixed[kind], states[kind], best).astype(np.int32)
        if not any(mine.any() for mine in free):
            break
        newly = _most_certain_half(problem, margins(host), free)
        fixed = [mine | new for mine, new in zip(fixed, newly, strict=True)]
        evidence = base.clamped(fixed, states)
    return tuple(states)


def _with_noise(problem: Problem, noise: float, seed: int) -> Problem:
    """Return the problem with its evidence shaken, each graph by its own draw."""
    compiled = problem.compiled
    shaken = [np.array(evidence) for evidence in problem.evidence]
    for start, graph in zip(compiled.starts, compiled.graphs, strict=True):
        rng = np.random.default_rng(seed)
        for group in graph.variables:
            ids = int(start) + group.ids.ravel()
            if not ids.size:
                continue
            target = shaken[int(compiled.kind[ids[0]])]
            shape = (ids.size,) if target.ndim == 1 else (ids.size, group.states)
            target[compiled.position[ids]] += noise * rng.logistic(size=shape)
    return Problem(compiled, problem.potentials, tuple(shaken), problem.scores, problem.single)


def _most_certain_half(
    problem: Problem, certainty: Sequence[np.ndarray], free: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Choose, in every graph, the half of the free variables with the largest margins."""
    instance = np.concatenate([problem.instance_of(k) for k in range(len(free))])
    loose = np.concatenate(list(free))
    doubt = -np.concatenate(list(certainty))
    order = np.lexsort((doubt, ~loose, instance))
    sorted_instance = instance[order]
    first = np.searchsorted(sorted_instance, sorted_instance)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - first
    count = np.bincount(instance[loose], minlength=int(instance.max(initial=0)) + 1)
    chosen = loose & (rank < (count[instance] + 1) // 2)
    return np.split(chosen, np.cumsum([len(mine) for mine in free])[:-1])
