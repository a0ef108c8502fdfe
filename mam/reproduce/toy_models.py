"""The small models by which the paper explains itself: genes, two lines, a line of pixels.

The scripts ``gene_network.py``, ``two_lines.py`` and ``sparsify_a_line.py`` of the examples write
the same models down, to be read.
"""

import numpy as np

from mam.factors import Or, PatternSet
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly
from mam.models import MamBuilder, MarkovAttentionModel, PartKind, part_attention_model

ROWS, LINES = 4, 2  # of the grid of segments; at most so many lines
SEGMENTS = 2 * ROWS  # segment 2 * row + column
_STRENGTH = 2.0  # log potential of an induction, and of corepression


def gene_attention() -> MarkovAttentionModel:
    """A induces B, or D where compound C is there; B and D repress each other."""
    builder = MamBuilder()
    for gene in "ABCD":
        builder.regular(gene)
    builder.attention("AB", between=("A", "B"), context=("C",))
    builder.attention("AD", between=("A", "D"), context=("C",))
    states = [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]  # of A, C, AB, AD
    builder.table("A and C", ("A", "C", "AB", "AD"), configurations=states)
    induces = [[0, 0], [0, _STRENGTH]]
    builder.table("A induces B", ("AB", "B"), induces)
    builder.table("A induces D", ("AD", "D"), induces)
    builder.table("corepression", ("B", "D"), [[0, 0], [0, -_STRENGTH]])
    return builder.build()


def gene_mrf() -> MarkovAttentionModel:
    """The same distribution of the genes without attention variables: a single factor.

    >>> gene_mrf().graph.factors[0][1].scopes().values.tolist()
    [0, 1, 2, 3]
    """
    exact = enumerate_exactly(gene_attention().graph)
    potentials = np.full((2,) * 4, -np.inf)
    # Attention follows from A and C, so that every state of the genes is listed once.
    potentials[tuple(exact.values[:, :4].T)] = exact.scores
    builder = MamBuilder()
    for gene in "ABCD":
        builder.regular(gene)
    builder.table("all genes", tuple("ABCD"), potentials)
    return builder.build()


def lateral() -> list[list[int]]:
    """The pairs of segments that may continue each other."""
    return [
        [2 * left, 2 * right + 1]
        for left in range(ROWS)
        for right in range(ROWS)
        if abs(left - right) <= 1
    ]


def interactions() -> tuple[list[list[int]], list[list[int]]]:
    """The edges of the interaction graph of two lines, and the group of each at either end.

    Lines follow the segments. A line has a group of left and one of right segments, a segment one
    of lines and one of segments on the other side.

    >>> edges, groups = interactions()
    >>> len(edges), edges[0], groups[0]
    (26, [8, 0], [0, 0])
    """
    top_down = [[SEGMENTS + line, s] for line in range(LINES) for s in range(SEGMENTS)]
    groups = [[s % 2, 0] for _, s in top_down] + [[1, 1] for _ in lateral()]
    return top_down + lateral(), groups


def two_lines() -> MarkovAttentionModel:
    """Eight segments, of which at most two lines are made (paper, "An illustrative toy example").

    >>> len(two_lines().graph.states)
    36
    """
    all_or_none = PartKind(PatternSet.of([[0, 0], [1, 1]]))
    return part_attention_model(*interactions(), all_or_none, vertices=SEGMENTS + LINES)


def line_of_pixels(length: int) -> FactorGraph:
    """A pixel I is the noisy OR of the parts x over it, which cover three pixels each."""
    builder = GraphBuilder()
    # Single variables, so that a drawing has their whole names.
    part, pixel = (
        np.concatenate([np.ravel(builder.variables(f"{name}{n + 1}", 1)) for n in range(length)])
        for name in "xI"
    )
    over = [part[max(0, i - 1) : i + 2] for i in range(length)]
    builder.add("OR", Or.of(over, pixel, pi01=0.0, pi10=0.01))
    return builder.build()


def dependent_pairs(graph: FactorGraph) -> list[tuple[int, int]]:
    """The pairs of variables that some factor joins: all others are independent given the rest.

    >>> dependent_pairs(gene_attention().graph)
    [(0, 2), (0, 4), (0, 5), (1, 3), (1, 4), (2, 4), (2, 5), (3, 5), (4, 5)]
    """
    pairs: set[tuple[int, int]] = set()
    for _, factors in graph.factors:
        scopes = factors.scopes()
        row, value = np.asarray(scopes.row_of_value), np.asarray(scopes.values)
        for factor in range(len(factors)):
            mine = sorted(value[row == factor].tolist())
            pairs |= {(a, b) for n, a in enumerate(mine) for b in mine[n + 1 :]}
    return sorted(pairs)
