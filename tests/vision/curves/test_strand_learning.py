"""Known continuations of strands, and the weights learned from them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.strands.axis import find_axis
from mam.vision.curves.strands.strand_drawing import describe, sketch
from mam.vision.curves.strands.strand_ends import find_ends
from mam.vision.curves.strands.strand_learning import Choices, Lessons, learn_strands, lessons_of
from mam.vision.curves.strands.strand_pairs import TERMS, find_end_pairs, terms_of
from mam.vision.curves.strands.strand_truth import find_truth
from mam.vision.curves.strands.strands import find_strands
from mam.vision.curves.strands.width import relief
from tests.vision.pictures import drawn_curve


def two_lines(angle: float, width: int) -> tuple[np.ndarray, list[np.ndarray]]:
    lines = [
        100 + np.linspace(-90, 90, 61)[:, None] * [np.sin(turn), np.cos(turn)]
        for turn in (0.1, 0.1 + angle)
    ]
    dense = [np.linspace(line[0], line[-1], 500) for line in lines]
    return np.logical_or(*(drawn_curve((200, 200), line, width) for line in dense)), lines


@settings(max_examples=12)
@given(st.floats(0.6, np.pi - 0.6), st.integers(3, 14))
def test_strands_follow_each_other_through_a_crossing(angle: float, width: int) -> None:
    mask, courses = two_lines(angle, width)
    drawing = describe(sketch(mask))
    truth = find_truth(drawing.strands, drawing.ends, courses)
    inner = np.linalg.norm(drawing.ends.place - 100, axis=1) < 45
    assert len(drawing.strands) == 4 and truth.known[inner].all()
    assert (truth.following >= 0).tolist() == inner.tolist()
    for end in np.flatnonzero(inner):
        assert truth.following[truth.following[end]] == end
        straight = drawing.ends.heading[end] @ drawing.ends.heading[truth.following[end]]
        assert straight < -0.8


def test_a_planted_continuation_is_recovered() -> None:
    """Choices drawn from known weights give these weights back."""
    rng = np.random.default_rng(0)
    planted = np.append([2.0, -0.5, -0.8, -1.5, -1.0, -0.4], np.linspace(-1, 0.5, len(TERMS) - 6))
    ends, options = 4000, 4
    terms = np.abs(rng.normal(size=(ends, options, len(TERMS))))
    terms[..., 0] = 1.0
    utility = np.concatenate([terms @ planted, np.full((ends, 1), -3.2)], 1)
    choice = (utility + rng.gumbel(size=utility.shape)).argmax(1)
    choices = Choices(
        end=np.repeat(np.arange(ends), options),
        terms=terms.reshape(-1, len(TERMS)),
        right=(choice[:, None] == np.arange(options)).ravel(),
        ends=ends,
    )
    learned = learn_strands([Lessons(choices)], [], termination=-1.6)
    np.testing.assert_allclose(learned.weights, planted, atol=0.25)


def test_learning_prefers_straight_and_short() -> None:
    lessons = []
    for angle in (0.7, 1.0, 1.3, 1.6, 1.9):
        mask, courses = two_lines(angle, 7)
        lessons.append(lessons_of(sketch(mask), courses))
    learned = learn_strands(lessons, [], -1.6)
    weights = dict(zip(TERMS, learned.weights.tolist(), strict=True))
    assert weights["asymmetry"] < 0 or weights["turn"] < 0
    mask, courses = two_lines(1.45, 9)
    drawing = describe(sketch(mask))
    truth = find_truth(drawing.strands, drawing.ends, courses)
    pairs, scores = drawing.pairs, learned.log_odds(drawing)
    for end in np.flatnonzero(truth.following >= 0):
        mine = (pairs.first == end) | (pairs.second == end)
        best = np.flatnonzero(mine)[scores[mine].argmax()]
        assert {int(pairs.first[best]), int(pairs.second[best])} == {end, truth.following[end]}


@given(st.integers(0, 1000))
def test_terms_are_finite_and_nothing_is_far(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ground = relief(rng.random((40, 40)) < rng.uniform(0.2, 0.9))
    strands = find_strands(ground)
    pairs = find_end_pairs(strands, find_ends(strands), ground, find_axis(strands))
    terms = terms_of(pairs)
    assert np.isfinite(terms).all() and (terms >= 0).all()
    assert (pairs.first < pairs.second).all()
