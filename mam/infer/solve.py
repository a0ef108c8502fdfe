"""``solve``: max-product with restarts, repair and, on request, a certificate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.graph import CompiledGraph, FactorGraph, PortWiring, Wiring
from mam.graph.evidence import Evidence, as_difference
from mam.infer import evaluate, passing
from mam.infer.dual import DualDescent
from mam.infer.loop import Info, run
from mam.infer.messages import BeliefPropagation
from mam.infer.passing import HostStore, Store
from mam.infer.problem import Problem, margins
from mam.infer.repair import decimate
from mam.infer.solution import Solution

# Iterations between two looks whether messages still move.
_STRIDE = 5


@dataclass(frozen=True)
class Options:
    """Settings of ``solve``; the defaults are the paper's where it names them."""

    iterations: int = 200  # rounded up to a multiple of 5
    damping: float = 0.5  # new message = damping * old + (1 - damping) * new
    noise: float = 0.01  # scale of the logistic initial messages
    tolerance: float = 1e-4  # an instance rests when no message moves by more
    restarts: int = 1  # best score wins; all but the first start from shaken evidence
    jitter: float = 0.3  # scale of the logistic noise on the evidence of those restarts
    seed: int = 0
    schedule: str = "parallel"  # or "blocks"
    blocks: int = 4  # random blocks of an iteration, for schedule="blocks"
    precision: str = "single"  # or "double"
    repair: bool = True
    bound: bool = False
    bound_steps: int = 500  # looks at the bound at most; each follows 10 pairs of passes
    bound_tolerance: float = 1e-7  # a bound that falls by less rests

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")
        if self.restarts < 1 or self.iterations < 1 or self.blocks < 1:
            raise ValueError("restarts, iterations and blocks must be at least 1")
        if self.schedule not in ("parallel", "blocks"):
            raise ValueError(f"schedule is 'parallel' or 'blocks', not {self.schedule!r}")
        if self.precision not in ("single", "double"):
            raise ValueError(f"precision is 'single' or 'double', not {self.precision!r}")

    @property
    def dtype(self) -> type:
        """The type of the messages."""
        return np.float64 if self.precision == "double" else np.float32


Graphs = FactorGraph | CompiledGraph | Sequence[FactorGraph]


def solve(
    graph: Graphs,
    evidence: Evidence | Sequence[Evidence] | None = None,
    options: Options | None = None,
    **changes: Any,
) -> Any:
    """Find a best assignment: a ``Solution``, or a list of them for a batch of graphs.

    ``evidence`` maps names of variable groups to arrays, see ``pack_evidence``; a batch takes a
    list of such mappings. Settings are the fields of ``Options``, given as one or by name.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("agree", Pairwise.of([[0, 1], [1, 2]], [[1, 0], [0, 1]]))
    >>> solution = solve(builder.build(), {"x": [0.5, 0, 0]}, bound=True)
    >>> solution["x"].tolist(), solution.score, solution.optimal
    ([1, 1, 1], 2.5, True)
    """
    chosen = replace(options or Options(), **changes)
    problem = Problem.of(graph, evidence, chosen.dtype)
    messages, beliefs, info = propagate_restarts(problem, chosen)
    answer = _best_restart(problem, messages, beliefs, info)
    if chosen.repair:
        answer = _repaired(problem, answer, chosen)
    bounds = None
    if chosen.bound:
        answer, bounds = _certified(problem, answer, chosen)
    solutions = _solutions(problem, answer, bounds)
    return solutions[0] if problem.single else solutions


@dataclass(frozen=True)
class _Answer:
    """The best decoding of every graph of a batch so far."""

    states: tuple[np.ndarray, ...]
    margins: tuple[np.ndarray, ...]
    score: np.ndarray
    messages: Store
    converged: np.ndarray
    iterations: np.ndarray

    def improved(self, problem: Problem, states: Sequence[np.ndarray]) -> "_Answer":
        """Take over other states where they score better."""
        score = evaluate.score(problem.compiled, problem.scores, _one(states))[0][0]
        better = np.append(score > self.score, False)
        merged = tuple(
            np.where(better[np.minimum(problem.instance_of(k), len(score))], new, old)
            for k, (new, old) in enumerate(zip(states, self.states, strict=True))
        )
        return replace(self, states=merged, score=np.maximum(score, self.score))


@partial(jax.jit, static_argnames=("blocks",))
def _propagate(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    keys: Array,
    jitter: Array,
    settings: tuple[Array, Array, Array, Array],
    blocks: int,
) -> tuple[Store, Store, Info]:
    damping, noise, tolerance, iterations = settings

    def one(key: Array, jitter: Array) -> tuple[Store, Store, Info]:
        shaken = passing.shaken(wiring, evidence, jax.random.fold_in(key, 2), jitter)
        solver = BeliefPropagation.of(
            wiring, potentials, shaken, key, damping, tolerance, blocks=blocks, stride=_STRIDE
        )
        messages, info = run(solver, solver.init(noise), -(-iterations // _STRIDE))
        info = info._replace(iterations=info.iterations * _STRIDE)
        return messages, solver.beliefs(messages), info

    if len(keys) == 1:
        return jax.tree.map(lambda x: x[None], one(keys[0], jitter[0]))
    return jax.vmap(one)(keys, jitter)


def propagate_restarts(problem: Problem, options: Options) -> tuple[Store, Store, Info]:
    """Run all restarts; return messages, beliefs and diagnostics with a leading restart axis."""
    blocks = 1 if options.schedule == "parallel" else options.blocks
    with jax.enable_x64(options.precision == "double"):
        return _propagate(
            problem.compiled.wiring,
            problem.potentials,
            problem.evidence,
            restart_keys(options.seed, options.restarts),
            np.where(np.arange(options.restarts) == 0, 0, options.jitter).astype(options.dtype),
            _settings(options, options.iterations),
            blocks,
        )


def restart_keys(seed: int, count: int) -> Array:
    """Return one key a restart; the r-th does not depend on how many there are."""
    return _fold(jax.random.key(seed), np.arange(count, dtype=np.uint32))


_fold = jax.jit(jax.vmap(jax.random.fold_in, in_axes=(None, 0)))


def _settings(options: Options, iterations: int) -> tuple:
    kind = options.dtype
    return kind(options.damping), kind(options.noise), kind(options.tolerance), np.int32(iterations)


def _best_restart(problem: Problem, messages: Store, beliefs: Store, info: Info) -> _Answer:
    """Decode every restart and keep, for each graph, the one that scores best."""
    host = [np.asarray(belief) for belief in beliefs]
    states = [
        (belief > 0).astype(np.int32) if belief.ndim == 2 else belief.argmax(2).astype(np.int32)
        for belief in host
    ]
    scores = evaluate.score(problem.compiled, problem.scores, tuple(states))[0]
    best = scores.argmax(0)
    graphs = np.arange(len(best))
    chosen = np.append(best, 0)

    def take(values: np.ndarray, kind: int) -> np.ndarray:
        which = chosen[np.minimum(problem.instance_of(kind), len(best))]
        return values[which, np.arange(values.shape[1])]

    with jax.enable_x64(host[0].dtype == np.float64):
        kept, beliefs = _of_restart(
            problem.compiled.wiring, problem.evidence, messages, best.astype(np.int32)
        )
    return _Answer(
        tuple(take(values, k) for k, values in enumerate(states)),
        tuple(margins([np.asarray(belief) for belief in beliefs])),
        scores[best, graphs],
        kept,
        np.asarray(info.converged)[best, graphs],
        np.asarray(info.iterations)[best, graphs],
    )


@jax.jit
def _of_restart(
    wiring: Wiring, evidence: Store, messages: Store, best: Array
) -> tuple[Store, Store]:
    """Return the messages of each graph's chosen restart, and the beliefs they give."""

    def choose(port: PortWiring, *restarts: Array) -> Array:
        which = best.at[port.instance].get(mode="fill", fill_value=0)
        return jnp.stack(restarts)[which, jnp.arange(len(which))]

    count = messages[0].shape[0]
    ports = [passing.at_ports(wiring, tuple(store[r] for store in messages)) for r in range(count)]
    chosen = passing.map_ports(wiring, choose, *ports)
    kept = passing.to_store(wiring, chosen, messages[0].dtype)
    return kept, passing.beliefs(wiring, evidence, kept)


def _repaired(problem: Problem, answer: _Answer, options: Options) -> _Answer:
    """Repair graphs whose answer is infeasible or tied, or whose messages did not come to rest."""
    graphs = len(problem.compiled.graphs)
    wanted = ~np.isfinite(answer.score) | ~answer.converged
    wanted |= _tied(problem, answer, 10 * options.tolerance)
    wanted[graphs:] = False
    if not wanted.any():
        return answer
    key = restart_keys(options.seed, 1)[0]
    settings = _settings(options, min(options.iterations, 50))

    def propagate(evidence: HostStore, messages: Store, active: np.ndarray) -> tuple[Store, Store]:
        with jax.enable_x64(options.precision == "double"):
            return _continue(
                problem.compiled.wiring,
                problem.potentials,
                evidence,
                key,
                settings,
                messages,
                active,
            )

    noise = max(options.noise, options.tolerance)
    states = decimate(problem, answer.messages, wanted, propagate, noise, options.seed)
    return answer.improved(problem, states)


def _tied(problem: Problem, answer: _Answer, margin: float) -> np.ndarray:
    """Whether some variable of each graph that has factors is as good in another state."""
    tied = np.zeros(len(answer.score) + 1, bool)
    for kind, margins_of_kind in enumerate(answer.margins):
        close = (margins_of_kind <= margin) & problem.has_factors(kind)
        tied[np.minimum(problem.instance_of(kind)[close], len(answer.score))] = True
    return tied[:-1]


@jax.jit
def _continue(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    key: Array,
    settings: tuple[Array, Array, Array, Array],
    messages: Store,
    active: Array,
) -> tuple[Store, Store]:
    damping, _, tolerance, iterations = settings
    solver = BeliefPropagation.of(wiring, potentials, evidence, key, damping, tolerance)
    messages, _ = run(solver, messages, iterations, active)
    return messages, solver.beliefs(messages)


def _certified(problem: Problem, answer: _Answer, options: Options) -> tuple[_Answer, np.ndarray]:
    """Descend on the dual bound in double precision; its decodings compete as well."""
    compiled = problem.compiled
    evidence = tuple(as_difference(scores, np.float64) for scores in problem.scores)
    with jax.enable_x64(True):
        bounds, states = _descend(
            compiled.wiring,
            compiled.potentials,
            evidence,
            problem.scores,
            (np.float64(options.bound_tolerance), np.int32(options.bound_steps)),
        )
    return answer.improved(problem, [np.asarray(s) for s in states]), np.asarray(bounds)


@jax.jit
def _descend(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    scores: Store,
    settings: tuple[Array, Array],
) -> tuple[Array, Store]:
    tolerance, steps = settings
    solver = DualDescent(wiring, potentials, evidence, scores, tolerance)
    zero = tuple(
        jnp.zeros((size,) if n == 2 else (size, n), evidence[0].dtype)
        for size, n in zip(wiring.store_sizes, wiring.states, strict=True)
    )
    state, _ = run(solver, solver.init(zero), steps)
    return state.bound, state.states


def _one(states: Sequence[np.ndarray]) -> HostStore:
    return tuple(values[None] for values in states)


def _solutions(problem: Problem, answer: _Answer, bounds: np.ndarray | None) -> list[Solution]:
    compiled = problem.compiled
    _, by_factor = evaluate.score(compiled, problem.scores, _one(answer.states))
    violated: list[list[str]] = [[] for _ in compiled.graphs]
    for block, scores in enumerate(by_factor):
        for row in np.flatnonzero(np.isneginf(scores[0])):
            group = compiled.sets[compiled.wiring.parameters[block]]
            instance, name, index = group.owner(int(compiled.factor_rows[block][row]))
            violated[instance].append(f"{name}[{index}]")
    values = compiled.gather(answer.states)
    spread = compiled.gather(answer.margins)
    ends = np.append(compiled.starts, len(values))
    return [
        Solution(
            graph,
            values[ends[i] : ends[i + 1]],
            spread[ends[i] : ends[i + 1]],
            float(answer.score[i]),
            None if bounds is None else float(bounds[i]),
            bool(answer.converged[i]),
            int(answer.iterations[i]),
            tuple(sorted(violated[i])),
        )
        for i, graph in enumerate(compiled.graphs)
    ]
