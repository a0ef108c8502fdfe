"""The middle lines of curves that are given as masks, one for each."""

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from mam.vision.curves.courses import Contour
from mam.vision.curves.strands.skeleton_paths import components
from mam.vision.curves.strands.width import skeleton_of

_WHOLE = 0.8  # of a skeleton that its longest path must cover: others cross themselves
_SMOOTH = 5  # points that are averaged: a skeleton's pixels are a staircase


def courses_of(masks: Bool[np.ndarray, "curves rows cols"]) -> list[Contour]:
    """Return the middle line of each mask, without those that cross themselves.

    >>> masks = np.zeros((1, 9, 40), bool)
    >>> masks[0, 3:6, 2:38] = True
    >>> [line] = courses_of(masks)
    >>> len(line) > 30, bool(np.ptp(line[:, 1]) > 30)
    (True, True)
    """
    found = [_longest_path(np.asarray(mask)) for mask in masks]
    return [line for line in found if line is not None]


def _longest_path(mask: Bool[np.ndarray, "rows cols"]) -> Float[np.ndarray, "points 2"] | None:
    """The longest of all shortest ways through a skeleton, from tip to tip."""
    pixels = np.argwhere(skeleton_of(mask))
    if len(pixels) < _SMOOTH:
        return None
    links, component = components(pixels)
    largest = np.flatnonzero(component == np.bincount(component).argmax())
    start = _farthest(links, int(largest[0]))[0]
    stop, before = _farthest(links, start)
    path = [stop]
    while path[-1] != start:
        path.append(int(before[path[-1]]))
    if len(path) < _WHOLE * len(pixels):
        return None
    return ndimage.uniform_filter1d(pixels[path].astype(float), _SMOOTH, axis=0, mode="nearest")


def _farthest(links: csr_matrix, start: int) -> tuple[int, np.ndarray]:
    """The pixel farthest from a first one along the skeleton, and the way there."""
    far, before = dijkstra(links, directed=False, indices=start, return_predecessors=True)
    return int(np.where(np.isfinite(far), far, -1).argmax()), before
