r"""How strands end: place, direction and curvature.

Towards each end a strand is fitted by a parabola in its arc length :math:`s`,

.. math:: x(s) = a + b s + c s^2, \quad \min \sum_s |x(s) - x_s|^2 + (4 w |c|)^2

(:math:`w` its width), which gives place, direction and curvature of the end.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.columns import Columns
from mam.vision.curves.angles import cross
from mam.vision.curves.strands.skeleton_cut import borders, means_of
from mam.vision.curves.strands.strands import Strands

_FIT = 2.5  # widths of a strand that tell how it ends
_FIT_LEAST = 14.0  # px, the same for thin curves; fewer pixels have no direction
_STIFF = 4.0  # widths: a curvature that moves the curve by so much within them is unlikely
_STIFF_LEAST = 20.0  # px, the same for thin curves: their pixels are coarse
_HOOK = 1.0  # widths of a free end that may point anywhere,
_UNHOOKED = 4.0  # widths of a strand that has enough without them
THIN = 5.0  # px: where tips of thicker curves point is told by how they taper
_INWARD = 2.0  # widths from an end to the point that tells on which side of others it lies,
_INWARD_LEAST = 6.0  # px, and this on top


@dataclass(frozen=True, eq=False)
class Ends(Columns):
    """Both ends of every strand: strand k has ends 2k (its first point) and 2k + 1."""

    place: Float[np.ndarray, "ends 2"]  # row, column
    heading: Float[np.ndarray, "ends 2"]  # unit vector that leaves the strand
    curvature: Float[np.ndarray, " ends"]  # 1/px on the way out; positive turns row to column
    width: Float[np.ndarray, " ends"]
    node: Int[np.ndarray, " ends"]  # where it meets others, -1 where it lies free
    inward: Float[np.ndarray, "ends 2"]  # a point of the strand some way in


def find_ends(strands: Strands) -> Ends:
    """Fit the ends of strands.

    >>> from mam.vision.curves.strands.strands import find_strands
    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((20, 60), bool)
    >>> mask[8:13, 5:55] = True
    >>> left, right = sorted(find_ends(find_strands(relief(mask))).heading[:, 1].round(1).tolist())
    >>> left, right
    (-1.0, 1.0)
    """
    before = strands.along
    after = strands.length[strands.strand] - strands.along
    fits = [
        _fitted(strands, distance, free)
        for distance, free in zip((before, after), strands.node.T < 0, strict=True)
    ]
    place, heading, curvature, width = (
        np.stack(both, 1).reshape(-1, *both[0].shape[1:]) for both in zip(*fits, strict=True)
    )
    inward = np.stack([_points_at(strands, distance) for distance in (before, after)], 1)
    return Ends(place, heading, curvature, width, strands.node.ravel(), inward.reshape(-1, 2))


def _points_at(
    strands: Strands, distance: Float[np.ndarray, " points"]
) -> Float[np.ndarray, "strands 2"]:
    """The point of each strand that lies some widths from an end, or its other end."""
    wanted = np.minimum(_INWARD * strands.width + _INWARD_LEAST, strands.length)
    off = np.abs(distance - wanted[strands.strand])
    order = np.lexsort((off, strands.strand))
    return strands.points[order[np.searchsorted(strands.strand, np.arange(len(strands)))]]


def _third(
    strands: Strands, distance: Float[np.ndarray, " points"]
) -> Float[np.ndarray, " points"]:
    """How far the third point of its strand lies from an end, or the last of fewer, for all."""
    first, last = borders(strands.strand, len(strands))
    ordered = distance[np.lexsort((distance, strands.strand))]
    return ordered[np.minimum(first + 2, last)][strands.strand]


def _fitted(
    strands: Strands, distance: Float[np.ndarray, " points"], free: Bool[np.ndarray, " strands"]
) -> tuple[np.ndarray, ...]:
    """Place, heading, curvature and width at the end from which distance is measured.

    The tip of a free end may hook, as where a line is cut at a slant: it is foretold by the rest.
    """
    count = len(strands)
    hook = np.where(free & (strands.length > _UNHOOKED * strands.width), _HOOK * strands.width, 0.0)
    hook = np.where(strands.width < THIN, hook, 0.0)[strands.strand]
    window = np.maximum(_FIT * strands.width, _FIT_LEAST)[strands.strand] + hook
    near = distance <= np.maximum(window, _third(strands, distance))
    near &= distance >= hook
    strand, s, points = strands.strand[near], distance[near], strands.points[near]
    moments = [np.bincount(strand, s**power, count) for power in range(5)]
    normal = np.stack([np.stack(moments[k : k + 3], -1) for k in range(3)], -2).astype(float)
    normal[:, 2, 2] += (_STIFF * np.maximum(strands.width, _STIFF_LEAST)) ** 2
    sides = [[np.bincount(strand, s**k * axis, count) for axis in points.T] for k in range(3)]
    a, b, c = np.moveaxis(np.linalg.solve(normal, np.moveaxis(np.array(sides), -1, 0)), 1, 0)
    speed = np.linalg.norm(b, axis=1)
    # The parabola runs into the strand; on the way out its bend has the other sign.
    curvature = -2 * cross(b, c) / speed**3
    width = means_of(2 * strands.radius[near], strand, count)
    return a, -b / speed[:, None], curvature, width
