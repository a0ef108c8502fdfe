"""Chains of strokes: from links between ends to curves in order, end to end or round."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Chain:
    """The strokes of one curve in order, and the side by which each is left."""

    strokes: Int[np.ndarray, " strokes"]
    leaves: Int[np.ndarray, " strokes"]
    closed: bool


def group_numbers(
    stroke: Int[np.ndarray, "links 2"], on: Bool[np.ndarray, " links"], count: int
) -> Int[np.ndarray, " strokes"]:
    """Number the groups that links join, from 0 by their first stroke."""
    first, second = stroke[on].T
    joined = sparse.coo_array((np.ones(len(first)), (first, second)), shape=(count, count))
    return sparse.csgraph.connected_components(joined, directed=False)[1].astype(np.int64)


def best_links(
    stroke: Int[np.ndarray, "links 2"],
    side: Int[np.ndarray, "links 2"],
    on: Bool[np.ndarray, " links"],
    belief: Float[np.ndarray, " links"],
    count: int,
) -> Bool[np.ndarray, " links"]:
    """Tell which of the links that are ON have the best belief at both of their ends.

    Every end has one of them at most. Where no end has two links that are ON, these are all.
    """
    rank = np.empty(len(on), np.int64)
    rank[np.lexsort((-belief, ~on))] = np.arange(len(on))
    end = 2 * stroke + side
    first = np.full(2 * count, len(on))
    np.minimum.at(first, end, rank[:, None])
    return on & (first[end] == rank[:, None]).all(1)


def find_chains(
    stroke: Int[np.ndarray, "links 2"], side: Int[np.ndarray, "links 2"], count: int
) -> list[Chain]:
    """Walk along links, of which every end of a stroke has one at most.

    A chain starts at the end with the smaller number, a closed one at its smallest stroke. Chains
    come in the order of their smallest strokes, as the groups of ``group_numbers``.

    >>> [chain] = find_chains(np.array([[2, 0], [0, 1]]), np.array([[1, 0], [1, 0]]), 3)
    >>> chain.strokes.tolist(), chain.leaves.tolist(), chain.closed
    ([1, 0, 2], [0, 0, 0], False)
    """
    end = 2 * stroke + side
    beyond = np.full(2 * count, -1)
    beyond[end.ravel()] = end[:, ::-1].ravel()
    visited = np.zeros(count, bool)
    chains = []
    for first in range(count):
        if not visited[first]:
            chain = _from_an_end(_walk(beyond, 2 * first + 1), _walk(beyond, 2 * first))
            visited[chain.strokes] = True
            chains.append(chain)
    return chains


def _walk(beyond: np.ndarray, end: int) -> tuple[list[int], bool]:
    """The ends by which strokes are left, from a first one; and whether the walk came round."""
    ends = [end]
    while (entered := int(beyond[ends[-1]])) >= 0:
        following = entered ^ 1
        if following == end:
            return ends, True
        ends.append(following)
    return ends, False


def _from_an_end(onward: tuple[list[int], bool], back: tuple[list[int], bool]) -> Chain:
    """Join the walks from one stroke in both directions, less its second mention."""
    ends, closed = onward
    if not closed:
        ends = [end ^ 1 for end in reversed(back[0][1:])] + ends
        if ends[0] // 2 > ends[-1] // 2:
            ends = [end ^ 1 for end in reversed(ends)]
    path = np.array(ends)
    return Chain(path // 2, path % 2, closed)
