"""Lanes as strands, and the passage of every pair of lanes through the pinches between them.

In a pinch several lines share the ink. One that comes in as the second of three lies at the second
place there, from the upper border to the lower one, up to where the ink is narrowest; from there on
it lies where it leaves. Where the ink is much wider than the pen, as where a steep line crosses
another, it goes straight from lane to lane.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy import ndimage

from mam.vision.curves.strands.lane_fits import lane_points
from mam.vision.curves.strands.lane_pairs import LanePairs
from mam.vision.curves.strands.lanes import Lane, Lanes
from mam.vision.curves.strands.skeleton_cut import borders, means_of
from mam.vision.curves.strands.strands import Strands

_SMOOTH = 5  # columns among which the narrowest place is looked for
_MIDDLE = 0.01  # px a column: of equally narrow places the one in the middle
_BESIDE, _ACROSS = 1.0, 3.0  # px of spare ink from which on lines go straight, and do so wholly


class LaneStrands(NamedTuple):
    """Lanes as strands, then a strand for the passage of each pair."""

    strands: Strands
    number: Int[np.ndarray, " lanes"]  # of the strand that a lane is, -1 for a pinch
    passage: Int[np.ndarray, " pairs"]  # the strand that is the passage of a pair


def laid_out(lanes: Lanes, pairs: LanePairs) -> LaneStrands:
    """Draw all lanes, and the passages of all pairs."""
    own = np.flatnonzero(~lanes.pinch)
    number = np.full(len(lanes), -1)
    number[own] = np.arange(len(own))
    pen = lanes.widths.pen
    points = [lane_points(lanes.each[k], pen) for k in own.tolist()]
    points += [lane_points(_passage(lanes, pairs, k), pen) for k in range(len(pairs.left))]
    node = np.concatenate([lanes.node[own], np.full((len(pairs.left), 2), -1)])
    return LaneStrands(_strands(points, node, pen), number, len(own) + np.arange(len(pairs.left)))


def _passage(lanes: Lanes, pairs: LanePairs, pair: int) -> Lane:
    """What the line of a pair takes of the pinches on its way."""
    rows = zip(*(lanes.each[k][:4] for k in pairs.route[pair]), strict=True)
    run, col, top, bottom = (np.concatenate(some) for some in rows)
    tall = bottom - top + 1
    pen = np.minimum(lanes.widths.pen, tall)
    taken = np.minimum(np.maximum(lanes.widths.upper[run], lanes.widths.lower[run]), tall)
    free = tall - taken
    middle = np.abs(np.arange(len(col)) - len(col) / 2)
    narrow = ndimage.uniform_filter1d(free, _SMOOTH, mode="nearest") + _MIDDLE * middle
    before = np.arange(len(col)) <= narrow.argmin()
    share = pairs.rank[pair] / np.maximum(pairs.ranks[pair] - 1, 1)
    share = np.where(pairs.ranks[pair] > 1, share, 0.5)
    beside = top + np.where(before, share[0], share[1]) * free + (taken - 1) / 2
    start = lanes.each[pairs.left[pair]].height(1)
    stop = lanes.each[pairs.right[pair]].height(0)
    along = np.linspace(start, stop, len(col) + 2)[1:-1]
    across = np.clip(along, top + (pen - 1) / 2, bottom - (pen - 1) / 2)
    weight = np.clip((free - _BESIDE) / (_ACROSS - _BESIDE), 0.0, 1.0)
    height = weight * across + (1 - weight) * beside
    return Lane(run, col, height - (pen - 1) / 2, height + (pen - 1) / 2, 1)


def _strands(
    points: list[Float[np.ndarray, "_ 2"]], node: Int[np.ndarray, "strands 2"], pen: float
) -> Strands:
    strand = np.repeat(np.arange(len(points)), [len(own) for own in points])
    places = np.concatenate(points) if points else np.zeros((0, 2))
    steps = np.append(0.0, np.linalg.norm(np.diff(places, axis=0), axis=1))[: len(places)]
    along = np.cumsum(steps)
    first, last = borders(strand, len(points))
    radius = np.full(len(places), pen / 2)
    return Strands(
        points=places,
        strand=strand,
        along=along - along[first][strand],
        radius=radius,
        length=along[last] - along[first],
        width=means_of(2 * radius, strand, len(points)),
        node=node.reshape(-1, 2),
    )
