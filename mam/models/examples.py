"""The paper's worked examples as models: gene network, two lines, a sparsified line, a letter."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int

from mam.factors import Or, PatternSet, Table, Window
from mam.graph import FactorGraph, GraphBuilder
from mam.models.mam import MamBuilder, MarkovAttentionModel
from mam.models.parts import PartKind, part_attention_model


def gene_network(strength: float = 2.0) -> MarkovAttentionModel:
    """Gene A induces B, unless compound C is there: then A induces D. B and D repress each other.

    >>> genes = gene_network()
    >>> genes.independent("A", "B", {"C": 1}), genes.independent("A", "B", {"C": 0})
    (True, False)
    """
    builder = MamBuilder()
    for name in "ABCD":
        builder.regular(name)
    builder.attention("AB", between=("A", "B"), context=("C",))
    builder.attention("AD", between=("A", "D"), context=("C",))
    builder.table(
        "A and C",
        ("A", "C", "AB", "AD"),
        configurations=[[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]],
    )
    builder.table("A induces B", ("AB", "B"), [[0, 0], [0, strength]])
    builder.table("A induces D", ("AD", "D"), [[0, 0], [0, strength]])
    builder.table("corepression", ("B", "D"), [[0, 0], [0, -strength]])
    return builder.build()


def two_lines(rows: int = 4, lines: int = 2) -> MarkovAttentionModel:
    """Lines of two segments in two columns, each at most one row apart, at most ``lines`` of them.

    Vertices 0 .. 2 rows - 1 are the segments (row * 2 + column), the rest are the lines.
    """
    segments = 2 * rows
    edges, groups = [], []
    for line in range(lines):
        for segment in range(segments):
            edges.append([segments + line, segment])
            groups.append([segment % 2, 0])
    for left in range(rows):
        for right in range(max(0, left - 1), min(rows, left + 2)):
            edges.append([2 * left, 2 * right + 1])
            groups.append([1, 1])
    all_or_none = PartKind(PatternSet.of([[0, 0], [1, 1]]))
    return part_attention_model(edges, groups, all_or_none, vertices=segments + lines)


def line_sets(rows: int = 4, lines: int = 2) -> Int[np.ndarray, "sets segments"]:
    """List the segments that are ON in the possible states of ``two_lines``, each set once.

    Lines that cross can be uncrossed: if any lines make up a set, then so do those from its i-th
    segment on the left to its i-th on the right.
    """
    left = np.repeat(np.arange(rows), 3)
    right = left + np.tile([-1, 0, 1], rows)
    pair = np.stack([left, right], 1)[(right >= 0) & (right < rows)]
    below = np.all(pair[:, None] < pair, axis=2)
    found, last = np.zeros((1, 2 * rows), np.int64), np.zeros(1, np.int64)
    every = [found]
    for line in range(lines):
        allowed = below[last] if line else np.ones((1, len(pair)), bool)
        which, last = np.nonzero(allowed)
        found = found[which]
        found[np.arange(len(last)), 2 * pair[last, 0]] = 1
        found[np.arange(len(last)), 2 * pair[last, 1] + 1] = 1
        every.append(found)
    return np.concatenate(every)


def two_lines_table(rows: int = 4, lines: int = 2) -> FactorGraph:
    """``two_lines`` without attention variables: one table that lists what is possible."""
    sets = line_sets(rows, lines)
    builder = GraphBuilder()
    segment = builder.variables("segment", sets.shape[1])
    builder.add("lines", Table.of(segment[None], np.zeros(len(sets)), configurations=sets))
    return builder.build()


def line_sparsifier(
    parts: int, log_prior: float = np.log(0.1), pi10: float = 0.01
) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """A line of 3 K - 1 pixels, all ON, and parts of three pixels at every place.

    The best explanations have exactly K parts ON and the score K log pi.
    """
    length = 3 * parts - 1
    builder = GraphBuilder()
    part = builder.variables("part", length)
    pixel = builder.variables("pixel", length)
    parents = [part[max(0, i - 1) : i + 2] for i in range(length)]
    builder.add("explains", Or.of(parents, pixel, pi01=0.0, pi10=pi10))
    return builder.build(), {"part": np.full(length, log_prior), "pixel": np.full(length, np.inf)}


@dataclass(frozen=True)
class ElasticGraph:
    """Vertices that may move inside a small grid, and edges that hold pairs together.

    A vertex v sits at its reference place plus a shift in ``grid``; the shifts of two joined
    vertices may differ by at most the radius of the edge.
    """

    scores: np.ndarray  # (vertices, height, width): evidence for each vertex at each shift
    edges: np.ndarray  # (edges, 2)
    radius: np.ndarray  # (edges,)

    def windowed(self) -> tuple[FactorGraph, dict[str, np.ndarray]]:
        """One variable a vertex, one ``Window`` an edge."""
        count, height, width = self.scores.shape
        builder = GraphBuilder()
        shift = builder.variables("shift", count, height * width)
        windows = Window.of(shift[self.edges], grid=(height, width), radius=self.radius)
        builder.add("elastic", windows)
        return builder.build(), {"shift": self.scores.reshape(count, -1)}

    def literal(self, absent: float = -1000.0) -> tuple[MarkovAttentionModel, dict]:
        """The model as the paper writes it: a part a place, an attention variable a pair of places.

        Vertex ``i * places + p`` is graph vertex i at place p, and the last one is the letter.
        ``absent`` is the potential of a part that is not there, U(0, ..., 0): given the letter it
        is a constant, which only says that the letter must be there.
        """
        count, height, width = self.scores.shape
        places = height * width
        row, column = np.divmod(np.arange(places), width)
        root = count * places
        edges = [[root, i * places + p] for i in range(count) for p in range(places)]
        groups = [[i, 0] for i in range(count) for _ in range(places)]
        degree = np.ones(count, np.int64)  # group 0 of every part is its letter
        for (u, v), radius in zip(self.edges, self.radius, strict=True):
            near = np.maximum(abs(row[:, None] - row), abs(column[:, None] - column)) <= radius
            for a, b in np.argwhere(near):
                edges.append([u * places + a, v * places + b])
                groups.append([int(degree[u]), int(degree[v])])
            degree[[u, v]] += 1
        kinds = [
            PartKind(PatternSet.of([[0] * n, [1] * n]), [absent, 0.0]) for n in np.unique(degree)
        ]
        kinds.append(PartKind(PatternSet.of([[0] * count, [1] * count])))
        kind = np.append(
            np.repeat(np.searchsorted(np.unique(degree), degree), places), len(kinds) - 1
        )
        model = part_attention_model(edges, groups, kinds, vertices=root + 1, kind=kind)
        return model, {"part": np.append(self.scores.ravel(), 0.0)}
