r"""An axis along which all curves of a picture run without turning back, as lines of a chart do.

Of the two axes of the picture take the one along which strands advance most steadily: with steps
:math:`d` along the axis, each over about a width of the curve, the steadiness is

.. math:: R = \frac{\sum_\text{strands} |\sum d|}{\sum |d|},

1 where no strand turns back. Ropes and cables turn back everywhere, and no axis is sure there. Two
lines of a chart that begin or end at one point are one strand, which does turn back there: of these
only what is not taken back counts below the line.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from mam.vision.curves.strands.strands import Strands

_STEADY = (0.93, 0.99)  # steadiness from which on an axis is thought of, and is sure
_CLEARLY = 0.02  # rows must be steadier by this: charts have their axis along columns
_TURNED = 2.0  # widths there and back again of a strand that turns,
_TURNED_LEAST = 5.0  # px, and this on top
_FOLD = 3.0  # widths from a sharp fold at which its arms lie on one side of it
_STEP = 5  # points between which a step is measured: single pixels are noise


@dataclass(frozen=True)
class Axis:
    """0 for rows or 1 for columns, and how sure it is, 0 to 1."""

    number: int
    sure: float


def find_axis(strands: Strands) -> Axis:
    """Find the axis along which strands turn back least."""
    here = np.arange(0, len(strands.strand), _STEP)
    one = strands.strand[here[1:]] == strands.strand[here[:-1]]
    steps = np.diff(strands.points[here], axis=0)[one]
    strand = strands.strand[here[1:]][one]
    if not len(steps):
        return Axis(1, 0.0)
    net = np.stack([np.bincount(strand, column) for column in steps.T])
    steady = np.abs(net).sum(1) / np.maximum(np.abs(steps).sum(0), 1e-9)
    number = 0 if steady[1] < steady[0] - _CLEARLY else 1
    low, high = _STEADY
    # One curve that clearly turns back is enough.
    there = np.bincount(strand, np.abs(steps[:, number]), len(strands))
    turned = there - np.abs(np.bincount(strand, steps[:, number], len(strands)))
    back = np.flatnonzero(turned > _TURNED * strands.width + _TURNED_LEAST)
    along = strands.points[:, number]
    if not all(_two_lines(strands, int(one), number, (along.min(), along.max())) for one in back):
        return Axis(number, 0.0)
    total = np.abs(steps).sum(0)[number] - turned[back].sum()
    steady = np.abs(net).sum(1)[number] / max(float(total), 1e-9)
    return Axis(number, float(np.clip((steady - low) / (high - low), 0.0, 1.0)))


def _two_lines(
    strands: Strands, one: int, number: int, limits: tuple[np.floating, np.floating]
) -> bool:
    """Whether a strand is two lines of a chart that begin, or end, at one point.

    Such a strand turns back once, where all ink ends, and sharply.
    """
    points, width = strands.points[strands.strand == one], float(strands.width[one])
    along = points[:, number]
    away = round(_FOLD * width)
    for tip, limit in ((int(along.argmin()), limits[0]), (int(along.argmax()), limits[1])):
        if abs(along[tip] - limit) > width or not away <= tip < len(points) - away:
            continue
        before, after = points[tip - away] - points[tip], points[tip + away] - points[tip]
        arms = abs(along[[0, -1]] - along[tip]).sum()
        turned = np.abs(np.diff(along[::_STEP])).sum() - arms
        if before @ after > 0 and turned <= _TURNED * width + _TURNED_LEAST:
            return True
    return False


def turns_back(
    axis: Axis,
    strands: Strands,
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
) -> Float[np.ndarray, " pairs"]:
    """How surely a curve with both of these strands would be twice at one place of an axis."""
    along = strands.points[:, axis.number]
    low, high = np.full(len(strands), np.inf), np.full(len(strands), -np.inf)
    np.minimum.at(low, strands.strand, along)
    np.maximum.at(high, strands.strand, along)
    both = np.minimum(high[first], high[second]) - np.maximum(low[first], low[second])
    width = (strands.width[first] + strands.width[second]) / 2
    return axis.sure * np.clip((both - width) / (2 * width), 0.0, 1.0)
