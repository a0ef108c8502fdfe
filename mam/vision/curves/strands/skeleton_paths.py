"""Pixels of a skeleton as paths: components without branches, in order from end to end."""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.sparse import coo_matrix, csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial import KDTree

_STEPS = ((0, 1, 1.0), (1, 0, 1.0), (1, 1, 2**0.5), (1, -1, 2**0.5))
_DISCS = 8  # junction pixels whose discs are tried at each pixel; they come in small clusters


def branching(skeleton: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """Tell which pixels of a skeleton have three neighbours or more.

    >>> skeleton = np.zeros((5, 5), bool)
    >>> skeleton[2], skeleton[:, 2] = True, True
    >>> int(branching(skeleton).sum())
    5
    """
    wide = np.pad(skeleton, 1)
    at, width = np.flatnonzero(wide), wide.shape[1]
    around = (np.arange(-1, 2)[:, None] * width + np.arange(-1, 2)).ravel()
    many = wide.ravel()[at[:, None] + around].sum(1) > 3
    found = np.zeros(wide.shape, bool)
    found.ravel()[at[many]] = True
    return found[1:-1, 1:-1]


def outside_discs(
    pixels: Int[np.ndarray, "pixels 2"],
    centres: Int[np.ndarray, "discs 2"],
    radius: Float[np.ndarray, " discs"],
) -> Bool[np.ndarray, " pixels"]:
    """Tell which pixels no disc covers.

    >>> outside_discs(np.array([[0, 0], [0, 3]]), np.array([[0, 1]]), np.array([1.5])).tolist()
    [False, True]
    """
    if len(centres) == 0:
        return np.ones(len(pixels), bool)
    distance, which = KDTree(centres).query(
        pixels, k=min(_DISCS, len(centres)), distance_upper_bound=float(radius.max()) + 1
    )
    covered = distance <= np.append(radius, 0.0)[which]
    return ~covered.reshape(len(pixels), -1).any(1)


def components(
    pixels: Int[np.ndarray, "pixels 2"],
) -> tuple[csr_matrix, Int[np.ndarray, " pixels"]]:
    """Link neighbouring pixels (eight around each); return lengths of links and components.

    >>> components(np.array([[0, 0], [1, 1], [5, 5]]))[1].tolist()
    [0, 0, 1]
    """
    count = len(pixels)
    if count == 0:
        return csr_matrix((0, 0)), np.zeros(0, np.int64)
    rows, cols = (pixels - pixels.min(0) + 1).T
    number = np.full((rows.max() + 2, cols.max() + 2), -1)
    number[rows, cols] = np.arange(count)
    first, second, length = [], [], []
    for down, right, step in _STEPS:
        neighbour = number[rows + down, cols + right]
        there = np.flatnonzero(neighbour >= 0)
        first.append(there)
        second.append(neighbour[there])
        length.append(np.full(len(there), step))
    entries = (np.concatenate(first), np.concatenate(second))
    half = coo_matrix((np.concatenate(length), entries), (count, count)).tocsr()
    links = csr_matrix(half + half.T)
    return links, connected_components(links, directed=False)[1].astype(np.int64)


def in_order(
    pixels: Int[np.ndarray, "pixels 2"],
) -> tuple[Int[np.ndarray, "kept 2"], Int[np.ndarray, " kept"], Float[np.ndarray, " kept"]]:
    """Sort pixels without branches into paths; return pixels, path numbers and arc lengths.

    A closed path is opened by leaving one of its pixels out.

    >>> pixels, path, along = in_order(np.array([[0, 0], [0, 2], [0, 1], [3, 0]]))
    >>> pixels[:, 1].tolist(), path.tolist(), along.tolist()
    ([0, 1, 2, 0], [0, 0, 0, 1], [0.0, 1.0, 2.0, 0.0])
    """
    links, component = components(pixels)
    tips = np.flatnonzero(np.diff(links.indptr) <= 1)
    closed = np.setdiff1d(component, component[tips])
    if len(closed):
        _, first = np.unique(component, return_index=True)
        pixels = np.delete(pixels, first[closed], axis=0)
        links, component = components(pixels)
        tips = np.flatnonzero(np.diff(links.indptr) <= 1)
    _, first = np.unique(component[tips], return_index=True)
    if len(pixels) == 0:
        return pixels, component, np.zeros(0)
    along = np.asarray(dijkstra(links, directed=False, indices=tips[first], min_only=True))
    order = np.lexsort((along, component))
    return pixels[order], component[order], along[order]
