r"""Which lanes may be one line: those that a pinch joins, and what speaks for each pair.

A lane that ends at a pinch goes on in one that begins there. With the lines fitted to both ends,
which miss the other end by :math:`m_1, m_2` with standard errors :math:`\sigma_1, \sigma_2` and
turn by :math:`\alpha` with standard error :math:`\sigma_\alpha`, the log odds of a pair are
:math:`\theta \cdot \phi` with

.. math::
    \phi = \left( \log\Bigl(1 + \frac{\alpha^2}{\alpha_0^2}\Bigr), \;
    \log\Bigl(1 + \frac{\alpha^2}{\sigma_\alpha^2}\Bigr), \;
    \log\Bigl(1 + \frac{m_1^2}{\sigma_1^2} + \frac{m_2^2}{\sigma_2^2}\Bigr), \; \dots \right):

a line that goes straight on through a crossing, one with a single corner inside of it, one with
two, and whether it changes sides with others, which is the less likely the wider and the longer
the ink is there.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from mam.vision.curves.angles import cross, turn_between
from mam.vision.curves.strands.lane_fits import LaneFits
from mam.vision.curves.strands.lanes import Lanes

LANE_TERMS = (
    "turn",
    "turn, errors",  # against its standard error
    "miss",
    "corner",  # by how much the fitted lines fail to meet inside the pinch
    "no corner",  # whether they do
    "swap",  # whether others must be crossed
    "swap long",
    "swap wide",
    "ranks",  # how many others
    "length",
    "short",  # of the straight stretches
    "swap turn",
    "course",  # the better one of straight on and with one corner
    "chord",  # turns at both ends to the straight line between them
)
_LEVEL = 0.25  # radians: alpha_0
_CHORD, _NO_CHORD = 0.3, 2.0  # radians; and px: shorter chords have no direction
_ROUNDED = 0.5  # px that the place of an end is off
_CURVED = 0.03  # radians: a line is not known better than this
_ONE_CORNER = 1.5  # what a corner counts on the scale of misses
_SCALE = 3.0  # px of a length
_MOST = 8  # pinches on the way from lane to lane
_NEAR = 6  # columns whose mean height tells the order of lanes
_STEEP = 0.2  # a line that advances less by a px is across


class LanePairs(NamedTuple):
    """Lanes that may be one line, and the pinches between them."""

    left: Int[np.ndarray, " pairs"]
    right: Int[np.ndarray, " pairs"]
    route: list[tuple[int, ...]]
    rank: Int[np.ndarray, "pairs 2"]  # of both among the lanes that the other might be, from 0
    ranks: Int[np.ndarray, "pairs 2"]  # how many these are


def find_lane_pairs(lanes: Lanes) -> LanePairs:
    """List the pairs of lanes that pinches join, by ways from left to right."""
    begin: dict[int, list[int]] = {}
    pinches: dict[int, list[int]] = {}
    for number, (lane, (left, _)) in enumerate(zip(lanes.each, lanes.node.tolist(), strict=True)):
        (pinches if lane.lines > 1 else begin).setdefault(left, []).append(number)
    found = []
    for number, lane in enumerate(lanes.each):
        at = int(lanes.node[number, 1])
        if lane.lines > 1 or at < 0:
            continue
        for node, route in _ways(lanes, pinches, at).items():
            found += [(number, other, route) for other in begin.get(node, ()) if node >= 0]
    left, right = (np.array([pair[k] for pair in found], np.int64) for k in (0, 1))
    route = [pair[2] for pair in found]
    return LanePairs(left, right, route, *_ranks(lanes, left, right))


def _ways(lanes: Lanes, pinches: dict[int, list[int]], start: int) -> dict[int, tuple[int, ...]]:
    """The nodes that pinches lead to from a first one, each with those on the way."""
    found: dict[int, tuple[int, ...]] = {}
    ahead: list[tuple[int, tuple[int, ...]]] = [(start, ())]
    while ahead:
        node, route = ahead.pop()
        if node in found or len(route) > _MOST:
            continue
        found[node] = route
        for pinch in pinches.get(node, ()):
            ahead.append((int(lanes.node[pinch, 1]), (*route, pinch)))
    del found[start]
    return found


def _ranks(
    lanes: Lanes, left: Int[np.ndarray, " pairs"], right: Int[np.ndarray, " pairs"]
) -> tuple[Int[np.ndarray, "pairs 2"], Int[np.ndarray, "pairs 2"]]:
    """The place of both lanes of a pair among those that the other has pairs with."""
    height = np.array([_heights(lane.top + lane.bottom) for lane in lanes.each]).reshape(-1, 2) / 2
    rank, ranks = np.zeros((len(left), 2), np.int64), np.zeros((len(left), 2), np.int64)
    for column, (own, other, side) in enumerate(((left, right, 1), (right, left, 0))):
        for one in np.unique(other):
            mine = np.flatnonzero(other == one)
            order = np.argsort(height[own[mine], side], kind="stable")
            rank[mine[order], column] = np.arange(len(mine))
            ranks[mine, column] = len(mine)
    return rank, ranks


def _heights(twice: Float[np.ndarray, " cols"]) -> list[float]:
    return [float(twice[:_NEAR].mean()), float(twice[-_NEAR:].mean())]


def lane_terms(lanes: Lanes, fits: LaneFits, pairs: LanePairs) -> Float[np.ndarray, "pairs terms"]:
    """Return what each pair's log odds are made of, in the order of ``LANE_TERMS``."""
    left, right = pairs.left, pairs.right
    heading, way = -fits.inward[left, 1], fits.inward[right, 0]
    turn = turn_between(heading, way)
    error = np.stack([fits.error[left, 1], fits.error[right, 0]], 1)
    place = np.stack([fits.place[left, 1], fits.place[right, 0]], 1)
    centre = np.stack([fits.centre[left, 1], fits.centre[right, 0]], 1)
    along = np.stack([heading, way], 1)
    offset = place[:, ::-1] - centre  # from the middle of each stretch to the other end
    miss = np.abs(cross(offset, along))
    sigma = np.hypot(_ROUNDED, error * np.abs((offset * along).sum(2)))
    straight = ((miss / sigma) ** 2).sum(1)
    apart = _apart(place, centre, along)
    meet = apart[:, 0] * apart[:, 1] <= 0
    corner = np.where(meet, 0.0, (np.abs(apart) / sigma[:, ::-1]).min(1) ** 2)
    ranks = _crossed(pairs)
    swap = (ranks > 0).astype(float)
    length = np.array([1 + sum(len(lanes.each[k].col) for k in way_) for way_ in pairs.route])
    spare = np.array([_least_spare(lanes, way_) for way_ in pairs.route])
    heavy = np.log1p((turn / _LEVEL) ** 2)
    long = np.log1p(length / _SCALE)
    shortest = np.minimum(fits.reach[left, 1], fits.reach[right, 0])
    columns = [
        heavy,
        np.log1p((turn / (np.hypot(error[:, 0], error[:, 1]) + _CURVED)) ** 2),
        np.log1p(straight),
        np.log1p(corner),
        ~meet,
        swap,
        swap * long,
        swap * np.log1p(spare),
        ranks,
        long,
        1 / shortest,
        swap * heavy,
        np.minimum(np.log1p(straight), np.log1p(corner) + _ONE_CORNER),
        _chord(place, heading, way),
    ]
    return np.stack([np.asarray(column, float) for column in columns], 1)


def _crossed(pairs: LanePairs) -> Float[np.ndarray, " pairs"]:
    """How many others a line must cross: its ranks, from above or from below."""
    above, below = (np.diff(rank, axis=1)[:, 0] for rank in (pairs.rank, pairs.ranks - pairs.rank))
    return np.minimum(np.abs(above), np.abs(below)).astype(float)


def _least_spare(lanes: Lanes, route: tuple[int, ...]) -> float:
    least = min(float(lanes.widths.spare[lanes.each[pinch].run].min()) for pinch in route)
    return max(least, 0.0)


def _apart(
    place: Float[np.ndarray, "pairs 2 2"],
    centre: Float[np.ndarray, "pairs 2 2"],
    along: Float[np.ndarray, "pairs 2 2"],
) -> Float[np.ndarray, "pairs 2"]:
    """By how much the second line is off the first at both ends, across their mean direction."""
    way = along.sum(1)
    way = way / np.maximum(np.linalg.norm(way, axis=1), 1e-6)[:, None]
    across = np.stack([-way[:, 1], way[:, 0]], 1)
    advance = (along * way[:, None]).sum(2)
    advance = np.where(np.abs(advance) > _STEEP, advance, np.copysign(_STEEP, advance))
    off = []
    for end in (0, 1):
        step = ((place[:, None, end] - centre) * way[:, None]).sum(2) / advance
        there = centre + along * step[..., None] - place[:, None, end]
        height = (there * across[:, None]).sum(2)
        off.append(height[:, 1] - height[:, 0])
    return np.stack(off, 1)


def _chord(
    place: Float[np.ndarray, "pairs 2 2"],
    heading: Float[np.ndarray, "pairs 2"],
    way: Float[np.ndarray, "pairs 2"],
) -> Float[np.ndarray, " pairs"]:
    chord = place[:, 1] - place[:, 0]
    turns = np.stack([turn_between(heading, chord), turn_between(chord, way)], 1)
    heavy = np.log1p((turns / _CHORD) ** 2).sum(1)
    return np.where(np.linalg.norm(chord, axis=1) < _NO_CHORD, 0.0, heavy)
