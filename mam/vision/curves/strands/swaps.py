"""Whether a curve that passes a node must cross others there, and so changes places with them.

Around a node its ends stand in a cyclic order. A curve that enters by one end and leaves by another
has some of the others on its left and the rest on its right. Where both are odd, not all others can
pass without crossing it.
"""

import numpy as np
from jaxtyping import Bool, Int

from mam.vision.curves.strands.skeleton_cut import means_of
from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.strands import degrees


def cyclic_places(ends: Ends) -> Int[np.ndarray, " ends"]:
    """The place of each end in the order around its node, from 0, columns turned towards rows."""
    node = ends.node + 1
    count = int(node.max(initial=0)) + 1
    centre = np.stack([means_of(axis, node, count) for axis in ends.place.T], 1)
    away = ends.inward - centre[node]
    order = np.lexsort((np.arctan2(away[:, 0], away[:, 1]), node))
    first = np.searchsorted(node[order], node[order])
    found = np.zeros(len(ends), np.int64)
    found[order] = np.arange(len(ends)) - first
    return found


def must_cross(
    ends: Ends, first: Int[np.ndarray, " pairs"], second: Int[np.ndarray, " pairs"]
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs of ends of one node cannot avoid to cross others."""
    place, degree = cyclic_places(ends), degrees(ends.node)
    one_node = (ends.node[first] >= 0) & (ends.node[first] == ends.node[second])
    beyond = (place[second] - place[first]) % np.maximum(degree[first], 1)
    right, left = beyond - 1, degree[first] - 1 - beyond
    return one_node & (left % 2 == 1) & (right % 2 == 1)
