"""Strands: the stretches of curves between crossings.

The skeleton of a mask branches where curves cross. Around every branching point the largest disc
inside the mask belongs to no single curve, so it is cut out; what is left are strands. A strand too
short to have a direction, as a shallow crossing leaves between its two branchings, is part of the
node there. So are necks, thin and short beside the discs they join: leaks of a break. Tips where
the mask tapers are cut, they point anywhere.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from mam.vision.curves.angles import turn_between
from mam.vision.curves.chains import find_chains
from mam.vision.curves.strands.skeleton_cut import (
    SkeletonCut,
    borders,
    contracted,
    cut_at_nodes,
    means_of,
    without_spurs,
)
from mam.vision.curves.strands.width import Relief

_CORNER = 1.5  # widths on either side of a corner,
_CORNER_LEAST = 5.0  # px at least
FOLD = 1.9  # radians: a sharper corner is a fold
FRAME = 1.5  # px, and a width: what is nearer to the frame of a picture is on it
_PARTING = 1.0  # radians: a sharper corner on the frame of a picture is two curves
_SLENDER = 10.0  # px, mean width of thin lines


@dataclass(frozen=True, eq=False)
class Strands:
    """Pixels of strands, strand after strand and in order; all lengths in pixels of the mask."""

    points: Float[np.ndarray, "points 2"]  # row, column
    strand: Int[np.ndarray, " points"]
    along: Float[np.ndarray, " points"]  # arc length from the strand's first point
    radius: Float[np.ndarray, " points"]  # half the width
    length: Float[np.ndarray, " strands"]
    width: Float[np.ndarray, " strands"]  # mean
    node: Int[np.ndarray, "strands 2"]  # where either end meets others, -1 where it lies free

    def __len__(self) -> int:
        return len(self.length)


def find_strands(relief: Relief) -> Strands:
    """Cut a skeleton at its branchings and order what is left.

    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> len(find_strands(relief(mask)))
    4
    """
    return find_pieces(relief)[0]


def find_pieces(relief: Relief) -> tuple[Strands, Strands]:
    """The strands of a skeleton, and pieces by themselves that are too short to be one: dots."""
    cut = cut_at_nodes(relief.skeleton, relief)
    spurs = cut.short & ((cut.node < 0).sum(1) == 1)
    # A spur may be all inside its node: then two strands are left there, which are one. On thin
    # lines, which bend sharply, much may be left out between them.
    thin = len(cut.width) > 0 and cut.width.mean() < _SLENDER
    if spurs.any() or (thin and (degrees(cut.node) == 2).any()):
        cut = cut_at_nodes(without_spurs(cut, spurs), relief)
    node = contracted(cut)
    dots = cut.short & (cut.node < 0).all(1)
    return through(_of_cut(cut, ~cut.short, node, relief)), _of_cut(cut, dots, node, relief)


def _of_cut(
    cut: SkeletonCut,
    kept: Bool[np.ndarray, " strands"],
    node: Int[np.ndarray, "strands 2"],
    relief: Relief,
) -> Strands:
    number, mine = np.cumsum(kept) - 1, kept[cut.path]
    return Strands(
        points=cut.pixels[mine] * float(relief.scale) + (relief.scale - 1) / 2,
        strand=number[cut.path[mine]],
        along=cut.along[mine],
        radius=cut.radius[mine],
        length=cut.length[kept],
        width=cut.width[kept],
        node=node[kept],
    )


def degrees(node: Int[np.ndarray, "*batch"]) -> Int[np.ndarray, "*batch"]:
    """How many ends of strands meet where each end lies; 1 where it lies free.

    >>> degrees(np.array([[-1, 0], [0, 0], [-1, -1]])).tolist()
    [[1, 3], [3, 3], [1, 1]]
    """
    return np.where(node >= 0, np.bincount(node.ravel() + 1)[node + 1], 1)


def halved(strands: Strands, which: Bool[np.ndarray, " strands"]) -> Strands:
    """Cut some strands in the middle.

    >>> from mam.vision.curves.strands.width import relief
    >>> mask = np.zeros((20, 60), bool)
    >>> mask[8:13, 5:55] = True
    >>> halves = halved(find_strands(relief(mask)), np.array([True]))
    >>> len(halves), np.bincount(halves.strand).tolist(), halves.node.tolist()
    (2, [23, 24], [[-1, 0], [0, -1]])
    """
    first, last = borders(strands.strand, len(strands))
    begins = np.zeros(len(strands.strand), bool)
    begins[((first + last + 1) // 2)[which]] = True
    return split(strands, begins)


def split(strands: Strands, begins: Bool[np.ndarray, " points"]) -> Strands:
    """Cut strands before some of their inner points; both sides of a cut share a new node."""
    new = np.append(False, np.diff(strands.strand) > 0) | begins
    number = np.cumsum(new)[: len(new)]
    count = int(number.max(initial=-1)) + 1
    first, last = borders(number, count)
    old = strands.strand[first]
    cut = np.flatnonzero(begins[first])  # pieces that begin at a cut
    node = strands.node[old]
    node[cut - 1, 1] = node[cut, 0] = int(node.max(initial=-1)) + 1 + np.arange(len(cut))
    return Strands(
        points=strands.points,
        strand=number,
        along=strands.along - strands.along[first][number],
        radius=strands.radius,
        length=strands.along[last] - strands.along[first],
        width=means_of(2 * strands.radius, number, count),
        node=node,
    )


def joined_strands(one: Strands, other: Strands) -> Strands:
    """The strands of both; those of the second meet none of the first."""
    node = np.where(other.node < 0, -1, other.node + 1 + int(one.node.max(initial=-1)))
    moved = {**vars(other), "strand": other.strand + len(one), "node": node}
    return Strands(**{name: np.concatenate([own, moved[name]]) for name, own in vars(one).items()})


def chosen(strands: Strands, which: Int[np.ndarray, " _"]) -> Strands:
    """Return some strands by their numbers, each as often as it is named."""
    first, last = borders(strands.strand, len(strands))
    count = (last - first + 1)[which]
    strand = np.repeat(np.arange(len(which)), count)
    within = np.arange(len(strand)) - np.repeat(np.cumsum(count) - count, count)
    point = first[which][strand] + within
    return Strands(
        points=strands.points[point],
        strand=strand,
        along=strands.along[point],
        radius=strands.radius[point],
        length=strands.length[which],
        width=strands.width[which],
        node=strands.node[which],
    )


def through(strands: Strands) -> Strands:
    """Join strands where no third one is: ink that does not branch is one strand."""
    return joined_through(strands)[0]


def joined_through(strands: Strands, least: int = 0) -> tuple[Strands, Int[np.ndarray, " points"]]:
    """The same at nodes from a number on, and which point each of the points was."""
    end = np.flatnonzero((strands.node.ravel() >= least) & (degrees(strands.node).ravel() == 2))
    end = end[np.argsort(strands.node.ravel()[end], kind="stable")].reshape(-1, 2)
    end = end[end[:, 0] // 2 != end[:, 1] // 2]
    if not len(end):
        return strands, np.arange(len(strands.points))
    chains = find_chains(end // 2, end % 2, len(strands))
    first, last = (side.tolist() for side in borders(strands.strand, len(strands)))
    order, node, number = [], [], []
    for k, chain in enumerate(chains):
        walk = list(zip(chain.strokes.tolist(), chain.leaves.tolist(), strict=True))
        for strand, leaves in walk:
            own = np.arange(first[strand], last[strand] + 1)
            order.append(own if leaves else own[::-1])
            number.append(np.full(len(own), k))
        (begin, onward), (stop, left) = walk[0], walk[-1]
        node.append([strands.node[begin, 1 - onward], strands.node[stop, left]])
    places, strand = np.concatenate(order), np.concatenate(number)
    points, radius = strands.points[places], strands.radius[places]
    steps = np.append(0.0, np.linalg.norm(np.diff(points, axis=0), axis=1))
    first, last = borders(strand, len(chains))
    along = np.cumsum(steps)
    along = along - along[first][strand]
    width = means_of(2 * radius, strand, len(chains))
    found = Strands(points, strand, along, radius, along[last], width, np.array(node))
    return found, places


def at_corners(strands: Strands, sharp: float = FOLD) -> Strands:
    """Cut strands where they turn sharply: the model says whether one curve has both sides."""
    corner = _corners(strands, sharp)
    return split(strands, corner) if corner.any() else strands


def at_frame(strands: Strands, shape: tuple[int, ...]) -> Strands:
    """Part strands at corners on the frame of the picture: one curve leaves, another comes in.

    >>> from mam.vision.curves.strands.width import relief
    >>> rows, cols = np.indices((60, 60))
    >>> mask = abs(abs(rows - 30) - cols) < 3
    >>> strands = find_strands(relief(mask))
    >>> len(strands), len(at_frame(strands, mask.shape)), len(at_frame(strands, (60, 99)))
    (1, 2, 2)
    """
    beyond = np.minimum(strands.points, np.array(shape) - 1 - strands.points).min(1)
    near = beyond < strands.width[strands.strand] + FRAME
    corner = near & _corners(strands, _PARTING) if near.any() else near
    if not corner.any():
        return strands
    parted = split(strands, corner)
    return replace(parted, node=np.where(parted.node > strands.node.max(), -1, parted.node))


def _corners(strands: Strands, sharp: float) -> Bool[np.ndarray, " points"]:
    """The points at which strands turn more than ``sharp``, one of each corner."""
    step = np.maximum(_CORNER * strands.width, _CORNER_LEAST).astype(int)[strands.strand]
    here = np.arange(len(strands.strand))
    before, after = (np.clip(here + k, 0, len(here) - 1) for k in (-step, step))
    inner = (strands.strand[before] == strands.strand) & (strands.strand[after] == strands.strand)
    inner &= (before == here - step) & (after == here + step)
    into = strands.points - strands.points[before]
    out = strands.points[after] - strands.points
    turn = np.where(inner, np.abs(turn_between(into, out)), 0.0)
    sharpest = ndimage.maximum_filter1d(turn, 2 * int(_CORNER_LEAST) + 1) if len(turn) else turn
    corner = (turn > sharp) & (turn == sharpest)
    return corner & ~np.append(False, corner[:-1])  # of equal ones the first
