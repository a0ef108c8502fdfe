r"""Weighing all explanations of a cABC image: two letters, and the letter of either marker.

With the pixel score :math:`s` of a pair (``letter_pairs``), the share :math:`o` of the smaller
letter that both cover when thickened, the distance :math:`m` from the middle between both to that
of the image, and the distances :math:`d` of a marker from the nearest vertex of its letter and
:math:`d'` from that of the other,

.. math::
    \log P = s / T - a o^2 - \frac{m^2}{2 \sigma^2}
        - \sum_{\text{markers}} \left( b [d - n]_+ + c [f - d']_+ \right) + \text{const}.

Letters share little and stand around the middle: that is known before looking. The answer is the
log odds of all explanations with both markers on one letter against those with one on each.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.special import logsumexp

from mam.vision.parts.training import LETTER_SIDE

_CELL = 4  # px, of the grid on which overlap is measured
# Cells around that of a vertex: a disc of 9 px, which thickens the strokes by about 6 px.
_NEAR = np.argwhere(np.hypot(*np.mgrid[-2:3, -2:3]) < 2.3) - 2


@dataclass(frozen=True)
class MarkerConfig:
    """How markers and pairs count; lengths in px of the reduced image.

    Weights are of log probabilities, those below ``core`` learned on held-out rows, all levels
    together.
    """

    hidden: float = 9.2  # within this the ring hides the letter: the image says nothing
    reach: float = 16.0  # a marker farther than this from every other ON pixel is on no letter
    core: float = 4.0  # within this the letter must be: the marker stands on it
    temperature: float = 67.0  # pixel score that makes a pair e times as likely
    near: float = 2.9  # the marked letter has a vertex within this
    near_cost: float = 0.345  # lost a px beyond that
    far: float = 13.3  # the other letter has none within this
    far_cost: float = 0.39  # lost a px below that
    shared_cost: float = 11.9  # lost by the squared share of the smaller letter in the other
    spread: float = 20.0  # px, sigma of the middle between both letters
    sure: float = 2.0  # an image whose log odds are nearer to 0 gets a second look


MARKERS = MarkerConfig()


class Weighed(NamedTuple):
    """What all pairs together say."""

    log_odds: float  # of "same letter" against "different letters"
    pair: tuple[int, int]  # the best that agrees with the likelier answer
    # Log probability of each candidate as one of the letters, wherever the markers are.
    chances: Float[np.ndarray, " n"]


def weigh_pairs(
    pair: Float[np.ndarray, "n n"],
    place: Int[np.ndarray, "n vertices 2"],
    there: Bool[np.ndarray, "n vertices"],
    markers: Float[np.ndarray, "2 2"],
    config: MarkerConfig = MARKERS,
) -> Weighed:
    """Weigh all explanations; ``chances`` are up to a constant."""
    one, two = np.triu_indices(len(pair), 1)
    longest = int(there.sum(1).max(initial=0))
    place, there = place[:, :longest], there[:, :longest]
    shared = shared_parts(place, there, LETTER_SIDE)[one, two]
    middle = middle_offsets(place, there, LETTER_SIDE)[one, two]
    known = pair[one, two] / config.temperature
    known = known - config.shared_cost * shared**2 - (middle / config.spread) ** 2 / 2
    row, col = ((place[..., None, axis] - markers[:, axis]) ** 2 for axis in (0, 1))
    away = np.sqrt(np.where(there[..., None], row + col, np.inf).min(1))
    near = config.near_cost * np.maximum(away - config.near, 0)
    far = config.far_cost * np.maximum(config.far - away, 0)
    on_one, on_two = near[one] + far[two], near[two] + far[one]  # of each marker
    same = known + np.logaddexp(-on_one.sum(1), -on_two.sum(1))
    apart = known + np.logaddexp(-on_one[:, 0] - on_two[:, 1], -on_two[:, 0] - on_one[:, 1])
    odds = float(np.subtract(logsumexp(same), logsumexp(apart)))
    best = int((same if odds > 0 else apart).argmax())
    either = np.full(pair.shape, -np.inf)
    either[one, two] = either[two, one] = known
    chances = np.logaddexp.reduce(either, 1)
    return Weighed(odds, (int(one[best]), int(two[best])), chances)


def shared_parts(
    place: Int[np.ndarray, "n vertices 2"], there: Bool[np.ndarray, "n vertices"], side: int
) -> Float[np.ndarray, "n n"]:
    """The share of the smaller of two graphs that the other covers too, both thickened.

    >>> line = np.stack([np.arange(0, 80, 4), np.full(20, 40)], 1)
    >>> shares = shared_parts(np.stack([line, line, line + 40]), np.ones((3, 20), bool), 128)
    >>> shares.round(2).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    cells = -(-side // _CELL)
    wide = cells + 4
    flat = np.zeros((len(place), wide * wide), np.float32)
    graph, vertex = np.nonzero(there)
    row, col = np.clip(place[graph, vertex] // _CELL, 0, cells - 1).T + 2
    flat[graph[:, None], (row * wide + col)[:, None] + _NEAR @ [wide, 1]] = 1.0
    size = np.maximum(flat.sum(1), 1.0)
    return (flat @ flat.T / np.minimum(size[:, None], size)).astype(np.float64)


def middle_offsets(
    place: Int[np.ndarray, "n vertices 2"], there: Bool[np.ndarray, "n vertices"], side: int
) -> Float[np.ndarray, "n n"]:
    """How far the middle between the boxes of two graphs is from that of the image, in px.

    >>> boxes = np.array([[[10, 10], [20, 20]], [[80, 80], [90, 90]]])
    >>> middle_offsets(boxes, np.ones((2, 2), bool), 101).tolist()
    [[49.49747468305833, 0.0], [0.0, 49.49747468305833]]
    """
    inside = there[..., None]
    first = np.where(inside, place, np.iinfo(place.dtype).max).min(1)
    last = np.where(inside, place, np.iinfo(place.dtype).min).max(1)
    middle = (first.astype(np.float64) + last) / 2 - (side - 1) / 2
    return np.linalg.norm((middle[:, None] + middle) / 2, axis=-1)
