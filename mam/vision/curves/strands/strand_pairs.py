r"""Pairs of strand ends that may continue each other, and the learned log odds that they do.

Two ends :math:`p, q` with headings :math:`u, v` that leave their strands are joined by the chord
:math:`c = q - p`. Let :math:`\alpha` be the turn from :math:`u` to :math:`c` and :math:`\beta` that
from :math:`c` to :math:`-v`. On a circle :math:`\alpha = \beta`, and with curvature :math:`\kappa`
the whole turn is :math:`\alpha + \beta = \kappa |c|`; what is not foretold of it is
:math:`\psi = \alpha + \beta - \kappa |c|`. The log odds of a continuation are
:math:`\theta \cdot \phi` with learned weights and, of a pair that is not alone at a node, the terms

.. math::
    \phi = \left(1, \; \frac{|c|}{w'}, \; \frac{o}{w}, \; h(\alpha - \beta), \; h(\psi), \;
    \frac{\log^2(w_p / w_q)}{\sigma^2 + (0.5 / w)^2 + v}, \; \psi^2, \; \dots\right),
    \qquad h(x) = \log\left(1 + (x / \lambda)^2\right)

where :math:`o` is the length of the chord outside the mask, :math:`w` the mean width,
:math:`w'` the greater of :math:`w` and the mask's thickness on the way, :math:`v` is 0 but for
a brush whose width varies along the curve, and :math:`\lambda` is how well a direction is known.
The other terms (``TERMS``) say what else is at the node of the two, if they lie at one.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.core.columns import Columns
from mam.vision.curves.angles import turn_between
from mam.vision.curves.chain_grouper import NEXT_TO_NOTHING
from mam.vision.curves.strands.axis import Axis, turns_back
from mam.vision.curves.strands.broken import bridges, dashes_of, gap_scale
from mam.vision.curves.strands.steadiness import brush_variance
from mam.vision.curves.strands.strand_ends import THIN, Ends
from mam.vision.curves.strands.strands import FRAME, Strands, degrees
from mam.vision.curves.strands.swaps import must_cross
from mam.vision.curves.strands.width import Relief

TERMS = (
    "constant",
    "gap",
    "outside",
    "asymmetry",
    "turn",
    "width",
    "bend",  # the square of the turn
    "ink",  # whether both ends lie at one node
    "kink",  # the turn, in ink
    "alone",  # whether no third end is at their node; turns then only count as
    "fold",  # the square of the turn there
    "swap",  # whether the curve must cross others that pass the node
    "back",  # whether the curve would turn back, where no strand of the picture does
)
_ON_THE_WAY = np.linspace(0, 1, 9)[1:-1, None]  # where a chord is compared with the mask
_TOUCHING = 1.5  # px, and the width between tips: the direction of a shorter chord is noise
_SHARPEST = 1.3  # radians: no continuation without ink turns more at either end
_LEVEL = 0.25  # radians: how well a direction is known
_FULL_TURN = 1.0  # radians: extrapolated curvature is trusted up to this turn
_SPREAD = 0.15  # of the logarithm of widths along one curve
_COARSE = 0.5  # px: widths are known to half a pixel at either end
_REACH = 5.0  # widths that a continuation may bridge,
_REACH_LEAST = 10.0  # px, and this on top
_OUTWARD = 0.25  # of a heading, from which on an end at the frame leaves the picture


@dataclass(frozen=True, eq=False)
class EndPairs(Columns):
    """Pairs of ends near each other, and how the way between them looks."""

    first: Int[np.ndarray, " pairs"]
    second: Int[np.ndarray, " pairs"]
    gap: Float[np.ndarray, " pairs"]  # px, length of the chord, as it counts
    outside: Float[np.ndarray, " pairs"]  # px of it outside the mask, as it counts
    width: Float[np.ndarray, " pairs"]  # px, mean of both ends
    thickness: Float[np.ndarray, " pairs"]  # px, greatest on the way, or the width
    entry: Float[np.ndarray, " pairs"]  # radians, turn from the first end to the chord
    exit: Float[np.ndarray, " pairs"]  # radians, turn from the chord into the second end
    expected: Float[np.ndarray, " pairs"]  # radians, whole turn that the curvatures foretell
    ratio: Float[np.ndarray, " pairs"]  # log of first width / second width
    vary: Float[np.ndarray, " pairs"]  # variance of such logs along single strands, beyond usual
    ink: Bool[np.ndarray, " pairs"]  # whether both lie at one node
    alone: Bool[np.ndarray, " pairs"]  # whether they are the only two at their node
    swap: Bool[np.ndarray, " pairs"]  # whether it must cross others
    back: Float[np.ndarray, " pairs"]  # how surely the axis of the picture forbids it, 0 to 1


def find_end_pairs(
    strands: Strands,
    ends: Ends,
    relief: Relief,
    axis: Axis,
    bridging: float = 1.0,
) -> EndPairs:
    """List the pairs of ends that might continue each other, the smaller number first.

    What of a chord lies outside the mask counts ``1 / bridging`` times; at 0 nothing may.
    """
    dashed = gap_scale(ends, dashes_of(strands))
    most = bridging * float(dashed.max(initial=0.0))
    first, second = _candidates(ends, most)
    chord = ends.place[second] - ends.place[first]
    gap = np.linalg.norm(chord, axis=1)
    on_the_way = relief.radius_at(ends.place[first][:, None] + _ON_THE_WAY * chord[:, None])
    width = (ends.width[first] + ends.width[second]) / 2
    entry, exit_, expected = _turns(ends, first, second)
    node = ends.node[first]
    one_node = (node >= 0) & (node == ends.node[second])
    outside = (on_the_way == 0).mean(1) * gap
    scale = bridging * np.maximum(dashed[first], dashed[second])
    counted = outside / np.maximum(scale, NEXT_TO_NOTHING)
    far = gap - outside + counted
    broken = np.maximum(dashed[first], dashed[second]) > 1
    # Where lines are broken, ends of two of them may touch.
    touching = broken & one_node & (degrees(ends.node)[first] == 2)
    pairs = EndPairs(
        first=first,
        second=second,
        gap=far,
        outside=counted,
        width=width,
        thickness=np.maximum(width, 2 * on_the_way.max(1, initial=0.0)),
        entry=entry,
        exit=exit_,
        expected=expected,
        ratio=np.log(ends.width[first] / ends.width[second]),
        vary=np.full(len(first), brush_variance(strands)),
        ink=one_node & ~touching,
        alone=one_node & (degrees(ends.node)[first] == 2) & ~touching,
        swap=must_cross(ends, first, second),
        back=turns_back(axis, strands, first // 2, second // 2),
    )
    turns = np.maximum(np.abs(entry), np.abs(exit_))
    fit = (turns < _SHARPEST) & (far <= _REACH * pairs.thickness + _REACH_LEAST)
    fit = np.where(broken, bridges(ends, first, second, turns, scale * width), fit)
    leaving = _leaving(ends, relief)
    fit &= ~(leaving[first] & leaving[second])
    return pairs.take(fit | pairs.ink)


def _leaving(ends: Ends, relief: Relief) -> Bool[np.ndarray, " ends"]:
    """Whether an end leaves the picture: it is near the frame, and on the way out."""
    last = relief.scale * np.array(relief.radius.shape) - 1
    near = np.concatenate([ends.place, last - ends.place], 1) < ends.width[:, None] + FRAME
    outward = np.concatenate([-ends.heading, ends.heading], 1) > _OUTWARD
    return np.asarray((near & outward).any(1))


def _candidates(
    ends: Ends, bridging: float
) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """Pairs that are near each other, each once."""
    if not len(ends):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    farthest = max(bridging, 1.0) * (_REACH * ends.width.max(initial=0.0) + _REACH_LEAST)
    near = np.asarray(KDTree(ends.place).query_pairs(farthest, output_type="ndarray"))
    near = near.reshape(-1, 2).astype(np.int64)
    return near[:, 0], near[:, 1]


def _turns(
    ends: Ends,
    first: Int[np.ndarray, " pairs"],
    second: Int[np.ndarray, " pairs"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The turns at both ends of the chord, and what turn the curvatures foretell."""
    chord = ends.place[second] - ends.place[first]
    gap = np.linalg.norm(chord, axis=1)
    heading, arriving = ends.heading[first], -ends.heading[second]
    # The direction of a shorter chord is noise; so is one between tips of thin lines, which hook.
    width = np.minimum(ends.width[first], ends.width[second])
    free = (ends.node[first] < 0) & (ends.node[second] < 0) & (width < THIN)
    touching = gap < np.where(free, width + _TOUCHING, _TOUCHING)
    half = turn_between(heading, arriving) / 2
    entry = np.where(touching, half, turn_between(heading, chord))
    exit_ = np.where(touching, half, turn_between(chord, arriving))
    bend = (ends.curvature[first] - ends.curvature[second]) / 2
    expected = np.clip(bend * gap, -_FULL_TURN, _FULL_TURN)
    return entry, exit_, expected


def terms_of(pairs: EndPairs) -> Float[np.ndarray, "pairs terms"]:
    """Return what each pair's log odds are made of, in the order of ``TERMS``."""
    spread = _SPREAD**2 + (_COARSE / pairs.width) ** 2 + pairs.vary
    other = ~pairs.alone
    turn = pairs.entry + pairs.exit - pairs.expected
    heavy = np.log1p((turn / _LEVEL) ** 2)
    columns = [
        np.ones(len(pairs)),
        pairs.gap / pairs.thickness,
        pairs.outside / pairs.width,
        other * np.log1p(((pairs.entry - pairs.exit) / _LEVEL) ** 2),
        other * heavy,
        pairs.ratio**2 / spread,
        other * turn**2,
        pairs.ink,
        other * pairs.ink * heavy,
        pairs.alone,
        pairs.alone * turn**2,
        pairs.swap,
        pairs.back,
    ]
    return np.stack([np.asarray(column, float) for column in columns], 1)
