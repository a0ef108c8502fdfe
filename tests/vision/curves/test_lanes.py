"""Lanes of charts: arcs and counts against listing, ways and pens against the pictures drawn."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.data import CurvesRow
from mam.data.generate.charts import ChartsConfig, make_chart
from mam.tasks.curves import compared, dice
from mam.vision.curves.chain_model import ContourPotentials, Links, score_of
from mam.vision.curves.strands import line_counts, pen_model
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.ink_runs import InkRuns, find_runs
from mam.vision.curves.strands.lane_drawing import _TOGETHER, _side_by_side, describe_lanes
from mam.vision.curves.strands.lane_truth import following_lanes, passing_lines
from mam.vision.curves.strands.lanes import _aligned, find_lanes, without_small_holes
from mam.vision.curves.strands.line_counts import find_line_counts
from mam.vision.curves.strands.pen_model import decide_by_pens
from mam.vision.curves.strands.pens import PenFit
from mam.vision.curves.strands.run_arcs import RunArcs, find_arcs, touching
from mam.vision.curves.strands.run_widths import run_widths
from mam.vision.curves.strands.strand_drawing import sketch


def scattered(seed: int) -> InkRuns:
    rng = np.random.default_rng(seed)
    return find_runs(rng.random((int(rng.integers(1, 9)), int(rng.integers(1, 9)))) < 0.5)


@given(st.integers(0, 10_000))
def test_runs_touch_as_by_listing(seed: int) -> None:
    runs = scattered(seed)
    listed = [
        (i, j)
        for i, j in itertools.product(range(len(runs)), repeat=2)
        if runs.col[j] == runs.col[i] + 1
        and runs.top[j] <= runs.bottom[i] + 1
        and runs.bottom[j] >= runs.top[i] - 1
    ]
    assert list(zip(*(side.tolist() for side in touching(runs)), strict=True)) == listed


@given(st.integers(0, 10_000))
def test_arcs_go_on_where_nothing_else_touches(seed: int) -> None:
    runs = scattered(seed)
    arcs, (first, second) = find_arcs(runs), touching(runs)
    coming, leaving = np.bincount(second, minlength=99), np.bincount(first, minlength=99)
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        assert (arcs.arc[i] == arcs.arc[j]) == (leaving[i] == 1 and coming[j] == 1)
    for number in range(len(arcs)):
        assert (np.diff(runs.col[arcs.runs_of(number)]) == 1).all()
    assert sum(arcs.lengths) == len(runs)
    for before, after in arcs.events:
        ends = {int(arcs.right[arc]) for arc in before} | {int(arcs.left[arc]) for arc in after}
        assert len(ends) == 1
        for own, at in ((before, -1), (after, 0)):
            tops = [int(runs.top[arcs.runs_of(arc)[at]]) for arc in own]
            assert tops == sorted(tops)


def scored(arcs: RunArcs, single: np.ndarray, lines: tuple[int, ...]) -> float:
    """What the counts of a picture score, by the formula of the model."""
    more = np.maximum(single, 0.0)
    total = 0.0
    for count, odds, price in zip(lines, single, more, strict=True):
        total -= (count > 1) * odds + max(count - 2, 0) * (price + line_counts._MORE)
    for before, after in arcs.events:
        unequal = sum(lines[arc] for arc in before) - sum(lines[arc] for arc in after)
        total -= line_counts._ENDING * abs(unequal)
    return total


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_counts_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs = find_runs(rng.random((5, 4)) < 0.6)
    arcs = find_arcs(runs)
    if not 0 < len(arcs) < 7:
        return
    single = rng.normal(0, 3, len(arcs))
    found, proof = find_line_counts(arcs, single)
    assert proof == "exact"
    every = itertools.product(range(1, line_counts.MOST + 1), repeat=len(arcs))
    best = max(scored(arcs, single, lines) for lines in every)
    assert scored(arcs, single, tuple(found.tolist())) == pytest.approx(best, abs=1e-4)


@given(
    st.lists(st.floats(0, 50), min_size=1, max_size=4),
    st.lists(st.floats(0, 50), min_size=4, max_size=6),
)
def test_lanes_are_aligned_as_near_as_can_be(few: list[float], many: list[float]) -> None:
    few, many = sorted(few), sorted(many)
    chosen = _aligned(few, many)
    assert chosen == sorted(set(chosen))

    def cost(which: tuple[int, ...]) -> float:
        return sum(abs(a - many[k]) for a, k in zip(few, which, strict=True))

    best = min(map(cost, itertools.combinations(range(len(many)), len(few))))
    assert cost(tuple(chosen)) == pytest.approx(best)


def pens_scored(links: Links, on: np.ndarray, pens: PenFit, drawn: tuple[int, ...]) -> float:
    ends = np.array(drawn)[links.stroke[on]]
    mistaken = int((ends[:, 0] != ends[:, 1]).sum())
    mistaken += sum(drawn[one] == drawn[other] for one, other in pens.differ.tolist())
    presence = np.full(len(pens.each), 3.2)
    seen = sum(pens.each[k, pen] for k, pen in enumerate(drawn))
    return (
        score_of(links, on, presence, ContourPotentials()) + seen - pen_model._MISTAKEN * mistaken
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_pens_and_links_are_the_best_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stroke = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])[: int(rng.integers(1, 5))]
    links = Links(stroke, np.tile([[1, 0]], (len(stroke), 1)), rng.normal(1, 3, len(stroke)))
    apart = np.array([[0, 1], [2, 3], [0, 3]])[: int(rng.integers(4))]
    pens = PenFit(-rng.exponential(4, (4, 2)).round(2), apart)
    found, known = decide_by_pens(links, links, np.full(4, 3.2), pens, ContourPotentials())
    best = max(
        pens_scored(links, np.array(on, bool), pens, drawn)
        for on in itertools.product([False, True], repeat=len(links))
        for drawn in itertools.product(range(2), repeat=4)
    )
    assert known.score == pytest.approx(best, abs=1e-4) and known.proof == "exact"
    assert len(found.on) == len(links)


def chart(row: int, **settings_: tuple[float, float]) -> tuple[CurvesRow, list[np.ndarray]]:
    config = ChartsConfig(curves=(2, 3), points=(4, 8), noise=(0.001, 0.01), **settings_)  # type: ignore[arg-type]
    return make_chart(config, 5, row)


def test_lines_of_charts_are_found() -> None:
    """Charts whose lines cross at clear angles: nearly all are right, pixel by pixel."""
    rows = [chart(row, apart=(0.3, 0.6))[0] for row in range(12)]
    found = CurveGrouper.load("curves").predict([row.mask for row in rows])
    scores = [dice(*compared(one.labels, row)) for one, row in zip(found, rows, strict=True)]
    assert np.mean([min(one) > 0.95 for one in scores]) >= 0.8
    assert all(one.proof == "exact" for one in found)


def test_a_turned_chart_has_the_turned_answer() -> None:
    grouper, compared_ = CurveGrouper.load("curves"), 0
    for row in range(12):
        mask = np.asarray(chart(row)[0].mask)
        lying = np.ascontiguousarray(mask.T)
        both = sketch(mask).lanes, sketch(lying).lanes
        if both[0] is None or both[1] is None or both[0].turned or not both[1].turned:
            continue
        one, other = grouper.predict([mask, lying])
        assert len(one) == len(other)
        assert (one.labels == other.labels.T).mean() > 0.999
        compared_ += 1
    assert compared_ >= 3


def test_courses_tell_lines_and_lanes() -> None:
    """With the counts that courses tell, the lanes of a line follow each other along the axis."""
    pairs = joined = 0
    for made, courses in map(chart, range(12)):
        drawn = sketch(np.asarray(made.mask)).lanes
        if drawn is None or drawn.turned:
            continue
        lines = passing_lines(drawn, courses)
        assert lines.max() <= len(courses)
        drawing = describe_lanes(drawn, lines)
        following = following_lanes(drawing, drawn, courses)
        strands = drawing.strands
        start = [strands.points[strands.strand == k][0, 1] for k in range(drawing.lanes)]
        for lane, other in enumerate(following.tolist()):
            assert other < 0 or start[lane] <= start[other]
        first, second = drawing.pair.T
        joined += int((following[first] == second).sum())
        pairs += int((following >= 0).sum())
    assert joined >= 0.9 * pairs > 0


def test_crossing_lines_have_a_pinch_and_four_pairs() -> None:
    mask = np.zeros((70, 120), bool)
    for col in range(10, 110):
        for row in (col // 2, 58 - col // 2):
            mask[row : row + 3, col] = True
    runs = find_runs(without_small_holes(mask))
    arcs = find_arcs(runs)
    counts = np.where(arcs.lengths < 20, 2, 1)
    lanes = find_lanes(runs, arcs, run_widths(runs, arcs), counts)
    assert lanes.pinch.sum() == 1 and len(lanes) == 5
    [found] = CurveGrouper.load("curves").predict([mask])
    assert found.links.passage is not None and len(found.links) == 4 and len(found) == 2
    assert (
        found.same((6.0, 10.0), (55.0, 108.0)).same
        and not found.same((6.0, 10.0), (5.0, 108.0)).same
    )
    assert found.explained == 1.0


def test_lanes_are_side_by_side_in_the_columns_that_both_have() -> None:
    several = (
        (courses, sketch(np.asarray(row.mask)).lanes) for row, courses in map(chart, range(9))
    )
    courses, drawn = next((courses, drawn) for courses, drawn in several if drawn is not None)
    lanes = find_lanes(drawn.runs, drawn.arcs, drawn.widths, passing_lines(drawn, courses))
    columns = [set(lane.col.tolist()) for lane in lanes.each if lane.lines == 1]
    both = {
        (i, j): len(columns[i] & columns[j]) - 1
        for i, j in itertools.combinations(range(len(columns)), 2)
        if len(columns[i] & columns[j]) > _TOGETHER
    }
    found = _side_by_side(lanes)
    pairs = map(tuple, found.pair.tolist())
    assert dict(zip(pairs, found.length.tolist(), strict=True)) == both != {}


def test_nothing_is_no_chart() -> None:
    assert sketch(np.zeros((20, 20), bool)).lanes is None
    brush = np.zeros((60, 200), bool)
    for col in range(5, 195):
        brush[30 - col // 12 : 30 + col // 12, col] = True
    assert sketch(brush).lanes is None
