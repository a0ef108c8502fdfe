r"""Learning which strand ends continue each other: every end of a known curve is one choice.

An end may continue in any of its pairs, with log odds :math:`\theta \cdot \phi`, or in none. None
costs the contour model the termination penalty :math:`t` at both ends, so the choice of end
:math:`e` has the probability

.. math::
    p(e \to f) = \frac{\exp(\theta \cdot \phi_{ef})}
    {\exp(2 t) + \sum_g \exp(\theta \cdot \phi_{eg})}.

The weights maximise the mean log probability of the true choices, less a small multiple of their
squares: logistic regression with as many classes as an end has pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.courses import Contour
from mam.vision.curves.strands.appearance import LOOKS, SeenPicture
from mam.vision.curves.strands.lane_drawing import LANE_LOOKS, LaneSketch, describe_lanes
from mam.vision.curves.strands.lane_pairs import LANE_TERMS
from mam.vision.curves.strands.lane_truth import following_lanes, passing_lines
from mam.vision.curves.strands.line_counts import LINE_TERMS
from mam.vision.curves.strands.strand_continuation import StrandContinuation
from mam.vision.curves.strands.strand_drawing import StrandSketch, describe
from mam.vision.curves.strands.strand_pairs import TERMS
from mam.vision.curves.strands.strand_truth import find_truth

_PRIOR = 1e-4  # weight of the squares, beside a mean
_LINE_PRIOR = 1e-3  # the same for arcs
_GOES_ON = -20.0  # termination of a lane at a pinch: its line goes on there


@dataclass(frozen=True, eq=False)
class Choices:
    """What known ends may choose from: each pair appears at either of its ends that is known."""

    end: Int[np.ndarray, " options"]
    terms: Float[np.ndarray, "options terms"]
    right: Bool[np.ndarray, " options"]
    ends: int  # all of them, those without options as well


@dataclass(frozen=True, eq=False)
class Lessons:
    """What a picture teaches: of ends of strands, and of lanes and arcs if it is a chart."""

    strands: Choices
    lanes: Choices | None = None
    arcs: Float[np.ndarray, "arcs terms"] | None = None
    single: Bool[np.ndarray, " arcs"] | None = None  # whether one line alone runs there


def lessons_of(
    drawn: StrandSketch, courses: Sequence[Contour], picture: SeenPicture | None = None
) -> Lessons:
    """List the options of every end of which it is known how it continues.

    An end that continues in one with which it makes no pair teaches nothing. Charts teach both
    ways to see them: corners are known from them.
    """
    drawing = describe(drawn, picture=picture)
    truth = find_truth(drawing.strands, drawing.ends, courses)
    pairs = drawing.pairs
    right = truth.following[pairs.first] == pairs.second
    offered = truth.following < 0
    offered[pairs.first[right]] = offered[pairs.second[right]] = True
    both = np.stack([pairs.first, pairs.second])
    strands = _choices_of(both, drawing.terms(), right, truth.known & offered)
    if (chart := drawn.chart(picture)) is None:
        return Lessons(strands)
    return Lessons(strands, *_chart_lessons(chart, courses, picture))


def _chart_lessons(
    drawn: LaneSketch, courses: Sequence[Contour], picture: SeenPicture | None
) -> tuple[Choices, Float[np.ndarray, "arcs terms"], Bool[np.ndarray, " arcs"]]:
    """Lanes have as many lines as courses say; each of two ends that are joined has one choice."""
    lines = passing_lines(drawn, courses)
    drawing = describe_lanes(drawn, lines, picture)
    following = following_lanes(drawing, drawn, courses)
    first, second = drawing.pair.T
    right = following[first] == second
    both = np.stack([2 * first + 1, 2 * second])
    known = np.zeros(2 * drawing.lanes, bool)
    known[both[:, right]] = True
    return _choices_of(both, drawing.terms, right, known), drawn.terms, lines == 1


def _choices_of(
    both: Int[np.ndarray, "2 pairs"],
    terms: Float[np.ndarray, "pairs terms"],
    right: Bool[np.ndarray, " pairs"],
    known: Bool[np.ndarray, " ends"],
) -> Choices:
    number, at = np.cumsum(known) - 1, both.ravel()
    mine = known[at]
    options, wanted = np.concatenate([terms, terms])[mine], np.concatenate([right, right])[mine]
    return Choices(number[at[mine]], options, wanted, int(known.sum()))


def joined_choices(several: Sequence[Choices]) -> Choices:
    """Put the choices of several images behind each other; all know the picture, or none does."""
    first = np.cumsum([0, *(some.ends for some in several)])
    return Choices(
        end=np.concatenate([some.end + at for some, at in zip(several, first, strict=False)]),
        terms=np.concatenate([some.terms for some in several]),
        right=np.concatenate([some.right for some in several]),
        ends=int(first[-1]),
    )


def learn_strands(
    blind: Sequence[Lessons], seen: Sequence[Lessons], termination: float
) -> StrandContinuation:
    """Fit the weights to the choices; ``seen`` are lessons of which the picture is known as well.

    Without such, the look of lines counts nothing; without charts lanes count nothing.
    """
    strands = _learned(
        [some.strands for some in blind], [some.strands for some in seen], termination, LOOKS
    )
    lanes = _learned(
        [some.lanes for some in blind], [some.lanes for some in seen], _GOES_ON, LANE_LOOKS
    )
    if strands is None and lanes is None:
        raise ValueError("no two strands follow each other on a course: there is nothing to learn")
    nothing = np.zeros(len(TERMS)), np.zeros(len(LOOKS))
    no_lanes = np.zeros(len(LANE_TERMS)), np.zeros(len(LANE_LOOKS))
    return StrandContinuation(*(strands or nothing), *(lanes or no_lanes), _learn_lines(blind))


def _learned(
    blind: Sequence[Choices | None],
    seen: Sequence[Choices | None],
    termination: float,
    looks: Sequence[str],
) -> tuple[Float[np.ndarray, " terms"], Float[np.ndarray, " looks"]] | None:
    """The weights of terms, and of looks beside them; None where no choice is known."""
    told = [some for some in blind if some is not None and some.right.any()]
    if not told:
        return None
    weights = _choices(joined_choices(told), termination)
    told = [some for some in seen if some is not None and some.right.any()]
    if not told:
        return weights, np.zeros(len(looks))
    return weights, _choices(joined_choices(told), termination, weights)


def _choices(
    lessons: Choices, termination: float, known: Sequence[float] | np.ndarray = ()
) -> Float[np.ndarray, " rest"]:
    """The most likely weights of the choices of ends, behind the first ones that are known."""
    given = lessons.terms[:, : len(known)] @ np.asarray(known, float)
    terms = lessons.terms[:, len(known) :]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = given + terms @ weights
        worth = np.exp(np.clip(score, -50.0, 50.0))
        total = np.exp(2 * termination) + np.bincount(lessons.end, worth, lessons.ends)
        wrong = worth / total[lessons.end] - lessons.right
        right = score[lessons.right].sum()
        value = (np.log(total).sum() - right) / lessons.ends + _PRIOR * weights @ weights / 2
        return float(value), terms.T @ wrong / lessons.ends + _PRIOR * weights

    return _least(loss, np.zeros(terms.shape[1]))


def _least(
    loss: Callable[[np.ndarray], tuple[float, np.ndarray]], start: Float[np.ndarray, " weights"]
) -> Float[np.ndarray, " weights"]:
    """The weights with the least loss, which also tells its slope."""
    # Grouping loads this file too, and has no need of the quarter of a second that this takes.
    from scipy.optimize import minimize

    return minimize(loss, start, jac=True, method="BFGS").x


def _learn_lines(blind: Sequence[Lessons]) -> Float[np.ndarray, " terms"]:
    """Logistic regression of whether one line alone runs through an arc, of what is a chart by its
    mask alone.
    """
    told = [(some.arcs, some.single) for some in blind if some.arcs is not None]
    if not told:
        return np.zeros(len(LINE_TERMS))
    terms, single = (np.concatenate(parts) for parts in zip(*told, strict=True))
    # Pictures with many arcs do not count more than by the root of their number.
    weight = np.concatenate([np.full(len(arcs), len(arcs) ** -0.5) for arcs, _ in told])
    weight /= weight.sum()

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = terms @ weights
        value = weight @ np.logaddexp(0, np.where(single, -score, score))
        wrong = weight * (1 / (1 + np.exp(-np.clip(score, -50.0, 50.0))) - single)
        slope = terms.T @ wrong + 2 * _LINE_PRIOR * weights
        return float(value + _LINE_PRIOR * weights @ weights), slope

    return _least(loss, np.zeros(len(LINE_TERMS)))
