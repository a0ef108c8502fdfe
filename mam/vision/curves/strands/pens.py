r"""The pens of a chart: colours in which its lines are printed, and where each of them is seen.

Strands with nearly one colour are of one pen; the long ones tell which pens there are. At a place
with neighbours :math:`n` that stand out, of colours :math:`a_n`, a pen of colour :math:`b` is seen
by

.. math::
    \max_n \; (1 - \tfrac{|n|}{7}) \,
    \frac{\exp(-|a_n - b|^2 / 2 \sigma^2)}{\epsilon + \sum_q \exp(-|a_n - b_q|^2 / 2 \sigma^2)}:

lines are printed a pixel or two beside the place where they are drawn. What a strand says for a pen
is the sum over its points of the logarithm of this, against that of the pen that is seen best. Next
to another strand points say less, as the upper one of two lines hides the lower one.

In most charts every line has a pen of its own. Strands that advance side by side tell: where hardly
two of them are clearly of one pen, no two are.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import ndimage

from mam.vision.curves.strands.appearance import (
    STANDS_OUT,
    SeenPicture,
    colours_around,
    hues_of,
)
from mam.vision.curves.strands.strands import Strands

_SIGMA = 30.0  # of 255: how much colours differ along one line
_APART = 55.0  # of 255: strands that differ more are of two pens
_LONG = 0.08  # of the longest strand: shorter ones show mixed colours, and are of known pens
_NEW = 0.1  # of the longest strand: one this long may have a pen of its own
_NEXT = 1.5  # px
_UNLIKELY = 0.05  # epsilon
_FARTHEST = 7.0  # px
_BLURRED = 0.05  # of a sight: a place is not less surely of a pen than this,
_DOUBT = 1.0  # nor does it say more than that against one
_EACH = 0.25  # of what a point says: neighbours say the same
_NEAR, _HIDDEN = 2, 0.3  # px to another strand, and how much points count where it is that near
_CLEAR = 3.0  # by how much a pen fits a strand better than any other does,
_TWICE = 0.15  # and the share of what is side by side that may be of one pen nevertheless


class Beside(NamedTuple):
    """Strands that advance side by side, so that they are of two lines."""

    pair: Int[np.ndarray, "pairs 2"]
    length: Int[np.ndarray, " pairs"]  # px for which they do


class PenFit(NamedTuple):
    """Which pens strands may be of."""

    each: Float[np.ndarray, "strands pens"]  # how well they fit, 0 for the best
    differ: Int[np.ndarray, "pairs 2"]  # strands that are not of one pen


class SeenPens(NamedTuple):
    """Where pens are seen."""

    match: Float[np.ndarray, "pens pixels"]  # 0 to 1
    visible: Bool[np.ndarray, " pixels"]  # whether anything stands out there


def find_pens(strands: Strands, picture: SeenPicture) -> Float[np.ndarray, "pens hues"]:
    """The colours of pens, those of longer strands first."""
    colours, number = _strand_colours(strands, picture)
    length = strands.length[number]
    longest = float(strands.length.max(initial=0.0))
    pens: list[np.ndarray] = []
    weight: list[float] = []
    for strand in np.argsort(-length, kind="stable").tolist():
        own, colour = float(length[strand]), colours[strand]
        if own < _LONG * longest:
            break
        far = [float(np.linalg.norm(colour - pen)) for pen in pens]
        if far and min(far) < _APART:
            nearest = int(np.argmin(far))
            weight[nearest] += own
            pens[nearest] = pens[nearest] + (colour - pens[nearest]) * own / weight[nearest]
        elif own >= _NEW * longest:
            pens.append(colour)
            weight.append(own)
    return np.array(pens).reshape(len(pens), -1)


def _strand_colours(
    strands: Strands, picture: SeenPicture
) -> tuple[Float[np.ndarray, "some hues"], Int[np.ndarray, " some"]]:
    """The usual colour of each strand that is seen, and its number: that of the darkest pixel next
    to each point, since edges of thin lines are smeared.
    """
    ink, out, step = colours_around(np.rint(strands.points).astype(int), picture)
    near = int((step < _NEXT).sum())  # nearest first
    darkest = out[:, :near].argmax(1)
    rows = np.arange(len(out))
    clear = out[rows, darkest] > STANDS_OUT
    hues = hues_of(ink[rows, darkest])[clear]
    of = strands.strand[clear]
    first = np.flatnonzero(np.append(True, np.diff(of) > 0)[: len(of)])
    pieces = np.split(hues, first[1:])
    colours = [np.median(piece, axis=0) for piece in pieces if len(piece)]
    return np.array(colours).reshape(len(colours), hues.shape[1]), of[first]


def see_pens(
    pens: Float[np.ndarray, "pens hues"], places: Int[np.ndarray, "pixels 2"], picture: SeenPicture
) -> SeenPens:
    """Look for pens at places of a picture."""
    ink, out, step = colours_around(places, picture)
    visible = out > STANDS_OUT
    far = ((hues_of(ink)[..., None, :] - pens) ** 2).sum(-1)  # pixels, neighbours, pens
    likely = np.exp(-far / (2 * _SIGMA**2))
    share = likely / (_UNLIKELY + likely.sum(-1, keepdims=True))
    near = (1 - step / _FARTHEST) * visible
    return SeenPens((share * near[..., None]).max(1).T, np.asarray(visible.any(1)))


def pen_fit(strands: Strands, picture: SeenPicture, beside: Beside) -> PenFit | None:
    """Which pens strands may be of; None where no two pens are told apart."""
    pens = find_pens(strands, picture)
    if len(pens) < 2:
        return None
    last = np.array(picture.shape[:2]) - 1
    places = np.clip(np.rint(strands.points), 0, last).astype(np.int64)
    seen = see_pens(pens, places, picture)
    said = np.log(_BLURRED + seen.match.T)
    said = np.maximum(said - said.max(1, keepdims=True), -_DOUBT)
    worth = _EACH * seen.visible * np.where(_near_others(places, strands.strand), _HIDDEN, 1.0)
    columns = [np.bincount(strands.strand, worth * own, len(strands)) for own in said.T]
    each = np.stack(columns, 1)
    return PenFit(each, beside.pair if _one_each(each, beside) else beside.pair[:0])


def _one_each(each: Float[np.ndarray, "strands pens"], beside: Beside) -> bool:
    """Whether strands side by side are hardly ever of one pen, as far as that is clear.

    >>> _one_each(np.array([[0.0, -9.0], [-9.0, 0.0]]), Beside(np.array([[0, 1]]), np.array([7])))
    True
    >>> _one_each(np.array([[0.0, -9.0], [0.0, -9.0]]), Beside(np.array([[0, 1]]), np.array([7])))
    False
    """
    best = np.sort(each, 1)
    clear = best[:, -1] - best[:, -2] > _CLEAR
    length = beside.length * clear[beside.pair].all(1)
    one = np.equal(*each.argmax(1)[beside.pair].T)
    return bool(length[one].sum() <= _TWICE * length.sum())


def _near_others(
    places: Int[np.ndarray, "points 2"], strand: Int[np.ndarray, " points"]
) -> Bool[np.ndarray, " points"]:
    """Which places have one of another strand next to them."""
    high = strand.max(initial=0) + 1
    shape = places.max(0, initial=0) + 1
    least, most = np.full(shape, high), np.full(shape, -1)
    np.minimum.at(least, tuple(places.T), strand)
    np.maximum.at(most, tuple(places.T), strand)
    wide = 2 * _NEAR + 1
    differ = ndimage.minimum_filter(least, wide) != ndimage.maximum_filter(most, wide)
    return differ[tuple(places.T)]
