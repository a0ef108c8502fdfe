"""Max-product with restarts, repair and, on request, a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import numpy as np

from mam.graph import CompiledGraph, FactorGraph
from mam.graph.evidence import Evidence
from mam.infer import evaluate
from mam.infer.certify import dual_bounds
from mam.infer.loop import Info
from mam.infer.mutual import mutual_best
from mam.infer.options import Options
from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem, decode, margins
from mam.infer.repair import decimate
from mam.infer.restarts import (
    Propagated,
    beliefs_of_restart,
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
) -> list[Solution]:
    """Find good assignments by messages: one ``Solution`` for each graph of the batch.

    ``order`` is that of sweeps, see ``stages_of``.
    """
    problem = Problem.of(graph, evidence, options.dtype, options.restarts)
    run = propagate_restarts(problem, options, order)
    messages, info = run.messages, run.info
    decoded = _decoded(problem, run, options)
    if options.repair:
        decoded = _repaired(problem, decoded, messages, info, options)
    answer = _best_restart(problem, decoded, messages, info)
    bounds = None
    if options.bound:
        answer, bounds = _certified(problem, answer, options)
    solutions = _solutions(problem, answer, bounds)
    return (
        tightened(problem, solutions, options) if options.bound and options.tighten else solutions
    )


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
    states = tuple(decode([np.asarray(belief) for belief in decisive]))
    score = evaluate.score(problem.compiled, problem.scores, states)[0]
    own = margins([np.asarray(belief) for belief in run.beliefs])
    return _Decoded(states, tuple(own), score)


def _best_restart(problem: Problem, decoded: _Decoded, messages: Store, info: Info) -> _Answer:
    """Keep, for each graph, the restart that scores best."""
    best = decoded.score.argmax(0)
    graphs = np.arange(len(best))
    chosen = np.append(best, 0)

    def take(values: np.ndarray, kind: int) -> np.ndarray:
        which = chosen[problem.instance_of(kind)]
        return values[which, np.arange(values.shape[1])][None]

    own = decoded.margins
    if len(decoded.score) > 1:
        # All restarts but the first ran on shaken evidence: margins are those of the true one.
        with jax.enable_x64(problem.evidence[0].dtype == np.float64):
            beliefs = beliefs_of_restart(
                problem.compiled.wiring, problem.evidence, messages, best.astype(np.int32)
            )
        own = tuple(margins([np.asarray(belief)[None] for belief in beliefs]))
    return _Answer(
        _Decoded(
            tuple(take(values, kind) for kind, values in enumerate(decoded.states)),
            own,
            decoded.score[best, graphs][None],
        ),
        np.asarray(info.converged)[best, graphs],
        np.asarray(info.iterations)[best, graphs],
    )


def _repaired(
    problem: Problem, decoded: _Decoded, messages: Store, info: Info, options: Options
) -> _Decoded:
    """Repair what is infeasible or tied, or whose messages did not come to rest."""
    wanted = ~np.isfinite(decoded.score) | ~np.asarray(info.converged)
    wanted |= _tied(problem, decoded, 10 * options.tolerance)
    wanted[:, len(problem.compiled.graphs) :] = False
    if not wanted.any():
        return decoded
    settings = settings_of(options, min(options.iterations, 50))

    def propagate(evidence: HostStore, messages: Store, active: np.ndarray) -> tuple[Store, Store]:
        wiring, potentials = problem.compiled.wiring, problem.potentials
        with jax.enable_x64(options.precision == "double"):
            return go_on(wiring, potentials, evidence, settings, messages, active)

    noise = max(options.noise, options.tolerance)
    states = decimate(problem, messages, wanted, propagate, noise, options.seed)
    return decoded.improved(problem, states)


def _tied(problem: Problem, decoded: _Decoded, margin: float) -> np.ndarray:
    """Whether some variable that has factors is as good in another state."""
    restarts, graphs = decoded.score.shape
    tied = np.zeros((restarts, graphs + 1), bool)
    for kind, own in enumerate(decoded.margins):
        restart, place = np.nonzero((own <= margin) & problem.has_factors(kind))
        tied[restart, problem.instance_of(kind)[place]] = True
    return tied[:, :-1]


def _certified(problem: Problem, answer: _Answer, options: Options) -> tuple[_Answer, np.ndarray]:
    """Descend on the dual bound in double precision; its decodings compete as well."""
    known = tuple(states[0] for states in answer.decoded.states)
    found = dual_bounds(problem, known, options)
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
