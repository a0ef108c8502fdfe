"""The part/attention specialisation: a model built from an interaction graph.

Every vertex is a binary part variable with one ``Pattern`` factor, every edge a binary attention
variable. At each of its two vertices an edge belongs to one group of interchangeable interactions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors import Pattern, PatternSet, Ragged
from mam.factors.ragged import as_ids
from mam.graph import FactorGraph, GraphBuilder
from mam.models.mam import MarkovAttentionModel
from mam.models.rules import AttentionVariables


@dataclass(frozen=True)
class PartKind:
    """The patterns of some parts and their log potentials (default 0)."""

    patterns: PatternSet
    log_potentials: object = None


def part_attention_model(
    edges: "np.ndarray | Sequence",
    groups: "np.ndarray | Sequence",
    kinds: PartKind | Sequence[PartKind],
    *,
    vertices: int | None = None,
    kind: "np.ndarray | Sequence | int" = 0,
) -> MarkovAttentionModel:
    """Build the model of an interaction graph, with variables ``part`` and ``attention``.

    ``edges`` lists pairs of vertices, ``groups`` in the same shape the group of the edge at either
    vertex, and ``kind`` which of the ``kinds`` each vertex is.

    >>> sides = PartKind(PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, -1.6, -1.6, 0])
    >>> model = part_attention_model([[0, 1], [1, 2]], [[1, 0], [1, 0]], sides)
    >>> len(model.graph.states)
    5
    """
    graph, attention = part_attention_graph(edges, groups, kinds, vertices=vertices, kind=kind)
    return MarkovAttentionModel(graph, attention)


def part_attention_graph(
    edges: "np.ndarray | Sequence",
    groups: "np.ndarray | Sequence",
    kinds: PartKind | Sequence[PartKind],
    *,
    vertices: int | None = None,
    kind: "np.ndarray | Sequence | int" = 0,
) -> tuple[FactorGraph, AttentionVariables]:
    """The same without looking whether the rules of such models hold, as here they always do."""
    builder = GraphBuilder()
    attention = add_part_attention(builder, edges, groups, kinds, vertices=vertices, kind=kind)
    return builder.build(), attention


def add_part_attention(
    builder: GraphBuilder,
    edges: "np.ndarray | Sequence",
    groups: "np.ndarray | Sequence",
    kinds: PartKind | Sequence[PartKind],
    *,
    vertices: int | None = None,
    kind: "np.ndarray | Sequence | int" = 0,
) -> AttentionVariables:
    """Add the same to a graph that has other variables and factors as well."""
    pairs, places = as_ids(edges).reshape(-1, 2), as_ids(groups).reshape(-1, 2)
    if len(pairs) != len(places):
        raise ValueError(f"{len(pairs)} edges, but groups for {len(places)}")
    count = int(pairs.max(initial=-1)) + 1 if vertices is None else vertices
    _check_edges(pairs, count)
    listed = [kinds] if isinstance(kinds, PartKind) else list(kinds)
    which = np.broadcast_to(as_ids(kind), (count,))
    part = builder.variables("part", count)
    attention = builder.variables("attention", len(pairs))
    for index, chosen in enumerate(listed):
        own = np.flatnonzero(which == index)
        if len(own):
            factors = _pattern(own, part, pairs, places, attention, chosen)
            builder.add("part" if len(listed) == 1 else f"part kind {index}", factors)
    return AttentionVariables(attention, part[pairs], np.zeros((0, 2), np.int64))


def _pattern(
    own: np.ndarray,
    part: np.ndarray,
    pairs: np.ndarray,
    places: np.ndarray,
    attention: np.ndarray,
    kind: PartKind,
) -> Pattern:
    """Collect the attention variables of every group of the given vertices."""
    width = kind.patterns.groups
    position = np.full(len(part), -1)
    position[own] = np.arange(len(own))
    vertex, group = pairs.ravel(), places.ravel()
    edge = np.repeat(attention, 2)
    mine = position[vertex] >= 0
    bad = mine & ((group < 0) | (group >= width))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"edge {at // 2} is in group {group[at]} of vertex {vertex[at]}, which has {width}"
        )
    row = position[vertex[mine]] * width + group[mine]
    order = np.argsort(row, kind="stable")
    lengths = np.bincount(row, minlength=len(own) * width)
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    members = Ragged(edge[mine][order], offsets)
    return Pattern.of(part[own], members, kind.patterns, kind.log_potentials)


def _check_edges(pairs: np.ndarray, count: int) -> None:
    outside = (pairs < 0) | (pairs >= count)
    if outside.any():
        row, side = (int(i) for i in np.argwhere(outside)[0])
        raise ValueError(f"edge {row} names vertex {pairs[row, side]} of {count}")
    loops = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if loops.size:
        raise ValueError(f"edge {loops[0]} joins vertex {pairs[loops[0], 0]} to itself")
