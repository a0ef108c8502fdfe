"""Scores of assignments on the host: exact sums in double precision, nothing compiled."""

from collections.abc import Sequence

import numpy as np

from mam.graph import GraphUnion, Scores


def graph_scores(union: GraphUnion, scores: Sequence[Scores], values: np.ndarray) -> np.ndarray:
    """Return the score of each graph, -inf where something impossible is assigned."""
    total = np.zeros(len(union.graphs))
    own = union.instance
    for some in scores:
        chosen = some.values[np.arange(len(some.variables)), values[some.variables]]
        total += np.bincount(own[some.variables], chosen, minlength=len(total))
    for group in union.sets:
        found = group.factors.scores(values)
        total += np.bincount(group.instance, found, minlength=len(total))
    return total


def violations(
    union: GraphUnion, scores: Sequence[Scores], values: np.ndarray
) -> list[tuple[str, ...]]:
    """The hard factors, by name and number, and the evidence that each graph's values break."""
    broken: list[list[str]] = [[] for _ in union.graphs]
    for group in union.sets:
        for factor in np.flatnonzero(np.isneginf(group.factors.scores(values))):
            instance, name, index = group.owner(int(factor))
            broken[instance].append(f"{name}[{index}]")
    own = union.instance
    for some in scores:
        chosen = some.values[np.arange(len(some.variables)), values[some.variables]]
        for variable in some.variables[np.isneginf(chosen)].tolist():
            broken[own[variable]].append(f"evidence of {union.label(variable)}")
    return [tuple(sorted(names)) for names in broken]
