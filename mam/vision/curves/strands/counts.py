r"""How many curves share each strand: a model of counts, solved by the engine.

Curves that meet at a node leave it again, most of them on its other side. With counts
:math:`c_s \in \{1, 2, 3\}` of strands and the ends of a node sorted to two sides L and R, a picture
scores

.. math::
    -\sum_s (c_s - 1) \, \lambda_s
    - \tau \sum_\text{nodes} \Bigl| \sum_{s \in L} c_s - \sum_{s \in R} c_s \Bigr|

where :math:`\lambda_s` are the learned log odds that one curve alone has a strand, and every curve
that ends at a node costs :math:`\tau`.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import Table
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.curves.strands.axis import Axis
from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.strands import Strands, degrees

MOST = 3  # curves on one strand
_ENDING = 1.0  # tau
_MORE = 0.5  # what a third curve costs beside the odds
_DEGREE = 7  # ends of a node up to which its balance is told: tables grow as 3 to its power
_ALONE = 30.0  # log odds of a strand that meets no other
_STEEP = 0.15  # of its length that a strand must advance along the axis to have a side


def find_counts(
    strands: Strands, ends: Ends, axis: Axis, single: Float[np.ndarray, " strands"]
) -> Int[np.ndarray, " strands"]:
    """Return how many curves run over each strand; ``single`` are log odds of one alone."""
    if not len(strands):
        return np.zeros(0, np.int64)
    odds = np.where((degrees(strands.node) > 2).any(1), single, _ALONE)
    graph = count_graph(strands, ends, axis)
    third = -odds - np.maximum(odds, 0.0) - _MORE
    found = solve(graph, {"curves": np.stack([np.zeros(len(odds)), -odds, third], 1)})
    return 1 + np.asarray(found["curves"], np.int64)


def count_graph(strands: Strands, ends: Ends, axis: Axis) -> FactorGraph:
    """The balance of every node at which three ends or more meet."""
    builder = GraphBuilder()
    builder.variables("curves", len(strands), states=MOST)
    side = sides(ends, axis)
    node = np.where(strands.node[:, 0] == strands.node[:, 1], -1, strands.node.T).T.ravel()
    order = np.lexsort((side, node))
    order = order[node[order] >= 0]
    first = np.flatnonzero(np.append(True, np.diff(node[order]) > 0)[: len(order)])
    degree = np.diff(np.append(first, len(order)))
    left = np.add.reduceat(~side[order], first) if len(first) else degree
    balanced = (degree > 2) & (degree <= _DEGREE) & (left > 0) & (left < degree)
    kinds = np.unique(np.stack([degree, left], 1)[balanced], axis=0)
    for count, before in kinds.tolist():
        own = first[balanced & (degree == count) & (left == before)]
        scopes = order[own[:, None] + np.arange(count)] // 2
        builder.add(f"balance {before} of {count}", Table.of(scopes, _balance(count, before)))
    return builder.build()


def _balance(count: int, before: int) -> Float[np.ndarray, "..."]:
    """What the counts at a node score, of which so many are on its one side."""
    curves = 1 + np.indices((MOST,) * count)
    return -_ENDING * np.abs(curves[:before].sum(0) - curves[before:].sum(0)).astype(float)


def sides(ends: Ends, axis: Axis) -> Bool[np.ndarray, " ends"]:
    """On which side of its node each end's strand lies: along the axis of the picture where that
    is sure, else along the line on which the strands of the node lie best.
    """
    node = ends.node + 1
    count = np.maximum(np.bincount(node), 1)
    centre = np.stack([np.bincount(node, place) / count for place in ends.place.T], 1)
    away = ends.inward - centre[node]
    away = away / np.maximum(np.linalg.norm(away, axis=1), 1e-9)[:, None]
    angle = 2 * np.arctan2(away[:, 0], away[:, 1])
    twice = [np.bincount(node, wave) for wave in (np.sin(angle), np.cos(angle))]
    best = np.arctan2(*twice)[node] / 2
    along = away[:, 0] * np.sin(best) + away[:, 1] * np.cos(best)
    told = away[:, axis.number]
    return np.where((axis.sure > 0.5) & (np.abs(told) > _STEEP), told, along) > 0
