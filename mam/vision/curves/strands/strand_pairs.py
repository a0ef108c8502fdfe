r"""Pairs of strand ends that may continue each other, and the learned log odds that they do.

Two ends :math:`p, q` with headings :math:`u, v` that leave their strands are joined by the chord
:math:`c = q - p`. Let :math:`\alpha` be the turn from :math:`u` to :math:`c` and :math:`\beta` that
from :math:`c` to :math:`-v`. On a circle :math:`\alpha = \beta`, and with curvature :math:`\kappa`
the whole turn is :math:`\alpha + \beta = \kappa |c|`. The log odds of a continuation are
:math:`\theta \cdot \phi` with learned weights and the terms

.. math::
    \phi = \left(1, \; \frac{|c|}{w'}, \; \frac{o}{w}, \; (\alpha - \beta)^2, \;
    (\alpha + \beta - \kappa |c|)^2, \; \frac{\log^2(w_p / w_q)}{\sigma^2 + (0.5 / w)^2}\right)

where :math:`o` is the length of the chord outside the mask, :math:`w` the mean width and
:math:`w'` the greater of :math:`w` and the mask's thickness on the way.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.strands.strands import Ends
from mam.vision.curves.strands.width import Relief

TERMS = ("constant", "gap", "outside", "asymmetry", "turn", "width")
_ON_THE_WAY = np.linspace(0, 1, 9)[1:-1, None]  # where a chord is compared with the mask
_TOUCHING = 1.5  # px: the direction of a shorter chord is noise
_SHARPEST = 1.3  # radians: no continuation turns more at either end
_FULL_TURN = 1.0  # radians: extrapolated curvature is trusted up to this turn
_SPREAD = 0.15  # of the logarithm of widths along one curve
_COARSE = 0.5  # px: widths are known to half a pixel at either end
_REACH = 5.0  # widths that a continuation may bridge,
_REACH_LEAST = 10.0  # px, and this on top
_NEXT_TO_NOTHING = 1e-9  # stands for no bridging at all


@dataclass(frozen=True, eq=False)
class EndPairs:
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

    def __len__(self) -> int:
        return len(self.first)

    def take(self, which: Bool[np.ndarray, " pairs"]) -> "EndPairs":
        """Return some of the pairs."""
        return EndPairs(**{name: values[which] for name, values in vars(self).items()})


def find_end_pairs(ends: Ends, relief: Relief, bridging: float = 1.0) -> EndPairs:
    """List the pairs of ends that might continue each other, the smaller number first.

    What of a chord lies outside the mask counts ``1 / bridging`` times; at 0 nothing may.
    """
    if not len(ends):
        return EndPairs(*(np.zeros(0, int) for _ in range(2)), *(np.zeros(0) for _ in range(8)))
    farthest = max(bridging, 1.0) * (_REACH * ends.width.max(initial=0.0) + _REACH_LEAST)
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
    outside = (on_the_way == 0).mean(1) * gap
    counted = outside / max(bridging, _NEXT_TO_NOTHING)
    pairs = EndPairs(
        first=first,
        second=second,
        gap=gap if bridging == 1 else gap - outside + counted,
        outside=counted,
        width=width,
        thickness=np.maximum(width, 2 * on_the_way.max(1, initial=0.0)),
        entry=np.where(touching, half, _turn(heading, chord)),
        exit=np.where(touching, half, _turn(chord, arriving)),
        expected=np.clip(bend * gap, -_FULL_TURN, _FULL_TURN),
        ratio=np.log(ends.width[first] / ends.width[second]),
    )
    turns = np.maximum(np.abs(pairs.entry), np.abs(pairs.exit))
    fit = (turns < _SHARPEST) & (pairs.gap <= _REACH * pairs.thickness + _REACH_LEAST)
    return pairs.take(fit)


def _turn(
    one: Float[np.ndarray, "pairs 2"], other: Float[np.ndarray, "pairs 2"]
) -> Float[np.ndarray, " pairs"]:
    """The angle from one direction to another, in -pi..pi."""
    cross = one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0]
    return np.arctan2(cross, (one * other).sum(1))


@dataclass(frozen=True, eq=False)
class StrandContinuation:
    """Learned weights of the terms."""

    weights: Float[np.ndarray, " terms"]

    def log_odds(self, pairs: EndPairs) -> Float[np.ndarray, " pairs"]:
        """Score every pair by the formula above."""
        return terms_of(pairs) @ self.weights


def terms_of(pairs: EndPairs) -> Float[np.ndarray, "pairs terms"]:
    """Return what each pair's log odds are made of, in the order of ``TERMS``."""
    spread = _SPREAD**2 + (_COARSE / pairs.width) ** 2
    columns = [
        np.ones(len(pairs)),
        pairs.gap / pairs.thickness,
        pairs.outside / pairs.width,
        (pairs.entry - pairs.exit) ** 2,
        (pairs.entry + pairs.exit - pairs.expected) ** 2,
        pairs.ratio**2 / spread,
    ]
    return np.stack(columns, 1)
