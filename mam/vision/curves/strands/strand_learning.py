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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.strand_pairs import TERMS, EndPairs, StrandContinuation, terms_of
from mam.vision.curves.strands.strand_truth import Truth

_PRIOR = 1e-3  # weight of the squares, beside a mean


@dataclass(frozen=True, eq=False)
class Lessons:
    """What known ends may choose from: each pair appears at either of its ends that is known."""

    end: Int[np.ndarray, " options"]
    terms: Float[np.ndarray, "options terms"]
    neighbours: Bool[np.ndarray, " options"]
    ends: int  # all of them, those without options as well


def lessons_of(pairs: EndPairs, truth: Truth) -> Lessons:
    """List the options of every end of which it is known how it continues.

    An end that continues in one with which it makes no pair teaches nothing.
    """
    terms, neighbours = terms_of(pairs), truth.following[pairs.first] == pairs.second
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
    )


def joined_lessons(several: Sequence[Lessons]) -> Lessons:
    """Put the lessons of several images behind each other."""
    first = np.cumsum([0, *(some.ends for some in several)])
    return Lessons(
        end=np.concatenate([some.end + at for some, at in zip(several, first, strict=False)]),
        terms=np.concatenate([some.terms for some in several]),
        neighbours=np.concatenate([some.neighbours for some in several]),
        ends=int(first[-1]),
    )


def learn_strands(lessons: Lessons, termination: float) -> StrandContinuation:
    """Fit the weights to the choices."""
    if not lessons.neighbours.any():
        raise ValueError("no two strands follow each other on a course: there is nothing to learn")

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        score = lessons.terms @ weights
        worth = np.exp(np.clip(score, -50.0, 50.0))
        total = np.exp(2 * termination) + np.bincount(lessons.end, worth, lessons.ends)
        wrong = worth / total[lessons.end] - lessons.neighbours
        right = score[lessons.neighbours].sum()
        value = (np.log(total).sum() - right) / lessons.ends + _PRIOR * weights @ weights / 2
        return float(value), lessons.terms.T @ wrong / lessons.ends + _PRIOR * weights

    # Grouping loads this file too, and has no need of the quarter of a second that this takes.
    from scipy.optimize import minimize

    found = minimize(loss, np.zeros(len(TERMS)), jac=True, method="BFGS")
    return StrandContinuation(found.x)
