"""Thick crossing curves in a mask: which pixels belong to which curve, from end to end.

The mask is described by strands, the stretches between crossings; `decide` says which strand ends
continue in which; chains of strands are curves.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from mam.vision.binary import as_binary
from mam.vision.strand_pairs import Decide, Partners, continue_smoothly
from mam.vision.labels import Trace, label_pixels
from mam.vision.strands import Ends, Strands, find_ends, find_strands
from mam.vision.width import relief


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve from end to end, through crossings and over gaps."""

    points: Float[np.ndarray, "points 2"]  # row, column, about a pixel apart, in order
    radius: Float[np.ndarray, " points"]  # half the width
    seen: Bool[np.ndarray, " points"]  # not bridged
    closed: bool


@dataclass(frozen=True, eq=False)
class Curves:
    """All curves of a mask, longest first, and the owner of every pixel."""

    curves: tuple[Curve, ...]
    labels: Int[np.ndarray, "rows cols"]  # 1 for the first curve; 0 is nobody

    def __len__(self) -> int:
        return len(self.curves)


def group_curves(
    mask: Shaped[np.ndarray, "rows cols"], decide: Decide = continue_smoothly
) -> Curves:
    """Find the curves of a mask; they may cross each other and themselves.

    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> found = group_curves(mask)
    >>> across, down = found.labels[30, [10, 50]].tolist(), found.labels[[10, 50], 30].tolist()
    >>> len(found), across[0] == across[1], down[0] == down[1], across == down
    (2, True, True, False)
    """
    pixels = as_binary(mask, name="the mask")
    ground = relief(pixels)
    strands = find_strands(ground)
    ends = find_ends(strands)
    curves = _chains(strands, ends, decide(ends, ground))
    return Curves(curves, label_pixels(pixels, _trace(curves)))


def _chains(strands: Strands, ends: Ends, partner: Partners) -> tuple[Curve, ...]:
    """Follow partners from strand to strand; loose strands without any are dropped."""
    count = len(strands)
    linked = np.flatnonzero(partner >= 0)
    links = coo_matrix((np.ones(len(linked)), (linked // 2, partner[linked] // 2)), (count, count))
    chains, chain = connected_components(links, directed=False)
    alone = (partner.reshape(-1, 2) < 0).all(1)
    points = np.split(np.arange(len(strands.points)), np.cumsum(np.bincount(strands.strand))[:-1])
    curves = []
    for number in range(chains):
        members = np.flatnonzero(chain == number)
        if not (strands.loose & alone)[members].all():
            curves.append(_followed(strands, ends, partner, members, points))
    return tuple(sorted(curves, key=lambda curve: -len(curve.points)))


def _followed(
    strands: Strands,
    ends: Ends,
    partner: Partners,
    members: Int[np.ndarray, " members"],
    points: list[np.ndarray],
) -> Curve:
    """Lay strands and bridges behind one another, from a free end if there is one."""
    both = np.stack([2 * members, 2 * members + 1], 1).ravel()
    free = both[partner[both] < 0]
    closed = len(free) == 0
    end = int(both[0] if closed else free[0])
    rows, radii, seen = [], [], []
    for _ in members:
        forward = points[end // 2] if end % 2 == 0 else points[end // 2][::-1]
        rows.append(strands.points[forward])
        radii.append(strands.radius[forward])
        seen.append(np.ones(len(forward), bool))
        end ^= 1  # the strand's other end
        if partner[end] < 0:
            break
        across = bridge(ends, end, int(partner[end]))
        rows.append(across)
        radii.append(np.linspace(ends.width[end], ends.width[partner[end]], len(across)) / 2)
        seen.append(np.zeros(len(across), bool))
        end = int(partner[end])
    return Curve(np.concatenate(rows), np.concatenate(radii), np.concatenate(seen), closed)


def bridge(ends: Ends, first: int, second: int) -> Float[np.ndarray, "points 2"]:
    """Return the points, about a pixel apart, of a cubic that leaves one end and enters another."""
    start, stop = ends.place[first], ends.place[second]
    gap = float(np.linalg.norm(stop - start))
    t = np.linspace(0, 1, max(int(np.ceil(gap)), 2) + 1)[1:-1, None]
    out, back = gap * ends.heading[first], gap * ends.heading[second]
    ahead = (1 + 2 * t) * (1 - t) ** 2 * start + t * (1 - t) ** 2 * out
    return ahead + t**2 * (3 - 2 * t) * stop + t**2 * (1 - t) * back


def _trace(curves: tuple[Curve, ...]) -> Trace:
    if not curves:
        return Trace(np.zeros((0, 2)), np.zeros(0), np.zeros(0, np.int64), np.zeros(0, np.int64))
    seen = np.concatenate([curve.seen for curve in curves])
    begins = ~seen & np.append(True, seen[:-1])
    return Trace(
        points=np.concatenate([curve.points for curve in curves]),
        radius=np.concatenate([curve.radius for curve in curves]),
        curve=np.repeat(np.arange(len(curves)), [len(curve.points) for curve in curves]),
        bridge=np.where(seen, -1, np.cumsum(begins) - 1),
    )
