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
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.courses import Contour
from mam.vision.curves.strands.appearance import LOOKS, SeenPicture
from mam.vision.curves.strands.counts import MOST
from mam.vision.curves.strands.sharing import SHARING_TERMS, sharing_terms
from mam.vision.curves.strands.strand_continuation import StrandContinuation
from mam.vision.curves.strands.strand_drawing import StrandSketch, describe
from mam.vision.curves.strands.strand_ends import find_ends
from mam.vision.curves.strands.strand_truth import find_truth
from mam.vision.curves.strands.strands import degrees

_PRIOR = 1e-4  # weight of the squares, beside a mean


@dataclass(frozen=True, eq=False)
class Lessons:
    """What known ends may choose from: each pair appears at either of its ends that is known."""

    end: Int[np.ndarray, " options"]
    terms: Float[np.ndarray, "options terms"]
    neighbours: Bool[np.ndarray, " options"]
    ends: int  # all of them, those without options as well
    strands: Float[np.ndarray, "strands features"]  # those of which it is known who has them
    single: Bool[np.ndarray, " strands"]  # whether one curve alone


def lessons_of(
    drawn: StrandSketch, courses: Sequence[Contour], picture: SeenPicture | None = None
) -> Lessons:
    """List the options of every end of which it is known how it continues.

    Strands are drawn as often as courses say. An end that continues in one with which it makes no
    pair teaches nothing.
    """
    passes = find_truth(drawn.strands, find_ends(drawn.strands), courses).passes
    drawing = describe(_whole(drawn), np.clip(passes, 1, MOST), picture=picture)
    truth = find_truth(drawing.strands, drawing.ends, courses)
    pairs, told = drawing.pairs, (passes > 0) & (degrees(drawn.strands.node) > 2).any(1)
    terms, neighbours = drawing.terms(), truth.following[pairs.first] == pairs.second
    offered = truth.following < 0
    offered[pairs.first[neighbours]] = offered[pairs.second[neighbours]] = True
    known = truth.known & offered
    number = np.cumsum(known) - 1
    at = np.concatenate([pairs.first, pairs.second])
    mine = known[at]
    return Lessons(
        end=number[at[mine]],
        terms=np.concatenate([terms, terms])[mine],
        neighbours=np.concatenate([neighbours, neighbours])[mine],
        ends=int(known.sum()),
        strands=sharing_terms(drawn.strands)[told],
        single=passes[told] == 1,
    )


def _whole(drawn: StrandSketch) -> StrandSketch:
    """A sketch whose shared strands are not taken apart.

    The ends of parted strands lie where lines touch, and how they go on there is often told by
    nothing: such lessons would teach that nothing counts.
    """
    nothing = np.zeros_like(drawn.ink.spare)
    return replace(drawn, ink=drawn.ink._replace(spare=nothing))


def joined_lessons(several: Sequence[Lessons]) -> Lessons:
    """Put the lessons of several images behind each other; all know the picture, or none does."""
    first = np.cumsum([0, *(some.ends for some in several)])
    return Lessons(
        end=np.concatenate([some.end + at for some, at in zip(several, first, strict=False)]),
        terms=np.concatenate([some.terms for some in several]),
        neighbours=np.concatenate([some.neighbours for some in several]),
        ends=int(first[-1]),
        strands=np.concatenate([some.strands for some in several]),
        single=np.concatenate([some.single for some in several]),
    )


def learn_strands(
    blind: Sequence[Lessons], seen: Sequence[Lessons], termination: float
) -> StrandContinuation:
    """Fit the weights to the choices; ``seen`` are lessons of which the picture is known as well.

    Without such, the look of strands counts nothing.
    """
    lessons = joined_lessons(blind)
    if not lessons.neighbours.any():
        raise ValueError("no two strands follow each other on a course: there is nothing to learn")
    weights = _choices(lessons, termination)
    appearance = np.zeros(len(LOOKS))
    if any(some.neighbours.any() for some in seen):
        appearance = _choices(joined_lessons(seen), termination, weights)
    return StrandContinuation(weights, _learn_sharing(lessons), appearance)


def _choices(
    lessons: Lessons, termination: float, known: Sequence[float] | np.ndarray = ()
) -> Float[np.ndarray, " rest"]:
    """The most likely weights of the choices of ends, behind the first ones that are known."""
    given = lessons.terms[:, : len(known)] @ np.asarray(known, float)
    terms = lessons.terms[:, len(known) :]

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = given + terms @ weights
        worth = np.exp(np.clip(score, -50.0, 50.0))
        total = np.exp(2 * termination) + np.bincount(lessons.end, worth, lessons.ends)
        wrong = worth / total[lessons.end] - lessons.neighbours
        right = score[lessons.neighbours].sum()
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


def _learn_sharing(lessons: Lessons) -> Float[np.ndarray, " features"]:
    """Logistic regression of whether a strand belongs to one curve alone."""
    count = max(len(lessons.single), 1)

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = lessons.strands @ weights
        value = np.logaddexp(0, np.where(lessons.single, -score, score)).sum() / count
        wrong = 1 / (1 + np.exp(-np.clip(score, -50.0, 50.0))) - lessons.single
        slope = lessons.strands.T @ wrong / count + _PRIOR * weights
        return float(value + _PRIOR * weights @ weights / 2), slope

    return _least(loss, np.zeros(len(SHARING_TERMS)))
