r"""Marginal probabilities and log Z: exact by elimination, or the Bethe estimate of sum-product.

.. math::
    \log Z \approx \sum_f \log \sum_c e^{\theta_f(c) + \sum_v q_{v f}(c_v)}
    + \sum_v \log \sum_x e^{b_v(x)} - \sum_{f, v} \log \sum_x e^{q_{v f}(x) + m_{f v}(x)}

The estimate is exact on trees.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.core.memory import TooLarge
from mam.factors.reduce import as_scores
from mam.graph import CompiledGraph, FactorGraph, GraphUnion, Wiring, union_scores
from mam.graph.evidence import Evidence, left_out
from mam.infer import passing
from mam.infer.components import Split
from mam.infer.eliminate import log_partitions
from mam.infer.exact import enumerate_exactly
from mam.infer.loop import Info, run
from mam.infer.messages import BeliefPropagation
from mam.infer.options import Options
from mam.infer.passing import Store
from mam.infer.problem import Problem
from mam.infer.restarts import restart_keys
from mam.infer.tables import Passed, log_sum, pass_down

METHODS = ("auto", "exact", "bethe")


@dataclass(frozen=True)
class Marginals:
    """Probabilities of the states of each variable, by name, with the run's diagnostics."""

    probabilities: Mapping[str, np.ndarray]  # the group's shape with one more axis of states
    log_partition: float
    converged: bool
    iterations: int
    exact: bool = False

    def __getitem__(self, name: str) -> np.ndarray:
        return self.probabilities[name]


def marginals(
    graph: FactorGraph | CompiledGraph,
    evidence: Evidence | None = None,
    options: Options | None = None,
    *,
    method: str = "auto",
    **changes: Any,
) -> Marginals:
    """Return the marginals of one graph.

    ``method`` is "exact" (elimination; ``TooLarge`` if a table would be), "bethe" (sum-product)
    or "auto": exact where every component has small width. A model without a possible assignment
    has no marginals: ``ValueError``.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 2)
    >>> builder.add("agree", Pairwise.of([[0, 1]], np.log([[4, 1], [1, 4]])))
    >>> result = marginals(builder.build(), {"x": [np.inf, 0]})
    >>> result["x"][1].round(3).tolist(), round(float(np.exp(result.log_partition)), 3)
    ([0.2, 0.8], 5.0)
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    union = graph.union if isinstance(graph, CompiledGraph) else GraphUnion.of(graph)
    if len(union.graphs) != 1:
        raise ValueError("marginals are computed for one graph at a time")
    total, parts, passed = log_partitions(union, union_scores(union, evidence))
    if np.isneginf(total[0]):
        raise ValueError("the model has no marginals: no assignment is possible")
    if method != "bethe" and parts.exact.all():
        return _exact_marginals(float(total[0]), parts, passed)
    if method == "exact":
        raise TooLarge(f"marginals cannot be computed exactly: {parts.refusal}")
    return _bethe_marginals(graph, evidence, options, changes)


def log_partition(
    graph: FactorGraph, evidence: Evidence | None = None, *, method: str = "auto", **changes: Any
) -> float:
    """Return log Z, by the method that ``marginals`` would use; -inf if nothing is possible.

    A model that is too wide for "exact" may still have few enough configurations to list them all.
    """
    if method not in METHODS:
        raise ValueError(f"method is one of {', '.join(METHODS)}, not {method!r}")
    union = GraphUnion.of(graph)
    total, parts, _ = log_partitions(union, union_scores(union, evidence))
    if np.isneginf(total[0]) or (method != "bethe" and parts.exact.all()):
        return float(total[0])
    if method != "exact":
        return _bethe_marginals(graph, evidence, None, changes).log_partition
    try:
        return enumerate_exactly(graph, evidence).log_partition
    except TooLarge as many:
        raise TooLarge(f"log Z cannot be computed exactly: {parts.refusal}; {many}") from None


def _exact_marginals(total: float, parts: Split, passed: Passed) -> Marginals:
    graph, states = parts.union.graphs[0], parts.network.states
    start = np.cumsum(states) - states
    share = np.zeros(int(states.sum()))
    fixed = parts.network.fixed
    known = np.flatnonzero(fixed >= 0)
    share[start[known] + fixed[known]] = 1.0
    for variables, found in pass_down(passed, log_sum):
        weight = np.exp(found - found.max(1, keepdims=True))
        place = start[variables, None] + np.arange(found.shape[1])
        share[place] = weight / weight.sum(1, keepdims=True)
    named = {}
    for group in graph.variables:
        # What is known of a component is known of its twins.
        first = start[parts.twins.variable[group.ids.ravel()]]
        own = share[first[:, None] + np.arange(group.states)]
        named[group.name] = own.reshape(*group.shape, group.states)
    return Marginals(named, total, converged=True, iterations=0, exact=True)


def _bethe_marginals(
    graph: FactorGraph | CompiledGraph,
    evidence: Evidence | None,
    options: Options | None,
    changes: dict[str, Any],
) -> Marginals:
    default = Options(precision="double", iterations=500, tolerance=1e-9)
    chosen = replace(options or default, **changes)
    problem = Problem.of(graph, evidence, chosen.dtype)
    with jax.enable_x64(chosen.precision == "double"):
        beliefs, bethe, info = _sum_product(
            problem.compiled.wiring,
            problem.potentials,
            problem.evidence,
            restart_keys(chosen.seed, 1)[0],
            tuple(chosen.dtype(v) for v in (chosen.damping, chosen.noise, chosen.tolerance)),
            np.int32(chosen.iterations),
        )
    return Marginals(
        _probabilities(problem.compiled, [np.asarray(b) for b in beliefs]),
        float(bethe) + _constant(problem),
        bool(info.converged[0]),
        int(info.iterations[0]),
    )


@jax.jit
def _sum_product(
    wiring: Wiring,
    potentials: Store,
    evidence: Store,
    key: Array,
    settings: tuple[Array, Array, Array],
    iterations: Array,
) -> tuple[Store, Array, Info]:
    damping, noise, tolerance = settings
    solver = BeliefPropagation.of(
        wiring, potentials, evidence, key, damping, tolerance, temperature=1.0
    )
    messages, info = run(solver, solver.init(noise), iterations)
    beliefs = solver.beliefs(messages)
    return beliefs, _bethe(wiring, potentials, beliefs, messages), info


def _bethe(wiring: Wiring, potentials: Store, beliefs: Store, messages: Store) -> Array:
    total = jnp.zeros((), beliefs[0].dtype)
    for kind, belief in enumerate(beliefs):
        present = wiring.instance[kind] < wiring.instances
        total += jnp.sum(jnp.where(present, _log_sum(belief, wiring.states[kind]), 0.0))
    incoming = passing.to_factors(wiring, beliefs, messages)
    outgoing = passing.at_ports(wiring, messages)
    for i, block in enumerate(wiring.blocks):
        local = block.best(potentials[wiring.parameters[i]], incoming[i], 1.0)
        present = wiring.factor_instance[i] < wiring.instances
        total += jnp.sum(jnp.where(present, local, 0.0))
        for port, there, back in zip(wiring.ports[i], incoming[i], outgoing[i], strict=True):
            edge = _log_sum(there + back, wiring.states[port.kind])
            present = port.index < wiring.class_size(port.kind)
            total -= jnp.sum(jnp.where(present, edge, 0.0))
    return total


def _log_sum(message: Array, states: int) -> Array:
    return jax.nn.logsumexp(as_scores(message, states), -1)


def _constant(problem: Problem) -> float:
    """What the message form of the evidence leaves out, of all variables together."""
    return math.fsum(
        float(value)
        for kind, scores in enumerate(problem.scores)
        for value in left_out(
            scores[problem.instance_of(kind) < 1], problem.evidence[kind].dtype.type
        )
    )


def _probabilities(compiled: CompiledGraph, beliefs: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    result = {}
    for group in compiled.graphs[0].variables:
        ids = group.ids.ravel()
        belief = np.zeros((0, group.states))
        if ids.size:
            belief = beliefs[int(compiled.kind[ids[0]])][compiled.position[ids]]
        if belief.ndim == 1:
            belief = np.stack([np.zeros_like(belief), belief], 1)
        weight = np.exp(belief - belief.max(1, keepdims=True, initial=-np.inf))
        share = weight / weight.sum(1, keepdims=True)
        result[group.name] = share.reshape(*group.shape, group.states)
    return result
