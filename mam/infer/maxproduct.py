"""Max-product with restarts, repair and, on request, a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from threading import Event

import jax
import numpy as np

from mam.graph import CompiledGraph, FactorGraph
from mam.graph.evidence import Evidence
from mam.infer import evaluate
from mam.infer.climb import climb
from mam.infer.deadline import Deadline
from mam.infer.dual_bounds import dual_bounds
from mam.infer.loop import Info
from mam.infer.mutual import mutual_best
from mam.infer.neighbours import regions
from mam.infer.options import Options
from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem, decode, margins
from mam.infer.repair import decimate
from mam.infer.restarts import (
    Propagated,
    beliefs_of_restarts,
    go_on,
    propagate_restarts,
    settings_of,
)
from mam.infer.score import violations
from mam.infer.solution import Solution, lifted
from mam.infer.tighten import tightened


def max_product(
    graph: CompiledGraph | Sequence[FactorGraph],
    evidence: Evidence | Sequence[Evidence] | None,
    options: Options,
    order: Sequence[np.ndarray] | None = None,
    given_up: Event | None = None,
) -> list[Solution]:
    """Find good assignments by messages: one ``Solution`` for each graph of the batch.

    ``order`` is that of sweeps, see ``stages_of``. Once another thread sets ``given_up``
    it ends soon with what it has.
    """
    problem = Problem.of(graph, evidence, options.dtype, options.restarts)
    end = Deadline.within(options.message_seconds, given_up)
    run = propagate_restarts(problem, options, end, order)
    messages, info = run.messages, run.info
    decoded = _decoded(problem, run, options)
    if options.repair:
        decoded = _repaired(problem, decoded, messages, info, options, end)
    answer = _best_restart(problem, decoded, messages, info, options.climb)
    bounds = None
    if options.bound:
        answer, bounds = _certified(problem, answer, options, end)
    solutions = _solutions(problem, answer, bounds)
    if options.bound and options.tighten:
        return tightened(problem, solutions, options, end)
    return solutions


@dataclass(frozen=True)
class _Decoded:
    """Assignments of every restart with their scores and margins."""

    states: HostStore
    margins: HostStore
    score: np.ndarray  # (restarts, instances)

    def improved(self, problem: Problem, states: HostStore) -> "_Decoded":
        """Take over other states where they score better."""
        score = evaluate.score(problem.compiled, problem.scores, states)[0]
        better = np.pad(score > self.score, ((0, 0), (0, 1)))
        merged = tuple(
            np.where(better[:, problem.instance_of(kind)], new, old)
            for kind, (new, old) in enumerate(zip(states, self.states, strict=True))
        )
        return replace(self, states=merged, score=np.maximum(score, self.score))


@dataclass(frozen=True)
class _Answer:
    """The best decoding of every graph of a batch, with a leading axis of one."""

    decoded: _Decoded
    converged: np.ndarray
    iterations: np.ndarray


def _decoded(problem: Problem, run: Propagated, options: Options) -> _Decoded:
    decisive = run.decisive
    if options.decoding == "mutual":
        known = problem.compiled.wiring, problem.potentials, problem.evidence
        with jax.enable_x64(options.precision == "double"):
            decisive = mutual_best(*known, run.messages, run.beliefs)
    ties_on = options.decoding == "ties on"
    states = tuple(decode([np.asarray(belief) for belief in decisive], ties_on))
    score = evaluate.score(problem.compiled, problem.scores, states)[0]
    own = margins([np.asarray(belief) for belief in run.beliefs])
    return _Decoded(states, tuple(own), score)


def _best_restart(
    problem: Problem, decoded: _Decoded, messages: Store, info: Info, climbing: bool
) -> _Answer:
    """Keep the restart that scores best, for each part of a graph that hangs together.

    With ``climbing`` the two best ones climb first; the others rarely get as far.
    """
    wiring, best = problem.compiled.wiring, decoded.score.argmax(0)
    converged, iterations = (np.asarray(of)[best, np.arange(len(best))] for of in info)
    if len(decoded.score) == 1 and not climbing:
        return _Answer(decoded, converged, iterations)
    labels, of_factors = (tuple(map(np.asarray, of)) for of in regions(wiring))
    ranked = _best_two(_scores_by_region(problem, decoded.states, labels, of_factors))
    states = _states_of(decoded.states, labels, ranked if climbing else ranked[:1])
    chosen = ranked[0]
    if climbing:
        states = climb(problem, states)
        winner = _scores_by_region(problem, states, labels, of_factors).argmax(0)
        chosen = ranked[winner, np.arange(len(winner))]
        states = _states_of(states, labels, winner[None])
    # All restarts but the first ran on shaken evidence: margins are those of the true one.
    with jax.enable_x64(problem.evidence[0].dtype == np.float64):
        which = tuple(chosen[mine].astype(np.int32) for mine in of_factors)
        beliefs = beliefs_of_restarts(wiring, problem.evidence, messages, which)
    own = tuple(margins([np.asarray(belief)[None] for belief in beliefs]))
    score = evaluate.score(problem.compiled, problem.scores, states)[0]
    return _Answer(_Decoded(states, own, score), converged, iterations)


def _states_of(states: HostStore, labels: HostStore, restarts: np.ndarray) -> HostStore:
    """The states of the restarts that are named, ``(choices, regions)``, for every region."""
    return tuple(
        values[restarts[:, label], np.arange(values.shape[1])]
        for values, label in zip(states, labels, strict=True)
    )


def _best_two(scores: np.ndarray) -> np.ndarray:
    """The best restart of each region and the next that is not as good, if there is one."""
    first = scores.argmax(0)
    best = np.take_along_axis(scores, first[None], 0)
    with np.errstate(invalid="ignore"):
        others = np.where(best - scores > 1e-9, scores, -np.inf)
    second = np.where(np.isfinite(others).any(0), others.argmax(0), first)
    return np.stack([first, second])


def _scores_by_region(
    problem: Problem, states: HostStore, labels: HostStore, of_factors: HostStore
) -> np.ndarray:
    """The score of every restart in every region, which all begin with a variable's number."""
    restarts = len(states[0])
    count = sum(map(len, labels)) + 1
    row = count * np.arange(restarts)[:, None]
    total = np.zeros(restarts * count)
    for mine, scores, label in zip(states, problem.scores, labels, strict=True):
        values = scores[np.arange(len(scores)), mine]
        total += np.bincount((row + label).ravel(), values.ravel(), len(total))
    by_factor = evaluate.score(problem.compiled, problem.scores, states)[1]
    for values, label in zip(by_factor, of_factors, strict=True):
        total += np.bincount((row + label).ravel(), values.ravel(), len(total))
    return total.reshape(restarts, count)


def _repaired(
    problem: Problem,
    decoded: _Decoded,
    messages: Store,
    info: Info,
    options: Options,
    end: Deadline,
) -> _Decoded:
    """Repair what is infeasible or tied, or whose messages did not come to rest."""
    wanted = ~np.isfinite(decoded.score) | ~np.asarray(info.converged)
    wanted |= _tied(problem, decoded, 10 * options.tolerance)
    wanted[:, len(problem.compiled.graphs) :] = False
    if not wanted.any() or end.over:
        return decoded
    settings = settings_of(options, min(options.iterations, 50))

    def propagate(evidence: HostStore, messages: Store, active: np.ndarray) -> tuple[Store, Store]:
        wiring, potentials = problem.compiled.wiring, problem.potentials
        with jax.enable_x64(options.precision == "double"):
            return go_on(wiring, potentials, evidence, settings, messages, active)

    noise = max(options.noise, options.tolerance)
    states = decimate(problem, messages, wanted, propagate, noise, options.seed, end)
    return decoded.improved(problem, states)


def _tied(problem: Problem, decoded: _Decoded, margin: float) -> np.ndarray:
    """Whether some variable that has factors is as good in another state."""
    restarts, graphs = decoded.score.shape
    tied = np.zeros((restarts, graphs + 1), bool)
    for kind, own in enumerate(decoded.margins):
        restart, place = np.nonzero((own <= margin) & problem.has_factors(kind))
        tied[restart, problem.instance_of(kind)[place]] = True
    return tied[:, :-1]


def _certified(
    problem: Problem, answer: _Answer, options: Options, end: Deadline
) -> tuple[_Answer, np.ndarray]:
    """Descend on the dual bound in double precision; its decodings compete as well."""
    known = tuple(states[0] for states in answer.decoded.states)
    found = dual_bounds(problem, known, options, end)
    better = answer.decoded.improved(problem, tuple(states[None] for states in found.states))
    return replace(answer, decoded=better), found.bounds


def _solutions(problem: Problem, answer: _Answer, bounds: np.ndarray | None) -> list[Solution]:
    compiled = problem.compiled
    values = compiled.gather([states[0] for states in answer.decoded.states])
    spread = compiled.gather([own[0] for own in answer.decoded.margins])
    ends = np.append(compiled.starts, len(values))
    score = answer.decoded.score[0]
    broken = [()] * len(compiled.graphs)
    if not np.isfinite(score[: len(broken)]).all():
        union = compiled.union
        broken = violations(union, compiled.unpacked(problem.scores), values)
    return [
        Solution(
            graph,
            values[ends[i] : ends[i + 1]],
            spread[ends[i] : ends[i + 1]],
            float(score[i]),
            None if bounds is None else lifted(float(bounds[i]), float(score[i])),
            bool(answer.converged[i]),
            int(answer.iterations[i]),
            broken[i],
            ways={"max-product": 1},
        )
        for i, graph in enumerate(compiled.graphs)
    ]
