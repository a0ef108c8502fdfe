"""Pixels, parts and attentions in one graph, against enumeration and against the pipeline."""

import numpy as np
import pytest

from bench.joint import JointModel, joint_model
from mam.infer import enumerate_exactly, solve
from mam.vision.curves.chain_model import ContourPotentials, score_of
from mam.vision.curves.strokes.co_occurrences import CoOccurrences, learn_co_occurrences
from mam.vision.curves.strokes.poses import poses_of_parts
from mam.vision.parts.masks import Noise, Parts
from mam.vision.parts.sparsifier import Sparsifier


def bar() -> Parts:
    masks = np.zeros((1, 7, 7), bool)
    masks[0, 3, 1:6] = True
    return Parts(masks, Noise(prior=-15.0))


def seen_at(*offsets: tuple[int, int]) -> CoOccurrences:
    """Bars that follow each other at these offsets."""
    place = np.array([[40 * k + step * down, step * right] for k, (down, right) in
                      enumerate(offsets) for step in (0, 1)])  # fmt: skip
    none = np.zeros(len(place), int)
    pairs = np.arange(len(place)).reshape(-1, 2)
    return learn_co_occurrences(poses_of_parts(none, none, place, bar()), pairs, bar())


def image_of(*strokes: tuple[int, int, int]) -> np.ndarray:
    image = np.zeros((20, 45), bool)
    for row, start, stop in strokes:
        image[row, start:stop] = True
    return image


def columns(model: JointModel, on: np.ndarray) -> list[int]:
    return sorted(model.parts.place[on == 1, 1].tolist())


IMAGE = image_of((9, 4, 9), (9, 13, 19), (9, 22, 27))  # the middle one fits in two places


def test_the_answer_is_the_best_of_all() -> None:
    model = joint_model(IMAGE, bar(), seen_at((0, 9), (0, 10)))
    assert len(model.graph.states) <= 16
    found = solve(model.graph, model.evidence)
    best = enumerate_exactly(model.graph, model.evidence).score
    assert found.score == pytest.approx(best) and found.proof == "exact"


def test_the_score_is_that_of_both_models() -> None:
    model = joint_model(IMAGE, bar(), seen_at((0, 8), (0, 9), (0, 10)))
    found = solve(model.graph, model.evidence)
    grouping = model.grouping(found)
    [cover] = Sparsifier(bar()).transform([IMAGE])
    strokes = np.zeros(len(grouping.strokes))
    chain = score_of(grouping.links, grouping.on, strokes, ContourPotentials(presence=0.0))
    assert len(grouping) == 1 and found.score == pytest.approx(cover.score + chain)
    assert grouping.same((9, 6), (9, 24)).same


@pytest.mark.parametrize("middle", [15, 16])
def test_the_context_decides_between_equal_placements(middle: int) -> None:
    model = joint_model(IMAGE, bar(), seen_at((0, middle - 6), (0, 24 - middle)))
    found = solve(model.graph, model.evidence)
    assert columns(model, found["part"]) == [6, middle, 24]


def test_a_stroke_without_neighbours_is_lost() -> None:
    model = joint_model(image_of((9, 4, 9)), bar(), seen_at((0, 9)))
    found = solve(model.graph, model.evidence)
    assert found.score == 0 and not found["part"].any() and not len(model.grouping(found))
