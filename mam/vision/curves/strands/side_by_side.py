r"""Curves that run side by side without a gap: a stretch of ink wider than the pen is two strands.

With :math:`n` ink pixels nearest to a stretch of skeleton of length :math:`l`, the ink is
:math:`W = n / l` wide there. The pen's own width is :math:`P(\theta)` (`along_strands`).
Where :math:`W - P` is large, two strands take the place of one, at either border of the ink:

.. math:: x \pm \tfrac{1}{2} (W - P) \, n

(:math:`x` the centroid of the pixels, :math:`n` the normal). Both end at the same nodes. Where
widths vary, as those of a brush, there is no pen, and strands stay as they are.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.strands.along_strands import (
    THICK,
    is_steady,
    pen_along,
    sums_along,
    window_along,
)
from mam.vision.curves.strands.skeleton_cut import borders, means_of
from mam.vision.curves.strands.strands import Strands, degrees, split
from mam.vision.curves.strands.width import Relief

_WINDOW = 4  # points on either side over which ink is counted
_SMOOTH = 2  # points on either side over which the skeleton's steps are averaged
_WIDER, _WIDER_SHARE = 0.7, 0.2  # px, and of the pen: ink that is wider by less is one curve
_LEAST = 30  # points of a stretch that is two strands: shorter ones are crossings
_HOLE = 3  # points: a shorter narrow stretch inside of one is part of it
_STEADY = 0.82  # of the pen: nearly all ink is as wide where there is one


class InkProfile(NamedTuple):
    """How the ink lies around each point of strands."""

    width: Float[np.ndarray, " points"]  # px
    centre: Float[np.ndarray, "points 2"]
    normal: Float[np.ndarray, "points 2"]


def side_by_side(strands: Strands, relief: Relief) -> Strands:
    """Put two strands in the place of stretches that are wider than the pen.

    >>> from mam.vision.curves.strands.strands import find_strands
    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((60, 200), bool)
    >>> mask[30:33, 5:195], mask[33:35, 80:160], mask[35:50, 157:160] = True, True, True
    >>> ground = relief(mask)
    >>> len(find_strands(ground)), len(side_by_side(find_strands(ground), ground))
    (3, 5)
    """
    if relief.scale > 1 or not len(strands) or _mean_width(strands, relief) > THICK:
        return strands
    ink = ink_profile(strands, relief.radius > 0)
    pen = pen_along(ink.width, ink.normal[:, ::-1])
    excess = ink.width - pen
    if not is_steady(ink.width, pen, _STEADY):
        return strands
    wide = _long_runs(excess > np.maximum(_WIDER, _WIDER_SHARE * pen), strands.strand)
    wide &= _at_branchings(wide, strands)
    return _doubled(strands, wide, ink, np.maximum(excess, 0.0), pen) if wide.any() else strands


def _mean_width(strands: Strands, relief: Relief) -> float:
    return float((relief.radius > 0).sum() / max(strands.length.sum(), 1.0))


def ink_profile(strands: Strands, ink: Bool[np.ndarray, "rows cols"]) -> InkProfile:
    """Measure width and middle of the ink along strands."""
    pixels, count = np.argwhere(ink), len(strands.points)
    nearest = np.asarray(KDTree(strands.points).query(pixels)[1])
    sums = np.stack([np.bincount(nearest, weight, count) for weight in (None, *pixels.T)], 1)
    # Pixels beyond a strand's end are nearest to its last point, but not beside it.
    inner = np.ones((count, 1))
    inner[np.concatenate(borders(strands.strand, len(strands)))] = 0.0
    area, *places = sums_along(inner * sums, strands, _WINDOW)[0].T
    total, members = sums_along(strands.points, strands, _SMOOTH)
    smooth = total / members
    step = np.linalg.norm(np.diff(smooth, axis=0), axis=1)
    step = np.append(0.0, np.where(np.diff(strands.strand) == 0, step, 0.0))
    arc = (step + np.append(step[1:], 0.0)) / 2
    length = sums_along(inner * arc[:, None], strands, _WINDOW)[0][:, 0]
    low, high = window_along(strands, _WINDOW)
    way = smooth[high] - smooth[low]
    way = way / np.maximum(np.linalg.norm(way, axis=1), 1e-9)[:, None]
    normal = np.stack([way[:, 1], -way[:, 0]], 1)
    middle = np.stack(places, 1) / np.maximum(area, 1)[:, None]
    off = np.where(area > 0, ((middle - strands.points) * normal).sum(1), 0.0)
    centre = strands.points + off[:, None] * normal
    return InkProfile(area / np.maximum(length, 1.0), centre, normal)


def _long_runs(
    wide: Bool[np.ndarray, " points"], strand: Int[np.ndarray, " points"]
) -> Bool[np.ndarray, " points"]:
    """Fill short holes and drop short stretches."""
    return _dropped(~_dropped(~wide, strand, _HOLE), strand, _LEAST)


def _at_branchings(
    wide: Bool[np.ndarray, " points"], strands: Strands
) -> Bool[np.ndarray, " points"]:
    """Tell which points are on runs that touch a branching: all other ink is one curve."""
    run, strand = _runs(wide, strands.strand), strands.strand
    first, last = borders(run, int(run[-1]) + 1)
    branch = degrees(strands.node) > 2
    begins, ends = borders(strand, len(strands))
    mine = strand[first]
    told = (first == begins[mine]) & branch[mine, 0] | (last == ends[mine]) & branch[mine, 1]
    return told[run]


def _runs(
    flag: Bool[np.ndarray, " points"], strand: Int[np.ndarray, " points"]
) -> Int[np.ndarray, " points"]:
    """Number stretches of equal flags, strand by strand."""
    return np.cumsum(np.append(False, (flag[1:] != flag[:-1]) | (np.diff(strand) != 0)))


def _dropped(
    flag: Bool[np.ndarray, " points"], strand: Int[np.ndarray, " points"], least: int
) -> Bool[np.ndarray, " points"]:
    run = _runs(flag, strand)
    return flag & (np.bincount(run)[run] >= least)


def _doubled(
    strands: Strands,
    wide: Bool[np.ndarray, " points"],
    ink: InkProfile,
    excess: Float[np.ndarray, " points"],
    pen: Float[np.ndarray, " points"],
) -> Strands:
    """Cut strands where they become wide or narrow, and put two in the place of each wide one."""
    inner = np.append(False, np.diff(strands.strand) == 0)
    cut = split(strands, inner & np.append(False, wide[1:] != wide[:-1]))
    double = wide[borders(cut.strand, len(cut))[0]]
    node = cut.node.copy()
    free = (node < 0) & double[:, None]
    node[free] = int(node.max(initial=-1)) + 1 + np.arange(int(free.sum()))
    mine = double[cut.strand]
    aside = excess[:, None] / 2 * ink.normal
    number = np.cumsum(double) - 1 + len(cut)
    width = np.where(double, means_of(pen, cut.strand, len(cut)), cut.width)
    return Strands(
        points=np.concatenate(
            [np.where(mine[:, None], ink.centre + aside, cut.points), (ink.centre - aside)[mine]]
        ),
        strand=np.concatenate([cut.strand, number[cut.strand[mine]]]),
        along=np.concatenate([cut.along, cut.along[mine]]),
        radius=np.concatenate([np.where(mine, pen / 2, cut.radius), pen[mine] / 2]),
        length=np.concatenate([cut.length, cut.length[double]]),
        width=np.concatenate([width, width[double]]),
        node=np.concatenate([node, node[double]]),
    )
