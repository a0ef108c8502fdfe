"""Which states the hard constraints leave possible, given some evidence.

Every finite potential counts as 0, so messages carry nothing but possibility; a state whose belief
is infinitely bad is impossible. What is found impossible is so; some impossibilities that only
show in combination may be missed (this is arc consistency).
"""

from dataclasses import replace

import numpy as np

from mam.factors.limits import limit
from mam.graph import CompiledGraph, FactorGraph, compile_graphs
from mam.graph.evidence import Evidence, group_scores
from mam.infer.options import Options
from mam.infer.problem import Problem
from mam.infer.restarts import propagate_restarts

_HARD = Options(damping=0.0, noise=0.0, iterations=1000, precision="double")


def possible_states(graph: FactorGraph, evidence: Evidence | None = None) -> list[np.ndarray]:
    """Return for each variable which of its states may still occur.

    >>> from mam.factors import And
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("and", And.of([x[:2]], x[2:]))
    >>> states = possible_states(builder.build(), {"x": [0, 0, np.inf]})
    >>> [s.tolist() for s in states]
    [[False, True], [False, True], [False, True]]
    """
    hard = {
        name: np.where(np.isneginf(group_scores(graph.group(name), values)), -np.inf, 0.0)
        for name, values in (evidence or {}).items()
    }
    shaped = {name: scores.reshape(*graph.group(name).shape, -1) for name, scores in hard.items()}
    problem = Problem.of(_only_hard(compile_graphs(graph)), shaped, np.float64)
    _, beliefs, _ = propagate_restarts(problem, _HARD)
    compiled = problem.compiled
    floor = -0.5 * limit(np.float64)
    result = []
    for kind, place in zip(compiled.kind, compiled.position, strict=True):
        belief = np.asarray(beliefs[kind])[0][place]
        scores = np.array([-belief, belief]) if belief.ndim == 0 else belief - belief.max()
        result.append(scores > floor)
    return result


def _only_hard(compiled: CompiledGraph) -> CompiledGraph:
    hard = tuple(np.where(np.isneginf(p), -np.inf, 0.0) for p in compiled.potentials)
    return replace(compiled, potentials=hard)
