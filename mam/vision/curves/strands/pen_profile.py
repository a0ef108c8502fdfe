r"""How wide the ink lies around strands, against the pen that drew them.

A stretch of a strand that rises less than it runs is measured along columns, a steeper one along
rows: :math:`W` is the length of the run of ink through the point. The pen's own run
:math:`P(\theta)` is a low quantile of it (`along_strands`). What is more, :math:`W - P`, is spare:
several lines that do not lie exactly on top of each other have it. The uppermost of them lies at
half a pen from the upper border of the ink, the lowest at half a pen from the lower one.

Where widths vary, as those of a brush, there is no pen, and nothing is spare.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.along_strands import (
    THICK,
    is_steady,
    pen_along,
    sums_along,
    window_along,
)
from mam.vision.curves.strands.strands import Strands
from mam.vision.curves.strands.width import Relief

_REACH = 16  # px on either side in which a run of ink ends
_SMOOTH = 4  # points on either side that tell the direction,
_AVERAGED = 2  # and whose runs are averaged: lines of single pixels are a staircase
_STEADY = 0.7  # of the pen: nearly all ink is as wide where there is one


class PenProfile(NamedTuple):
    """How the ink lies around each point of strands."""

    centre: Float[np.ndarray, "points 2"]  # of the run of ink
    aside: Float[np.ndarray, "points 2"]  # from there to the uppermost line, 0 where one is alone
    pen: Float[np.ndarray, " points"]  # px, across the line
    spare: Float[np.ndarray, " points"]  # px, across the line


def pen_profile(strands: Strands, relief: Relief) -> PenProfile:
    """Measure the ink along strands.

    >>> from mam.vision.curves.strands.strands import find_strands
    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((30, 120), bool)
    >>> mask[10:13, 5:115], mask[13:15, 60:90] = True, True
    >>> ground = relief(mask)
    >>> strands = find_strands(ground)
    >>> np.unique(pen_profile(strands, ground).spare.round()).tolist()
    [0.0, 1.0, 2.0]
    """
    count = len(strands.points)
    nothing = PenProfile(strands.points, np.zeros((count, 2)), 2 * strands.radius, np.zeros(count))
    if not is_thin(strands, relief):
        return nothing
    way = _directions(strands)
    flat = np.abs(way[:, 1]) >= np.abs(way[:, 0])
    before, after = _runs(strands.points, flat, relief.radius > 0)
    runs = np.stack([before + after + 1.0, (after - before) / 2.0], 1)
    total, members = sums_along(runs, strands, _AVERAGED)
    width, shift = (total / members).T
    pen = pen_along(width, way)
    if not is_steady(width, pen, _STEADY):
        return nothing
    axis = np.stack([flat, ~flat], 1).astype(float)
    spare = np.maximum(width - pen, 0.0)
    across = np.abs(way).max(1)  # of a run along rows or columns
    return PenProfile(
        np.rint(strands.points) + shift[:, None] * axis,
        -spare[:, None] / 2 * axis,
        pen * across,
        spare * across,
    )


def is_thin(strands: Strands, relief: Relief) -> bool:
    """Whether single pixels count: thicker curves show where they touch by their skeleton."""
    return relief.scale == 1 and len(strands) > 0 and float(np.mean(strands.width)) <= THICK


def _directions(strands: Strands) -> Float[np.ndarray, "points 2"]:
    low, high = window_along(strands, _SMOOTH)
    way = strands.points[high] - strands.points[low]
    return way / np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]


def _runs(
    points: Float[np.ndarray, "points 2"],
    flat: Bool[np.ndarray, " points"],
    ink: Bool[np.ndarray, "rows cols"],
) -> tuple[Int[np.ndarray, " points"], Int[np.ndarray, " points"]]:
    """How far the ink goes on from each point, towards lower and towards higher numbers."""
    wide = np.pad(ink, _REACH + 1)
    at = np.rint(points).astype(np.int64) + _REACH + 1
    number = at[:, 0] * wide.shape[1] + at[:, 1]
    step = np.where(flat, wide.shape[1], 1)
    offsets = np.arange(1, _REACH + 2)
    found = []
    for sign in (-1, 1):
        on = wide.ravel()[number[:, None] + sign * step[:, None] * offsets]
        on[:, -1] = False
        found.append((~on).argmax(1))
    return found[0], found[1]
