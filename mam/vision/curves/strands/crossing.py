"""Whether a curve that continues in one of several ends changes sides with the curves beside it.

Around a node its ends stand in a cyclic order. A curve that enters by one end and leaves by another
has some of the others on its left and the rest on its right; on a route over shared strands the
counts of its nodes add up. Where both are odd, not all others can pass without crossing it.
"""

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.strands import degrees


def cyclic_places(ends: Ends) -> Int[np.ndarray, " ends"]:
    """The place of each end in the order around its node, from 0, columns turned towards rows."""
    node = ends.node + 1
    count = np.maximum(np.bincount(node, minlength=1), 1)
    centre = np.stack([np.bincount(node, axis, len(count)) / count for axis in ends.place.T], 1)
    away = ends.inward - centre[node]
    order = np.lexsort((np.arctan2(away[:, 0], away[:, 1]), node))
    first = np.cumsum(np.append(0, np.bincount(node, minlength=1)))[node[order]]
    found = np.zeros(len(ends), np.int64)
    found[order] = np.arange(len(ends)) - first
    return found


def changes_sides(
    ends: Ends,
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
    over: Int[np.ndarray, "pairs _"],
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs of ends, of one node or joined by a route, cannot avoid to cross others."""
    place, degree = cyclic_places(ends), degrees(ends.node)
    left = right = np.zeros(len(first), np.int64)
    at = first
    joined = np.zeros(len(first), bool)
    for strand in (*over.T, np.full(len(first), -1)):
        on = ~joined
        # The end of the next strand that lies at this node, or the last end of all.
        near = 2 * strand + (ends.node[2 * strand] != ends.node[at])
        to = np.where(strand >= 0, near, second)
        there = (ends.node[at] >= 0) & (ends.node[at] == ends.node[to]) & on
        beyond = (place[to] - place[at]) % np.maximum(degree[at], 1)
        left = left + there * (degree[at] - 1 - beyond)
        right = right + there * (beyond - 1)
        joined = joined | (strand < 0)
        at = np.where(strand >= 0, to ^ 1, at)
    return (left % 2 == 1) & (right % 2 == 1)


def narrowest(
    radius: Float[np.ndarray, " strands"], over: Int[np.ndarray, "pairs _"]
) -> Float[np.ndarray, " pairs"]:
    """The least radius of the strands of each route, infinite without any."""
    return np.append(radius, np.inf)[over].min(1)
