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
from scipy.spatial import KDTree

from mam.vision.images.thin_masks import grown, places

_COVER = 1.05
FAR = 1.5  # radii, and 2 px: pixels farther away from all curves are noise
FAR_LEAST = 2.0
_SQUARE = 4  # px: pixels that are looked at together first
_INNER = 0.85  # radii, less half a pixel: OFF pixels this deep inside are breaks
_UNCOVERED = 10.0  # what it costs to own a pixel without covering it; covering costs up to 2.1


@dataclass(frozen=True, eq=False)
class Trace:
    """Points along curves, about a pixel apart."""

    points: Float[np.ndarray, "points 2"]  # row, column
    radius: Float[np.ndarray, " points"]
    curve: Int[np.ndarray, " points"]  # 0, 1, ...
    bridge: Int[np.ndarray, " points"]  # number of the bridge, -1 where the curve was seen
    strand: Int[np.ndarray, " points"]  # on a bridge the nearer one


class Reach(NamedTuple):
    """Which pixels may be of one curve alone, or of several."""

    sure: Int[np.ndarray, " pixels"]  # the only curve, from 1, that owns it; 0 where none does
    contested: Int[np.ndarray, " some"]  # numbers of the pixels for which distances decide


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
    pixels = places(mask)
    owner, contested = _reach(pixels, trace)
    best = np.full(len(pixels), np.inf)
    for curve, near, cost in _covers(mask, trace, pixels, contested):
        better = cost < best[near]
        best[near[better]], owner[near[better]] = cost[better], curve + 1
    labels = np.zeros(mask.shape, np.int32)
    labels[tuple(pixels.T)] = owner
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
    count = trace.curve.max(initial=-1) + 1
    masks = np.zeros((count, *mask.shape), bool)
    pixels = places(mask)
    owner = labels[tuple(pixels.T)]
    masks[owner[owner > 0] - 1, *pixels[owner > 0].T] = True
    for curve, near, cost in _covers(mask, trace, pixels, _reach(pixels, trace).contested):
        masks[curve, *pixels[near[cost < _UNCOVERED]].T] = True
    return masks


def _reach(pixels: Int[np.ndarray, "pixels 2"], trace: Trace) -> Reach:
    """Look which curves come near, by squares of pixels: most pixels see one curve alone."""
    square = pixels // _SQUARE
    width = int(square[:, 1].max(initial=0)) + 1
    code = square[:, 0] * width + square[:, 1]
    there = np.bincount(code) > 0
    which, number = np.flatnonzero(there), np.cumsum(there) - 1
    middle = np.stack(np.divmod(which, width), 1) * _SQUARE + (_SQUARE - 1) / 2
    spread = (_SQUARE - 1) / 2**0.5 + 1e-6  # of the centres of its pixels around a square's middle
    curves, owner = np.zeros(len(which), np.int64), np.zeros(len(which), np.int64)
    certain = np.zeros(len(which), bool)
    for curve in range(trace.curve.max(initial=-1) + 1):
        near, inside = np.zeros(len(which), bool), np.zeros(len(which), bool)
        for here in _parts(trace, curve):
            reach = FAR * float(trace.radius[here].max()) + FAR_LEAST
            limit = reach + spread
            distance = KDTree(trace.points[here]).query(middle, distance_upper_bound=limit)[0]
            near |= np.isfinite(distance)
            inside |= distance < reach - spread
        curves += near
        owner[near] = curve + 1
        certain |= inside
    decided = (curves == 0) | ((curves == 1) & certain)
    own = number[code]
    return Reach(np.where(decided, owner, 0)[own], np.flatnonzero(~decided[own]))


def _parts(trace: Trace, curve: int) -> Iterator[Bool[np.ndarray, " points"]]:
    """The points of a curve where it was seen, and where it was bridged, if it was."""
    mine = trace.curve == curve
    for part in (trace.bridge < 0, trace.bridge >= 0):
        if (mine & part).any():
            yield mine & part


def _covers(
    mask: Bool[np.ndarray, "rows cols"],
    trace: Trace,
    pixels: Int[np.ndarray, "pixels 2"],
    contested: Int[np.ndarray, " some"],
) -> Iterator[CurveCover]:
    """What every curve covers of some pixels, its seen stretches and its bridges in turn."""
    depth, some = _depths(mask, trace), pixels[contested]
    for curve in range(trace.curve.max(initial=-1) + 1):
        for here in _parts(trace, curve):
            near = _around(some, trace, here)
            yield CurveCover(curve, contested[near], _costs(some[near], trace, here, depth))


def _around(
    pixels: Int[np.ndarray, "pixels 2"], trace: Trace, here: Bool[np.ndarray, " points"]
) -> Int[np.ndarray, " near"]:
    """The numbers of the pixels in the box around some points."""
    reach = FAR * trace.radius[here].max() + FAR_LEAST
    low, high = trace.points[here].min(0) - reach, trace.points[here].max(0) + reach
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
    radius, bridge = trace.radius[below], trace.bridge[below]
    off = _breaks(mask, trace.points[below], float(radius.max()) + 0.5)
    tree = KDTree(trace.points[below])
    distance, nearest = tree.query(off, distance_upper_bound=radius.max() + 0.5)
    found = np.isfinite(distance)
    nearest, distance = np.asarray(nearest)[found], np.asarray(distance)[found]
    nearest = nearest[distance < _INNER * (radius[nearest] + 0.5) - 0.5]
    breaks = np.bincount(bridge[nearest], minlength=bridge.max() + 1)
    depth[below] = 1 + (breaks / (breaks + 2.0))[bridge]
    return depth


def _breaks(
    mask: Bool[np.ndarray, "rows cols"], points: Float[np.ndarray, "points 2"], reach: float
) -> Int[np.ndarray, "off 2"]:
    """OFF pixels beside ON ones, those near some points among them."""
    square = int(np.ceil(reach)) + 1
    rows, cols = (side // square + 1 for side in mask.shape)
    coarse = np.zeros((rows, cols), bool)
    last = np.array(mask.shape) - 1
    coarse[tuple((np.clip(np.rint(points), 0, last).astype(np.int64) // square).T)] = True
    off = places(grown(mask) & ~mask)
    return off[grown(coarse)[tuple((off // square).T)]]
