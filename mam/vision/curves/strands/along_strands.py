r"""What is measured along strands: sums over the points around each, and the pen that drew them.

The pen's own width :math:`P(\theta)` depends on the direction in which it moves, as drawing
programs round; it is a low quantile of the widths in each of six directions, or what is usual
there, but no more than 1.75 times that of the direction with the least: where the pen seems to be
wider, all lines of a direction lie side by side.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float, Int

from mam.vision.curves.strands.skeleton_cut import borders
from mam.vision.curves.strands.strands import Strands

THICK = 6.0  # px: curves that are wider show where they touch by their skeleton
_DIRECTIONS = 6  # of a quarter turn, in each of which the pen is measured
_ENOUGH = 40  # points that tell of one direction
_UNEVEN = 1.75  # times that a pen may be wider in one direction than in another
_USUAL = 30  # percent of points that are no wider than the pen
_THINNEST = 5  # percent of points, which a pen draws nearly as wide as others


def window_along(
    strands: Strands, reach: int
) -> tuple[Int[np.ndarray, " points"], Int[np.ndarray, " points"]]:
    """The first and the last point of its strand within reach of each point."""
    first, last = borders(strands.strand, len(strands))
    here = np.arange(len(strands.strand))
    low = np.maximum(here - reach, first[strands.strand])
    return low, np.minimum(here + reach, last[strands.strand])


def sums_along(
    values: Float[np.ndarray, "points columns"], strands: Strands, reach: int
) -> tuple[Float[np.ndarray, "points columns"], Int[np.ndarray, "points 1"]]:
    """Sums over the points of its strand around each point, and how many these are."""
    low, high = window_along(strands, reach)
    total = np.concatenate([np.zeros((1, values.shape[1])), np.cumsum(values, axis=0)])
    return total[high + 1] - total[low], (high + 1 - low)[:, None]


def pen_along(
    width: Float[np.ndarray, " points"], way: Float[np.ndarray, "points 2"]
) -> Float[np.ndarray, " points"]:
    """The width of the pen at each point, by the axis along which its line runs there.

    >>> widths, ways = np.array([3.0] * 80 + [9.0] * 20), np.tile([0.0, 1.0], (100, 1))
    >>> np.unique(pen_along(widths, ways)).tolist()
    [3.0]
    """
    angle = np.arctan2(*np.abs(way.T))  # 0 along columns, a quarter along rows
    return by_direction(width, angle, lambda some: float(np.percentile(some, _USUAL)))


def by_direction(
    width: Float[np.ndarray, " points"],
    angle: Float[np.ndarray, " points"],
    usual: Callable[[Float[np.ndarray, " some"]], float],
) -> Float[np.ndarray, " points"]:
    """The usual width in the direction of each point, from 0 to a quarter turn."""
    quarter = np.pi / 2
    which = np.minimum((angle / quarter * _DIRECTIONS).astype(int), _DIRECTIONS - 1)
    known = np.flatnonzero(np.bincount(which, minlength=_DIRECTIONS) >= _ENOUGH)
    if not len(known):
        return np.full(len(angle), usual(width))
    found = np.array([usual(width[which == k]) for k in known])
    found = np.minimum(found, _UNEVEN * found.min())
    return np.interp(angle, (known + 0.5) * quarter / _DIRECTIONS, found)


def is_steady(
    width: Float[np.ndarray, " points"], pen: Float[np.ndarray, " points"], least: float
) -> bool:
    """Whether nearly all ink is at least a share of the pen wide: a brush is not."""
    return bool(np.percentile(width / pen, _THINNEST) >= least)
