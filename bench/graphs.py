"""Graphs for the benchmarks, with the local structure of images."""

import numpy as np

from mam.factors import Or, PatternSet, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.models import PartKind, part_attention_model

TWO_SIDES = PartKind(PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, -1.6, -1.6, 0])


def contours(messages: int, members: int = 50) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """Parts in reading order; each attends to the next ``members`` of them, and is attended to.

    An attention variable has two edges, a part one: 2 * members + 1 messages a part.
    """
    parts = max(members + 2, messages // (2 * members + 1))
    first = np.repeat(np.arange(parts), members)
    second = (first + 1 + np.tile(np.arange(members), parts)) % parts
    groups = np.broadcast_to([1, 0], (len(first), 2))
    model = part_attention_model(np.stack([first, second], 1), groups, TWO_SIDES, vertices=parts)
    rng = np.random.default_rng(0)
    evidence = {"part": np.full(parts, 5.0), "attention": rng.normal(-1, 1, len(first))}
    return model.graph, evidence


def pixels(messages: int, parts_per_pixel: int = 24) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """A square image in which every pixel may be explained by 24 parts that lie near it."""
    side = max(8, int(np.sqrt(messages / (parts_per_pixel + 1))))
    builder = GraphBuilder()
    part = builder.variables("part", side * side)
    pixel = builder.variables("pixel", side * side)
    rows, columns = np.divmod(np.arange(5 * 5), 5)
    near = np.stack([rows - 2, columns - 2], 1)[: parts_per_pixel + 1]
    near = near[np.any(near != 0, 1)]
    row, column = np.divmod(np.arange(side * side), side)
    parents = ((row[:, None] + near[:, 0]) % side) * side + (column[:, None] + near[:, 1]) % side
    builder.add("or", Or.of(Ragged.of(part[parents]), pixel, pi01=0.07, pi10=0.0019))
    rng = np.random.default_rng(0)
    on = rng.random(side * side) < 0.3
    evidence = {"part": np.full(side * side, -4.0), "pixel": np.where(on, np.inf, -np.inf)}
    return builder.build(), evidence
