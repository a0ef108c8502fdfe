"""Answers of all components put together, graph by graph."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from mam.graph import Scores
from mam.infer.leftovers import Rest
from mam.infer.score import graph_scores, violations
from mam.infer.solution import Solution
from mam.infer.solved_components import SolvedComponents


def assembled(
    known: SolvedComponents,
    scores: tuple[Scores, ...],
    rest: Sequence[Rest],
    answers: Sequence[Solution],
) -> list[Solution]:
    """Return one solution a graph from what is known and the answers to the rest."""
    union = known.union
    values, margins, impossible = (
        part.copy() for part in (known.values, known.margins, known.impossible)
    )
    count = len(union.graphs)
    missing = np.zeros(count)  # what the bounds of components lie above their scores
    bounded, converged = np.ones(count, bool), np.ones(count, bool)
    iterations, open_ = np.zeros(count, np.int64), np.zeros(len(values), bool)
    for one, answer in zip(rest, answers, strict=True):
        mine = one.variables[one.free]
        values[mine], margins[mine] = answer.values[one.free], answer.margins[one.free]
        open_[mine] = ~answer.proved[one.free]
        bounded[one.owner] &= answer.bound is not None
        if answer.bound is not None and not answer.impossible:
            missing[one.owner] += max(answer.bound - answer.score, 0.0)
        impossible[one.owner] |= answer.impossible
        converged[one.owner] &= answer.converged
        iterations[one.owner] = max(iterations[one.owner], answer.iterations)
    total = graph_scores(union, scores, values)
    broken = [()] * count if np.isfinite(total).all() else violations(union, scores, values)
    # Nothing is known of a graph whose answer is not feasible, unless that is proved.
    above = np.where(np.isfinite(total), total + missing, np.inf)
    bounds = np.where(impossible, -np.inf, above)
    ways = _ways(known, rest, answers)
    ends = np.append(union.starts, len(values))
    return [
        Solution(
            graph,
            values[ends[i] : ends[i + 1]],
            margins[ends[i] : ends[i + 1]],
            float(total[i]),
            float(bounds[i]) if bounded[i] or impossible[i] else None,
            bool(converged[i]),
            int(iterations[i]),
            broken[i],
            ways=ways[i],
            open=open_[ends[i] : ends[i + 1]],
        )
        for i, graph in enumerate(union.graphs)
    ]


def _ways(
    known: SolvedComponents, rest: Sequence[Rest], answers: Sequence[Solution]
) -> list[dict[str, int]]:
    """How many components of each graph were solved how."""
    ways = [Counter(some) for some in known.ways]
    for one, answer in zip(rest, answers, strict=True):
        ways[one.owner].update(answer.ways)
    # A graph without any choice needs no method, and is known all the same.
    return [dict(some) or {"evidence": 1} for some in ways]
