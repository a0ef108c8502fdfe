"""Repair of decodings: fix the most certain variables, propagate, and go on with the rest.

A decoding that takes each variable's best state on its own can violate a hard factor, at ties or
when messages oscillate. Fixing half of the free variables at a time and running the messages again
lets the rest follow. Ties are broken by a little seeded noise on the evidence, drawn per graph.

All arrays have a leading axis of restarts, and all restarts are repaired at once.
"""

from collections.abc import Callable, Sequence

import numpy as np

from mam.factors.numeric_limits import limit
from mam.infer.deadline import Deadline
from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem, decode, margins

_ROUNDS = 12

Propagate = Callable[[HostStore, Store, np.ndarray], tuple[Store, Store]]


def decimate(
    problem: Problem,
    messages: Store,
    wanted: np.ndarray,
    propagate: Propagate,
    noise: float,
    seed: int,
    end: Deadline,
) -> HostStore:
    """Return states for the wanted ``(restarts, instances)``, most certain variables first.

    ``propagate(evidence, messages, active)`` runs the messages and returns them with the beliefs.
    At the ``end`` the rest takes its best states as they are.
    """
    base = _with_noise(problem, noise, seed, len(wanted))
    fixed = [np.zeros(evidence.shape[:2], bool) for evidence in base]
    states = [np.zeros(evidence.shape[:2], np.int32) for evidence in base]
    evidence = base
    for _ in range(_ROUNDS):
        messages, beliefs = propagate(evidence, messages, wanted)
        host = [np.asarray(belief) for belief in beliefs]
        found = zip(fixed, states, decode(host), strict=True)
        states = [np.where(mine, old, new).astype(np.int32) for mine, old, new in found]
        if all(mine.all() for mine in fixed) or end.over:
            break
        newly = _most_certain_half(problem, margins(host), [~mine for mine in fixed])
        fixed = [mine | new for mine, new in zip(fixed, newly, strict=True)]
        evidence = tuple(map(_clamped, base, fixed, states))
    return tuple(states)


def _clamped(evidence: np.ndarray, fixed: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return the evidence with some variables fixed to given states."""
    big = limit(evidence.dtype)
    if evidence.ndim == 2:
        demand = np.where(states == 1, big, -big)
        return np.where(fixed, demand, evidence).astype(evidence.dtype)
    demand = np.where(np.arange(evidence.shape[2]) == states[..., None], 0, -big)
    return np.where(fixed[..., None], demand, evidence).astype(evidence.dtype)


def _with_noise(problem: Problem, noise: float, seed: int, restarts: int) -> HostStore:
    """Return the evidence shaken, each graph and restart by its own draw."""
    compiled = problem.compiled
    shaken = [np.repeat(evidence[None], restarts, axis=0) for evidence in problem.evidence]
    for start, graph in zip(compiled.starts, compiled.graphs, strict=True):
        draws = [np.random.default_rng([seed, restart]) for restart in range(restarts)]
        for group in graph.variables:
            ids = int(start) + group.ids.ravel()
            if not ids.size:
                continue
            target = shaken[int(compiled.kind[ids[0]])]
            shape = (ids.size, *target.shape[2:])
            added = np.stack([rng.logistic(size=shape) for rng in draws])
            target[:, compiled.position[ids]] += (noise * added).astype(target.dtype)
    return tuple(shaken)


def _most_certain_half(
    problem: Problem, certainty: Sequence[np.ndarray], free: Sequence[np.ndarray]
) -> list[np.ndarray]:
    """Choose, in every graph and restart, the half of the free variables with largest margins."""
    restarts = len(free[0])
    graph = np.concatenate([problem.instance_of(k) for k in range(len(free))])
    step = int(graph.max(initial=0)) + 1
    owner = (graph + step * np.arange(restarts)[:, None]).ravel()
    loose = np.concatenate(list(free), 1).ravel()
    doubt = -np.concatenate(list(certainty), 1).ravel()
    order = np.lexsort((doubt, ~loose, owner))
    in_order = owner[order]
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order)) - np.searchsorted(in_order, in_order)
    count = np.bincount(owner[loose], minlength=step * restarts)
    chosen = (loose & (rank < (count[owner] + 1) // 2)).reshape(restarts, -1)
    return np.split(chosen, np.cumsum([mine.shape[1] for mine in free])[:-1], axis=1)
