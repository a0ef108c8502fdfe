r"""Strands: the stretches of curves between crossings, and how they end.

The skeleton of a mask branches where curves cross. Around every branching point the largest disc
inside the mask belongs to no single curve, so it is cut out; what is left are strands. A shallow
crossing leaves, between its two branchings, a short strand that both curves share: it is *loose*,
the model may do without it. Necks, thin and short beside the discs they join, are leaks of a break
and dropped; tips where the mask tapers are cut, they point anywhere.

Towards each end a strand is fitted by a parabola in its arc length :math:`s`,

.. math:: x(s) = a + b s + c s^2, \quad \min \sum_s |x(s) - x_s|^2 + (4 w |c|)^2

(:math:`w` its width), which gives place, direction and curvature of the end.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.strands.skeleton_paths import branching, components, in_order, outside_discs
from mam.vision.curves.strands.width import Relief

_CUT = 0.9  # radius of the disc cut out at a branching, in radii of the disc inside the mask
_TAPER = 0.6  # a tip is where the mask is thinner than this part of the strand
_SHORTEST = 0.5  # widths; shorter strands are spurs
_LEAST = 3.0  # px, the same for thin curves
_SHARED = 1.5  # widths up to which a strand between two branchings is loose
_FIT = 2.5  # widths of a strand that tell how it ends
_FIT_LEAST = 6.0  # px, the same for thin curves; fewer pixels have no direction


@dataclass(frozen=True, eq=False)
class Strands:
    """Pixels of strands, strand after strand and in order; all lengths in pixels of the mask."""

    points: Float[np.ndarray, "points 2"]  # row, column
    strand: Int[np.ndarray, " points"]
    along: Float[np.ndarray, " points"]  # arc length from the strand's first point
    radius: Float[np.ndarray, " points"]  # half the width
    length: Float[np.ndarray, " strands"]
    width: Float[np.ndarray, " strands"]  # mean
    loose: Bool[np.ndarray, " strands"]  # may be left out: two curves may share it

    def __len__(self) -> int:
        return len(self.length)


@dataclass(frozen=True, eq=False)
class Ends:
    """Both ends of every strand: strand k has ends 2k (its first point) and 2k + 1."""

    place: Float[np.ndarray, "ends 2"]  # row, column
    heading: Float[np.ndarray, "ends 2"]  # unit vector that leaves the strand
    curvature: Float[np.ndarray, " ends"]  # 1/px on the way out; positive turns row to column
    width: Float[np.ndarray, " ends"]
    loose: Bool[np.ndarray, " ends"]

    def __len__(self) -> int:
        return len(self.width)


def find_strands(relief: Relief) -> Strands:
    """Cut a skeleton at its branchings and order what is left.

    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> len(find_strands(relief(mask)))
    4
    """
    joints = np.argwhere(branching(relief.skeleton))
    discs = _CUT * (relief.radius[tuple(joints.T)] / relief.scale + 0.5)
    pixels = np.argwhere(relief.skeleton)
    pixels = _without_tips(pixels[outside_discs(pixels, joints, discs)], relief)
    pixels, path, along = in_order(pixels)
    count = int(path.max(initial=-1)) + 1
    radius = relief.radius[tuple(pixels.T)]
    along, width = along * relief.scale, _means(2 * radius, path, count)
    length = np.zeros(count)
    np.maximum.at(length, path, along)
    first = np.searchsorted(path, np.arange(count))
    last = np.searchsorted(path, np.arange(count), side="right") - 1
    discs_there = np.stack([_disc_at(pixels[end], joints, discs) for end in (first, last)])
    joined = relief.scale * discs_there.max(0)  # radius of the greater disc that it starts from
    neck = (length < joined) & (width < joined / 2)
    kept = (length >= np.maximum(_SHORTEST * width, _LEAST * relief.scale)) & ~neck
    loose = (length < _SHARED * width) & (discs_there > 0).all(0)
    number, mine = np.cumsum(kept) - 1, kept[path]
    return Strands(
        points=pixels[mine] * float(relief.scale) + (relief.scale - 1) / 2,
        strand=number[path[mine]],
        along=along[mine],
        radius=radius[mine],
        length=length[kept],
        width=width[kept],
        loose=loose[kept],
    )


def _disc_at(
    pixels: Int[np.ndarray, "pixels 2"],
    joints: Int[np.ndarray, "discs 2"],
    radius: Float[np.ndarray, " discs"],
) -> Float[np.ndarray, " pixels"]:
    """The radius of the disc beside which each pixel lies, 0 for none."""
    if len(joints) == 0 or len(pixels) == 0:
        return np.zeros(len(pixels))
    distance, nearest = KDTree(joints).query(pixels)
    return np.where(distance <= radius[nearest] + 2, radius[nearest], 0.0)


def _without_tips(pixels: Int[np.ndarray, "pixels 2"], relief: Relief) -> Int[np.ndarray, "_ 2"]:
    """Drop pixels where the mask is much thinner than along most of their strand."""
    if len(pixels) == 0:
        return pixels
    _, component = components(pixels)
    radius = relief.radius[tuple(pixels.T)] + 0.5 * relief.scale
    order, counts = np.lexsort((radius, component)), np.bincount(component)
    usual = radius[order][np.cumsum(counts) - counts + 3 * counts // 4]
    # Radii are whole pixels on thin curves: one less is no tip.
    least = np.minimum(_TAPER * usual, usual - relief.scale)
    return pixels[radius >= least[component]]


def _means(
    values: Float[np.ndarray, " points"], group: Int[np.ndarray, " points"], count: int
) -> Float[np.ndarray, " groups"]:
    return np.bincount(group, values, count) / np.maximum(np.bincount(group, minlength=count), 1)


def halved(strands: Strands, which: Bool[np.ndarray, " strands"]) -> Strands:
    """Cut some strands in the middle.

    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((20, 60), bool)
    >>> mask[8:13, 5:55] = True
    >>> halves = halved(find_strands(relief(mask)), np.array([True]))
    >>> len(halves), np.bincount(halves.strand).tolist()
    (2, [23, 24])
    """
    middle = strands.length[strands.strand] / 2
    second = which[strands.strand] & (strands.along > middle)
    number = (np.arange(len(strands)) + np.cumsum(which) - which)[strands.strand] + second
    count = len(strands) + int(which.sum())
    first = np.searchsorted(number, np.arange(count))
    last = np.searchsorted(number, np.arange(count), side="right") - 1
    return replace(
        strands,
        strand=number,
        along=strands.along - strands.along[first][number],
        length=strands.along[last] - strands.along[first],
        width=_means(2 * strands.radius, number, count),
        loose=np.repeat(strands.loose, 1 + which),
    )


def find_ends(strands: Strands) -> Ends:
    """Fit the ends of strands.

    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((20, 60), bool)
    >>> mask[8:13, 5:55] = True
    >>> left, right = sorted(find_ends(find_strands(relief(mask))).heading[:, 1].round(1).tolist())
    >>> left, right
    (-1.0, 1.0)
    """
    before = strands.along
    after = strands.length[strands.strand] - strands.along
    fits = [_fitted(strands, distance) for distance in (before, after)]
    place, heading, curvature, width = (
        np.stack(both, 1).reshape(-1, *both[0].shape[1:]) for both in zip(*fits, strict=True)
    )
    return Ends(place, heading, curvature, width, np.repeat(strands.loose, 2))


def _fitted(strands: Strands, distance: Float[np.ndarray, " points"]) -> tuple[np.ndarray, ...]:
    """Place, heading, curvature and width at the end from which distance is measured."""
    count = len(strands)
    window = np.maximum(_FIT * strands.width, _FIT_LEAST)[strands.strand]
    near = distance <= window
    strand, s, points = strands.strand[near], distance[near], strands.points[near]
    moments = [np.bincount(strand, s**power, count) for power in range(5)]
    normal = np.stack([np.stack(moments[k : k + 3], -1) for k in range(3)], -2).astype(float)
    normal[:, 2, 2] += (4 * strands.width) ** 2
    sides = [[np.bincount(strand, s**k * axis, count) for axis in points.T] for k in range(3)]
    a, b, c = np.moveaxis(np.linalg.solve(normal, np.moveaxis(np.array(sides), -1, 0)), 1, 0)
    speed = np.linalg.norm(b, axis=1)
    # The parabola runs into the strand; on the way out its bend has the other sign.
    curvature = -2 * (b[:, 0] * c[:, 1] - b[:, 1] * c[:, 0]) / speed**3
    width = _means(2 * strands.radius[near], strand, count)
    return a, -b / speed[:, None], curvature, width
