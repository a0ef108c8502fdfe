r"""Broken lines: dashes, dots, cuts. Gaps are measured by those of the picture.

A strand with a free end that is short beside its picture is a *dash*, where most of the length is
in such strands and many are pieces by themselves. Then the gap from a dash to the next end ahead is
no accident: links that one of them has bridge gaps as if the usual gap, a high quantile of these,
were a width.
"""

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.angles import cross
from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.strands import Strands

_FEW = 6  # dashes that make a picture a broken one
_SHORT = 0.25  # of the diagonal of the ink: a dash is shorter
_MOST = 0.5  # of the length in dashes: the lines of such a picture are broken
CORNER = 0.55  # radians: where a piece of such a picture turns sharper, two may touch
_AHEAD = 0.6  # cosine of the angle within which the next end is ahead
_NEXT = 8  # nearest ends that are looked at
_USUAL = 0.85  # quantile of gaps
_WIDEST = 10.0  # times
_SHARPEST = 1.0  # radians that a broken line turns at either side of a gap
_FARTHEST = 3.0  # usual gaps that it may leave out
_ASIDE = 0.25  # of the gap that a piece between may lie off its chord
_ALIGNED = 0.85  # cosine of the angle between such a piece and the chord


def dashes_of(strands: Strands) -> Bool[np.ndarray, " strands"]:
    """Tell which strands are dashes; none where few are pieces by themselves or most are whole."""
    if not len(strands):
        return np.zeros(0, bool)
    diagonal = float(np.linalg.norm(np.ptp(strands.points, axis=0)))
    free = (strands.node < 0).sum(1)
    found = (free > 0) & (strands.length < _SHORT * diagonal)
    many = (found & (free == 2)).sum() >= _FEW
    broken = strands.length[found].sum() > _MOST * strands.length.sum()
    return found & many & broken


def gap_scale(ends: Ends, dashes: Bool[np.ndarray, " strands"]) -> Float[np.ndarray, " ends"]:
    """How many times narrower than they are gaps count at every end; 1 where lines are whole."""
    scale = np.ones(len(ends))
    of_dash = np.repeat(dashes, 2)
    free = np.flatnonzero(ends.node < 0)
    own = np.flatnonzero(of_dash & (ends.node < 0))
    if not len(own):
        return scale
    count = min(_NEXT + 1, len(free))
    far, which = KDTree(ends.place[free]).query(ends.place[own], k=count)
    far, other = np.asarray(far).reshape(-1, count), free[np.asarray(which).reshape(-1, count)]
    chord = ends.place[other] - ends.place[own][:, None]
    along = (chord * ends.heading[own][:, None]).sum(2)
    ahead = (other // 2 != own[:, None] // 2) & (along > _AHEAD * far)
    gap = np.where(ahead, far, np.inf).min(1)
    known = np.isfinite(gap)
    if known.any():
        usual = np.quantile(gap[known], _USUAL)
        scale[of_dash] = np.clip(usual / ends.width[of_dash], 1.0, _WIDEST)
    return scale


def bridges(
    ends: Ends,
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
    turns: Float[np.ndarray, " pairs"],
    usual: Float[np.ndarray, " pairs"],
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs of ends a broken line may bridge, by turns and the usual gap there."""
    gap = np.linalg.norm(ends.place[second] - ends.place[first], axis=1)
    found = (turns < _SHARPEST) & (gap <= _FARTHEST * usual)
    near = np.flatnonzero(found)
    found[near] = ~leaps(ends, first[near], second[near])
    return found


def leaps(
    ends: Ends, first: Int[np.ndarray, " pairs"], second: Int[np.ndarray, " pairs"]
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs of ends leave out a piece that lies between them, along their chord."""
    found = np.zeros(len(first), bool)
    if not len(first):
        return found
    tip, tail = ends.place[::2], ends.place[1::2]
    middle, along = (tip + tail) / 2, tip - tail
    size = np.maximum(np.linalg.norm(along, axis=1), 1e-9)
    start, stop = ends.place[first], ends.place[second]
    gap = np.maximum(np.linalg.norm(stop - start, axis=1), 1e-9)
    near = KDTree(middle).query_ball_point((start + stop) / 2, gap / 2)
    pair = np.repeat(np.arange(len(first)), [len(some) for some in near])
    third = np.array([one for some in near for one in some], np.int64)
    other = (third != first[pair] // 2) & (third != second[pair] // 2)
    pair, third = pair[other], third[other]
    way = (stop - start)[pair] / gap[pair][:, None]
    off = middle[third] - start[pair]
    aside = np.abs(cross(off, way))
    aligned = np.abs((along[third] * way).sum(1)) > _ALIGNED * size[third]
    between = (size[third] < gap[pair]) & (aside < _ASIDE * gap[pair]) & aligned
    found[pair[between]] = True
    return found
