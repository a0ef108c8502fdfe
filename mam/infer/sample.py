"""Approximate samples: perturb the evidence by Gumbel noise, then solve.

With noise on every joint state this would be exact; with noise on single variables it is the usual
approximation ("perturb and MAP"), one max-product run a sample, all in one batch.
"""

from typing import Any

import numpy as np

from mam.graph import FactorGraph
from mam.graph.evidence import Evidence, group_scores
from mam.infer.solve import solve

_BATCH = 64


def sample(
    graph: FactorGraph,
    evidence: Evidence | None = None,
    *,
    count: int = 1,
    seed: int = 0,
    **changes: Any,
) -> dict[str, np.ndarray]:
    """Draw ``count`` assignments; each array has a leading axis of samples.

    Sample k depends on (seed, k) alone. Settings are those of ``solve``.

    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 4)
    >>> drawn = sample(builder.build(), {"x": [np.inf, -np.inf, 50, 0]}, count=5)
    >>> drawn["x"][:, :3].tolist()
    [[1, 0, 1], [1, 0, 1], [1, 0, 1], [1, 0, 1], [1, 0, 1]]
    """
    if count < 0:
        raise ValueError(f"the number of samples is negative: {count}")
    known = {g.name: np.zeros((g.size, g.states)) for g in graph.variables}
    for name, values in (evidence or {}).items():
        known[name] = group_scores(graph.group(name), values)
    values = np.zeros((count, len(graph.states)), np.int64)
    for start in range(0, count, _BATCH):
        chosen = range(start, min(start + _BATCH, count))
        # A short last batch is filled up, so that it has the shape of the others.
        copies = len(chosen) if count <= _BATCH else _BATCH
        shaken = [_perturbed(graph, known, seed, k) for k in chosen]
        shaken += [shaken[-1]] * (copies - len(chosen))
        answers = solve([graph] * copies, shaken, seed=seed, **changes)
        for k, answer in zip(chosen, answers, strict=False):
            if answer.impossible:
                raise ValueError("the model has no samples: no assignment is possible")
            values[k] = answer.values
    return {
        group.name: values[:, group.start : group.start + group.size].reshape(count, *group.shape)
        for group in graph.variables
    }


def _perturbed(
    graph: FactorGraph, known: dict[str, np.ndarray], seed: int, k: int
) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([seed, k])
    return {
        group.name: (known[group.name] + rng.gumbel(size=known[group.name].shape)).reshape(
            *group.shape, group.states
        )
        for group in graph.variables
    }
