r"""Which curve owns a pixel, when several pass over it.

A pixel at distance :math:`d` from the nearest point of a curve, of radius :math:`r` there, is
covered by the curve if :math:`d \le 1.05 r`. Of the curves that cover it the uppermost owns it, of
equally high ones the one with the least :math:`d / r`; a pixel that none covers goes to the least
:math:`d / r` too. A stretch that was seen whole lies above one that had to be bridged, and a bridge
lies the lower the more OFF pixels it runs over: the breaks that the upper curve leaves in it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage
from scipy.spatial import KDTree

_COVER = 1.05
FAR = 1.5  # radii, and 2 px: pixels farther away from all curves are noise
FAR_LEAST = 2.0
_INNER = 0.85  # radii, less half a pixel: OFF pixels this deep inside are breaks
_UNCOVERED = 10.0  # what it costs to own a pixel without covering it; covering costs up to 2.1
_EIGHT = np.ones((3, 3), bool)


@dataclass(frozen=True, eq=False)
class Trace:
    """Points along curves, about a pixel apart."""

    points: Float[np.ndarray, "points 2"]  # row, column
    radius: Float[np.ndarray, " points"]
    curve: Int[np.ndarray, " points"]  # 0, 1, ...
    bridge: Int[np.ndarray, " points"]  # number of the bridge, -1 where the curve was seen
    strand: Int[np.ndarray, " points"]  # on a bridge the nearer one


class CurveCover(NamedTuple):
    """What one curve covers, and how much it costs to say that it owns a pixel."""

    curve: int
    pixel: Int[np.ndarray, " near"]  # numbers among the ON pixels
    cost: Float[np.ndarray, " near"]


def label_pixels(mask: Bool[np.ndarray, "rows cols"], trace: Trace) -> Int[np.ndarray, "rows cols"]:
    """Return the owner of each ON pixel, 1 for curve 0; 0 is nobody.

    >>> mask = np.ones((3, 9), bool)
    >>> points = np.stack([np.ones(9), np.arange(9.0)], 1)
    >>> curve = np.arange(9) // 5
    >>> trace = Trace(points, np.full(9, 1.5), curve, np.full(9, -1), curve)
    >>> label_pixels(mask, trace)[0].tolist()
    [1, 1, 1, 1, 1, 2, 2, 2, 2]
    """
    count = int(mask.sum())
    best, owner = np.full(count, np.inf), np.zeros(count, np.int64)
    for curve, near, cost in _covers(mask, trace):
        better = cost < best[near]
        best[near[better]], owner[near[better]] = cost[better], curve + 1
    labels = np.zeros(mask.shape, np.int64)
    labels[mask] = owner
    return labels


def mask_pixels(
    mask: Bool[np.ndarray, "rows cols"], trace: Trace, labels: Int[np.ndarray, "rows cols"]
) -> Bool[np.ndarray, "curves rows cols"]:
    """Return the ON pixels that each curve covers or owns; where curves cross, several do.

    >>> mask = np.ones((3, 9), bool)
    >>> points = np.stack([np.ones(9), np.arange(9.0)], 1)
    >>> curve = np.arange(9) // 5
    >>> trace = Trace(points, np.full(9, 1.5), curve, np.full(9, -1), curve)
    >>> mask_pixels(mask, trace, label_pixels(mask, trace))[:, 1].astype(int).tolist()
    [[1, 1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1, 1]]
    """
    masks = np.stack([labels == 1 + k for k in range(trace.curve.max(initial=-1) + 1)] or [mask])
    where = np.argwhere(mask)
    for curve, near, cost in _covers(mask, trace):
        masks[curve, *where[near[cost < _UNCOVERED]].T] = True
    return masks[: trace.curve.max(initial=-1) + 1]


def _covers(mask: Bool[np.ndarray, "rows cols"], trace: Trace) -> Iterator[CurveCover]:
    """What every curve covers, its seen stretches and its bridges one after another."""
    pixels, depth, top = np.argwhere(mask), _depths(mask, trace), trace.bridge < 0
    for curve in range(trace.curve.max(initial=-1) + 1):
        for part in (top, ~top):
            here = (trace.curve == curve) & part
            near = _around(pixels, trace, here)
            yield CurveCover(curve, near, _costs(pixels[near], trace, here, depth))


def _around(
    pixels: Int[np.ndarray, "pixels 2"], trace: Trace, here: Bool[np.ndarray, " points"]
) -> Int[np.ndarray, " near"]:
    """The numbers of the pixels in the box around some points."""
    if not here.any():
        return np.zeros(0, np.int64)
    margin = FAR * trace.radius[here].max() + FAR_LEAST
    low, high = trace.points[here].min(0) - margin, trace.points[here].max(0) + margin
    return np.flatnonzero(((pixels >= low) & (pixels <= high)).all(1))


def _costs(
    pixels: Int[np.ndarray, "pixels 2"],
    trace: Trace,
    here: Bool[np.ndarray, " points"],
    depth: Float[np.ndarray, " points"],
) -> Float[np.ndarray, " pixels"]:
    """Covered pixels cost depth (below 2) and a little of d / r, others much more."""
    if len(pixels) == 0:
        return np.zeros(0)
    reach = FAR * float(trace.radius[here].max()) + FAR_LEAST
    distance, nearest = KDTree(trace.points[here]).query(pixels, distance_upper_bound=reach)
    found, nearest = np.isfinite(distance), np.asarray(nearest)
    ratio, height = np.full(len(pixels), np.inf), np.zeros(len(pixels))
    # Half a pixel more: a pixel counts by its centre.
    ratio[found] = distance[found] / (trace.radius[here][nearest[found]] + 0.5)
    height[found] = depth[here][nearest[found]]
    return np.where(ratio <= _COVER, height + 0.1 * ratio, _UNCOVERED + ratio)


def _depths(mask: Bool[np.ndarray, "rows cols"], trace: Trace) -> Float[np.ndarray, " points"]:
    """0 on seen stretches, 1 to 2 on bridges."""
    below = trace.bridge >= 0
    depth = np.zeros(len(trace.points))
    if not below.any():
        return depth
    off = np.argwhere(ndimage.binary_dilation(mask, _EIGHT) & ~mask)
    radius, bridge = trace.radius[below], trace.bridge[below]
    tree = KDTree(trace.points[below])
    distance, nearest = tree.query(off, distance_upper_bound=radius.max() + 0.5)
    found = np.isfinite(distance)
    nearest, distance = np.asarray(nearest)[found], np.asarray(distance)[found]
    nearest = nearest[distance < _INNER * (radius[nearest] + 0.5) - 0.5]
    breaks = np.bincount(bridge[nearest], minlength=bridge.max() + 1)
    depth[below] = 1 + (breaks / (breaks + 2.0))[bridge]
    return depth
