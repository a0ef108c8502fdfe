"""Lines by their pens: the engine against all ways, and pictures that say who goes where."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.strands import pen_lines
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.ink_runs import find_runs
from mam.vision.curves.strands.pen_lines import find_pen_lines
from mam.vision.curves.strands.pens import find_pens
from mam.vision.curves.strands.strand_drawing import sketch

RED, BLUE, BLACK = (220, 20, 20), (20, 40, 220), (0, 0, 0)
COLS = np.arange(10, 290)


def rows_of(crossing: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two lines that meet, are one for 60 px, and part again."""
    apart = np.maximum(0, np.abs(COLS - 150) - 30) // 2
    sign = np.where(crossing & (COLS > 150), -1, 1)
    return 60 - sign * apart, 60 + sign * apart


def drawn(rows: np.ndarray) -> np.ndarray:
    mask = np.zeros((140, 300), bool)
    for step in (-1, 0, 1):
        mask[rows + step, COLS] = True
    return mask


def printed(crossing: bool, *inks: tuple[int, int, int], beside: int = 1) -> np.ndarray:
    """The chart in colours, some pixels beside the place where its lines are drawn."""
    image = np.full((140, 300, 3), 255, np.uint8)
    for rows, ink in zip(rows_of(crossing), inks, strict=True):
        image[np.roll(drawn(rows), beside, 0)] = ink
    return image


@pytest.mark.parametrize("crossing", [False, True])
def test_colours_say_whether_lines_cross_where_they_are_one(crossing: bool) -> None:
    masks = [drawn(rows) for rows in rows_of(crossing)]
    [found] = CurveGrouper.load("curves").predict(
        [masks[0] | masks[1]], [printed(crossing, RED, BLUE)]
    )
    assert len(found) == 2 and found.proof == "exact"
    for mask in masks:
        own = found.labels[mask & ~(masks[0] & masks[1])]
        assert np.bincount(own).max() > 0.97 * len(own)


def test_a_hidden_line_goes_on() -> None:
    """The upper pen hides the lower one where both are one line: both have all of it."""
    masks = [drawn(rows) for rows in rows_of(True)]
    strands = sketch(masks[0] | masks[1]).strands
    lines = find_pen_lines(masks[0] | masks[1], strands, printed(True, RED, BLUE))
    assert lines is not None and len(lines) == 2
    assert (lines.length > 280).all()


@pytest.mark.parametrize("inks", [(BLACK, BLACK), (RED, RED)])
def test_lines_of_one_pen_are_left_to_their_shape(inks: tuple) -> None:
    masks = [drawn(rows) for rows in rows_of(False)]
    strands, image = sketch(masks[0] | masks[1]).strands, printed(False, *inks)
    assert len(find_pens(strands, image)) == 1
    assert find_pen_lines(masks[0] | masks[1], strands, image) is None


def test_ink_without_a_pen_of_its_own_is_not_explained() -> None:
    """A third line has the pen of the first: no line would take its ink."""
    masks = [*(drawn(rows) for rows in rows_of(True)), drawn(np.full(len(COLS), 125))]
    ink, image = np.any(masks, 0), printed(True, RED, BLUE)
    image[np.roll(masks[2], 1, 0)] = RED
    assert find_pen_lines(ink, sketch(ink).strands, image) is None


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_runs_are_the_best_of_all_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = find_runs(rng.random((5, 6)) < 0.6)
    score = rng.normal(0, 8, (2, len(runs)))
    start, stop = runs.col.min(), runs.col.max()
    options = [[-1, *np.flatnonzero(runs.col == col).tolist()] for col in range(start, stop + 1)]

    def worth(own: np.ndarray, way: tuple[int, ...]) -> float:
        there = [run >= 0 for run in way]
        if sum(now and not was for was, now in itertools.pairwise([False, *there])) > 1:
            return -np.inf  # a line begins once
        total = sum(own[run] for run in way if run >= 0)
        for one, other in itertools.pairwise(way):
            if (one < 0) != (other < 0):
                total -= pen_lines._BEGIN
            elif one >= 0:
                touch = runs.top[one] <= runs.bottom[other] + 1
                touch &= runs.bottom[one] >= runs.top[other] - 1
                total -= 0.0 if touch else pen_lines._JUMP
        return total

    found = pen_lines._chosen(runs, score)
    for own, way in zip(score, found.tolist(), strict=True):
        best = max(worth(own, other) for other in itertools.product(*options))
        assert worth(own, tuple(way)) == pytest.approx(best, abs=1e-3)
