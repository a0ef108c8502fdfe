"""The best answer that says otherwise, against a listing of all answers."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from mam.data import PathfinderRow, make_row, recipe
from mam.tasks.alternative import alternative
from mam.tasks.drawing import Drawing, group_drawing
from mam.vision.curves.chain_model import score_of
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strands.curve_grouper import CurveGrouper


def best_otherwise(drawing: Drawing) -> float:
    """The best score of all answers in which the markers are on one curve, or are not."""
    found, same = drawing.found, drawing.same
    assert found is not None and same is not None
    strokes = [found.stroke_at(marker) for marker in drawing.markers]
    potentials, best = CurveGrouper.load("curves").potentials, -np.inf
    for states in itertools.product([False, True], repeat=len(found.links)):
        on = np.array(states)
        first, second = group_numbers(found.links.stroke, on, len(found.group))[strokes]
        if (first == second) != same.same:
            presence = np.full(len(found.group), potentials.presence)
            best = max(best, score_of(found.links, on, presence, potentials))
    return best


def cross() -> np.ndarray:
    picture = np.full((120, 160), 235, np.uint8)
    picture[57:63, 10:150] = picture[10:110, 77:83] = 40
    return picture


@pytest.mark.parametrize("second", [(60, 140), (20, 80), (100, 80)])
def test_lines_that_cross(second: tuple[int, int]) -> None:
    drawing = group_drawing(cross(), markers=[[60, 20], second])
    other = alternative(drawing)
    assert other is not None and other.proof == "exact"
    assert other.score == pytest.approx(best_otherwise(drawing))
    assert other.score <= drawing.score


def test_a_margin_below_the_real_cost_is_no_cost() -> None:
    row = make_row(recipe("pathfinder", "easy", 4), 0)
    assert isinstance(row, PathfinderRow)
    line = max(group_drawing(row.clean).lines, key=len)
    drawing = group_drawing(row.clean, markers=[line[1].tolist(), line[-2].tolist()])
    other = alternative(drawing)
    assert drawing.same is not None and drawing.same.same and other is not None
    assert drawing.score - other.score >= drawing.same.margin - 1e-4


def test_there_may_be_no_other_answer() -> None:
    drawing = group_drawing(cross(), markers=[[60, 20], [60, 30]])
    assert alternative(drawing) is None
    assert alternative(replace(drawing, found=None)) is None
    assert alternative(group_drawing(cross())) is None


def test_what_was_demanded_stays() -> None:
    west, east = [60, 72], [60, 88]
    drawing = group_drawing(cross(), markers=[[60, 20], [60, 140]], demand=[[west, east]])
    assert drawing.same is not None and drawing.same.same
    assert alternative(drawing) is None
