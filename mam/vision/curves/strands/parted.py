"""Strands that several curves share, taken apart as far as the ink shows more than one of them.

Two lines that meet at a small angle leave one strand of ink, from where the gap between them closes
to where it opens again. Most of it is wider than the pen: there the uppermost line lies along the
one border of the ink and the lowest along the other, and no two can have changed places. So the
wide stretches are as many strands as there are curves, and those that touch a branching go on with
the strands that come in there, in the same order. Only what is as narrow as the pen stays shared.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.pen_profile import PenProfile
from mam.vision.curves.strands.skeleton_cut import borders
from mam.vision.curves.strands.strand_ends import Ends, find_ends
from mam.vision.curves.strands.strands import Strands, joined_through, split

_WIDER = 1.2  # px of spare ink: two lines that differ by less are on top of each other
_LEAST = 12  # points of a wide stretch: shorter ones are crossings
_PINCHED = 1.8  # px: with no more at its narrowest place, lines may cross there,
_ROUGH = 0.7  # px, and up to this much more
_APART = 30  # points of a strand that is wide all along: shorter ones are crossings
_HOLE = 6  # points: a shorter narrow stretch inside of one is part of it


class Parted(NamedTuple):
    """Strands with a copy for each curve, and those that stay shared."""

    strands: Strands
    shared: Bool[np.ndarray, " strands"]  # by curves that pass: part of no chain
    piece: Int[np.ndarray, " ends"]  # of ink at each end: ends of one are those of its copies


def parted(strands: Strands, counts: Int[np.ndarray, " strands"], ink: PenProfile) -> Parted:
    """Take shared strands apart where their ink is wide.

    >>> from mam.vision.curves.strands.pen_profile import pen_profile
    >>> from mam.vision.curves.strands.strands import find_strands
    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((60, 400), bool)
    >>> for col in range(10, 390):  # two lines that cross at a small angle
    ...     for row in (20 + col // 20, 39 - col // 20):
    ...         mask[row : row + 3, col] = True
    >>> ground = relief(mask)
    >>> strands = find_strands(ground)
    >>> inner = (strands.node >= 0).all(1)
    >>> found = parted(strands, np.where(inner, 2, 1), pen_profile(strands, ground))
    >>> len(found.strands), int(found.shared.sum())
    (5, 1)
    >>> bool(found.strands.length[found.shared][0] < 0.7 * strands.length[inner][0])
    True
    """
    several = counts > 1
    if not several.any():
        return Parted(strands, several, np.repeat(np.arange(len(strands)), 2))
    wide = _wide(strands, ink.spare) & several[strands.strand]
    inner = np.append(False, np.diff(strands.strand) == 0)
    cut = split(strands, inner & np.append(False, wide[1:] != wide[:-1]))
    first = borders(cut.strand, len(cut))[0]
    count, double = counts[strands.strand[first]], wide[first]
    often = np.where(double, count, 1)
    degree = np.bincount(cut.node.ravel() + 1, np.repeat(often, 2))[cut.node + 1]
    between = ((degree > 2) & (cut.node >= 0)).all(1) & (cut.node[:, 0] != cut.node[:, 1])
    shared = ~double & between & (count > 1)
    often = np.where(shared, 1, count)
    node = _joined_nodes(cut, find_ends(cut), often, double, ink) if double.any() else {}
    return _laid_out(cut, _Layout(often, double, shared, node), ink)


class _Layout(NamedTuple):
    """How often each piece is there, which of them lie side by side, and where their ends are."""

    often: Int[np.ndarray, " pieces"]
    double: Bool[np.ndarray, " pieces"]
    shared: Bool[np.ndarray, " pieces"]
    node: dict[tuple[int, int, int], int]  # new node of a copy's end, where it goes on


def _laid_out(cut: Strands, layout: _Layout, ink: PenProfile) -> Parted:
    """Draw every copy, those of wide pieces from border to border of the ink."""
    often, double = layout.often, layout.double
    which = np.repeat(np.arange(len(cut)), often)
    rank = np.arange(len(which)) - np.repeat(np.cumsum(often) - often, often)
    first, last = borders(cut.strand, len(cut))
    size = (last - first + 1)[which]
    strand = np.repeat(np.arange(len(which)), size)
    within = np.arange(len(strand)) - np.repeat(np.cumsum(size) - size, size)
    point = first[which][strand] + within
    place = 1 - 2 * rank / np.maximum(often[which] - 1, 1)  # from 1, uppermost, to -1
    mine = double[which][strand]
    side = ink.centre[point] + place[strand, None] * ink.aside[point]
    node = cut.node[which]
    for (piece, copy, end), number in layout.node.items():
        node[int(np.flatnonzero((which == piece) & (rank == copy))[0]), end] = number
    radius = np.where(mine, ink.pen[point] / 2, cut.radius[point])
    drawn = Strands(
        points=np.where(mine[:, None], side, cut.points[point]),
        strand=strand,
        along=cut.along[point],
        radius=radius,
        length=cut.length[which],
        width=np.bincount(strand, 2 * radius) / size,
        node=node,
        spare=np.where(mine, 0.0, cut.spare[point]),
    )
    found, points = joined_through(drawn, int(cut.node.max(initial=-1)) + 1)
    piece = which[strand][points][np.stack(borders(found.strand, len(found)), 1)]
    return Parted(found, layout.shared[piece[:, 0]], piece.ravel())


def _joined_nodes(
    cut: Strands,
    ends: Ends,
    often: Int[np.ndarray, " pieces"],
    double: Bool[np.ndarray, " pieces"],
    ink: PenProfile,
) -> dict[tuple[int, int, int], int]:
    """New nodes for the copies of wide pieces and the strands that they go on with."""
    found: dict[tuple[int, int, int], int] = {}
    at = cut.node.ravel()
    fresh = int(at.max(initial=-1)) + 1
    border = np.stack(borders(cut.strand, len(cut)), 1)
    for piece in np.flatnonzero(double).tolist():
        for end in (0, 1):
            mine = 2 * piece + end
            others = np.flatnonzero((at == at[mine]) & (np.arange(len(at)) != mine))
            if at[mine] < 0 or len(others) != often[piece] or (often[others // 2] > 1).any():
                continue
            if (ends.heading[others] @ ends.heading[mine] > 0).any():
                continue
            aside = ink.aside[border[piece, end]]
            order = others[np.argsort(-(ends.inward[others] @ aside))]
            for copy, other in enumerate(order.tolist()):
                found[piece, copy, end] = found[other // 2, 0, other % 2] = fresh
                fresh += 1
    return found


def _wide(strands: Strands, spare: Float[np.ndarray, " points"]) -> Bool[np.ndarray, " points"]:
    """Tell where the ink of a strand is wider than at its narrowest place, and than the pen."""
    strand, count = strands.strand, len(strands)
    least = np.full(count, np.inf)
    np.minimum.at(least, strand, spare)
    limit = np.where(least < _PINCHED, np.maximum(_WIDER, least + _ROUGH), _WIDER)
    wide = _dropped(spare > limit[strand], strand, _LEAST)
    wide = ~_dropped(~wide, strand, _HOLE)
    narrow = np.bincount(strand, ~wide, count)
    apart = (narrow > 0) | (np.bincount(strand, minlength=count) >= _APART)
    return wide & apart[strand]


def _dropped(
    flag: Bool[np.ndarray, " points"], strand: Int[np.ndarray, " points"], least: int
) -> Bool[np.ndarray, " points"]:
    """Flags without runs of fewer points."""
    run = np.cumsum(np.append(False, (flag[1:] != flag[:-1]) | (np.diff(strand) != 0)))
    return flag & (np.bincount(run)[run] >= least)
