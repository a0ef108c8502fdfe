"""Sweeps of messages along an order, factor by factor, from the lists of configurations."""

import numpy as np

from mam.graph import FactorGraph
from tests.oracles import listing as oracle


def sweep(graph: FactorGraph, scores: list[np.ndarray], rank: np.ndarray, iterations: int) -> dict:
    """Return the messages of so many sweeps forth and back, and one forth."""
    factors = [
        group.table(f, graph.states) for _, group in graph.factors for f in range(len(group))
    ]
    first = [min(rank[one.variables]) for one in factors]
    last = [max(rank[one.variables]) for one in factors]
    order = sorted(range(len(factors)), key=lambda f: (first[f], last[f], f))
    messages = {(f, v): np.zeros(len(scores[v])) for f in order for v in factors[f].variables}
    for forth in [True, False] * iterations + [True]:
        for f in order if forth else sorted(order, key=lambda f: (-first[f], -last[f], f)):
            told = [belief(scores, messages, v) - messages[f, v] for v in factors[f].variables]
            new = oracle.messages(factors[f], told, 0)
            for v, values in zip(factors[f].variables, new, strict=True):
                alone = first[f] == last[f]
                if alone or (rank[v] > first[f] if forth else rank[v] < last[f]):
                    messages[f, v] = np.maximum(values - values.max(), -1e6)
    return messages


def belief(scores: list[np.ndarray], messages: dict, variable: int) -> np.ndarray:
    return scores[variable] + sum(m for (_, v), m in messages.items() if v == variable)
