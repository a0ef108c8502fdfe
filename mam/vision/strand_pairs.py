r"""Which end of a strand continues in which: geometry of pairs of ends, and one answer for all.

Two ends :math:`p, q` with headings :math:`u, v` that leave their strands are joined by the chord
:math:`c = q - p`. Let :math:`\alpha` be the turn from :math:`u` to :math:`c` and :math:`\beta` that
from :math:`c` to :math:`-v`. On a circle :math:`\alpha = \beta`, and with curvature :math:`\kappa`
the whole turn is :math:`\alpha + \beta = \kappa |c|`. The log odds of a continuation are

.. math::
    h - \frac{|c|}{\lambda w'} - \frac{o}{\mu w}
    - \frac{(\alpha - \beta)^2}{2 \sigma_a^2} - \frac{(\alpha + \beta - \kappa |c|)^2}{2 \sigma_t^2}
    - \frac{\log^2(w_p / w_q)}{2 (\sigma_w^2 + (0.5 / w)^2)}

where :math:`o` is the length of the chord outside the mask, :math:`w` the mean width and
:math:`w'` the greater of :math:`w` and the mask's thickness on the way. An end has one partner or
none; none costs the termination penalty. The best answer for all ends is a matching.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree

from mam.vision.strands import Ends
from mam.vision.width import Relief

Partners = Int[np.ndarray, " ends"]  # the end in which each end continues, -1 for none
Decide = Callable[[Ends, Relief], Partners]

_ON_THE_WAY = np.linspace(0, 1, 9)[1:-1, None]  # where a chord is compared with the mask
_TOUCHING = 1.5  # px: the direction of a shorter chord is noise
_SHARPEST = 1.3  # radians: no continuation turns more at either end
_FULL_TURN = 1.0  # radians: extrapolated curvature is trusted up to this turn
_COARSE = 0.5  # px: widths are known to half a pixel at either end
_NEVER = -1e6


@dataclass(frozen=True)
class Rates:
    """How much each kind of mismatch counts; tuned on generated curves."""

    head_start: float = 3.2
    gap: float = 2.7  # widths for one unit of score
    outside: float = 2.2  # widths for one unit
    asymmetry: float = 0.55  # radians
    turn: float = 0.65  # radians
    width: float = 0.15  # of the logarithm
    termination: float = 1.6  # paper, "MAM for pathfinder"
    reach: float = 5.0  # widths that a continuation may bridge,
    reach_least: float = 10.0  # px, and this on top


RATES = Rates()


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of ends near each other, and how the way between them looks."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    gap: Float[np.ndarray, " pairs"]  # px, length of the chord
    outside: Float[np.ndarray, " pairs"]  # px of it outside the mask
    width: Float[np.ndarray, " pairs"]  # px, mean of both ends
    thickness: Float[np.ndarray, " pairs"]  # px, greatest on the way, or the width
    entry: Float[np.ndarray, " pairs"]  # radians, turn from the first end to the chord
    exit: Float[np.ndarray, " pairs"]  # radians, turn from the chord into the second end
    expected: Float[np.ndarray, " pairs"]  # radians, whole turn that the curvatures foretell
    ratio: Float[np.ndarray, " pairs"]  # log of first width / second width


def find_pairs(ends: Ends, relief: Relief, rates: Rates = RATES) -> Pairs:
    """List the pairs of ends that might continue each other."""
    farthest = rates.reach * ends.width.max(initial=0.0) + rates.reach_least
    near = np.asarray(KDTree(ends.place).query_pairs(farthest, output_type="ndarray"))
    first, second = near.reshape(-1, 2).T.astype(np.int64)
    chord = ends.place[second] - ends.place[first]
    gap = np.linalg.norm(chord, axis=1)
    on_the_way = relief.radius_at(ends.place[first][:, None] + _ON_THE_WAY * chord[:, None])
    width = (ends.width[first] + ends.width[second]) / 2
    heading, arriving = ends.heading[first], -ends.heading[second]
    touching = gap < _TOUCHING
    half = _turn(heading, arriving) / 2
    bend = (ends.curvature[first] - ends.curvature[second]) / 2
    pairs = Pairs(
        first=first,
        second=second,
        gap=gap,
        outside=(on_the_way == 0).mean(1) * gap,
        width=width,
        thickness=np.maximum(width, 2 * on_the_way.max(1, initial=0.0)),
        entry=np.where(touching, half, _turn(heading, chord)),
        exit=np.where(touching, half, _turn(chord, arriving)),
        expected=np.clip(bend * gap, -_FULL_TURN, _FULL_TURN),
        ratio=np.log(ends.width[first] / ends.width[second]),
    )
    turns = np.maximum(np.abs(pairs.entry), np.abs(pairs.exit))
    fit = (turns < _SHARPEST) & (gap <= rates.reach * pairs.thickness + rates.reach_least)
    return Pairs(**{name: values[fit] for name, values in vars(pairs).items()})


def _turn(
    one: Float[np.ndarray, "pairs 2"], other: Float[np.ndarray, "pairs 2"]
) -> Float[np.ndarray, " pairs"]:
    """The angle from one direction to another, in -pi..pi."""
    cross = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return np.arctan2(cross, (one * other).sum(1))


def log_odds(pairs: Pairs, rates: Rates = RATES) -> Float[np.ndarray, " pairs"]:
    """Score every pair by the formula above."""
    asymmetry = (pairs.entry - pairs.exit) / rates.asymmetry
    turn = (pairs.entry + pairs.exit - pairs.expected) / rates.turn
    lengths = pairs.gap / (rates.gap * pairs.thickness) + pairs.outside / (
        rates.outside * pairs.width
    )
    spread = rates.width**2 + (_COARSE / pairs.width) ** 2
    squares = asymmetry**2 + turn**2 + pairs.ratio**2 / spread
    return rates.head_start - lengths - squares / 2


def match_ends(
    pairs: Pairs, scores: Float[np.ndarray, " pairs"], penalty: Float[np.ndarray, " ends"]
) -> Partners:
    """Give each end one partner or none, so that scores less penalties are greatest.

    Solves the assignment of ends to ends, which is the matching unless odd rings of ends tie; of a
    ring the best pairs are kept, one after another.
    """
    count = len(penalty)
    worth = np.full((count, count), _NEVER)
    worth[np.arange(count), np.arange(count)] = -2 * penalty
    worth[pairs.first, pairs.second] = worth[pairs.second, pairs.first] = scores
    one, other = linear_sum_assignment(worth, maximize=True)
    wanted = (one != other) & (worth[one, other] > _NEVER)
    one, other = one[wanted], other[wanted]
    partner = np.full(count, -1)
    for k in np.argsort(-worth[one, other], kind="stable"):
        if partner[one[k]] < 0 and partner[other[k]] < 0:
            partner[one[k]], partner[other[k]] = other[k], one[k]
    return partner


def continue_smoothly(ends: Ends, relief: Relief) -> Partners:
    """Decide by smooth continuation; loose strands may stay alone for free.

    >>> from mam.vision.strands import find_ends, find_strands
    >>> from mam.vision.width import relief
    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> found = relief(mask)
    >>> partner = continue_smoothly(find_ends(find_strands(found)), found)
    >>> int((partner >= 0).sum())
    4
    """
    if len(ends) == 0:
        return np.zeros(0, np.int64)
    pairs = find_pairs(ends, relief)
    penalty = np.where(ends.loose, 0.0, RATES.termination)
    return match_ends(pairs, log_odds(pairs), penalty)
