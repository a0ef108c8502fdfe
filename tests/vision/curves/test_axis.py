"""The axis of a picture, by its definition and on plain lines."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.curves.strands import axis
from mam.vision.curves.strands.axis import Axis, find_axis, turns_back
from mam.vision.curves.strands.strand_drawing import sketch
from mam.vision.curves.strands.strands import Strands
from tests.vision.curves.strand_graphs import strands_of


def walks(seed: int, drift: float = 0.0) -> Strands:
    """Random walks, some of a single point, that drift along columns."""
    rng = np.random.default_rng(seed)
    courses = [
        np.cumsum(rng.normal([0.0, drift], 1, (int(rng.integers(1, 40)), 2)), axis=0)
        for _ in range(int(rng.integers(1, 6)))
    ]
    width = rng.uniform(1, 6, len(courses))
    return strands_of(courses, np.full((len(courses), 2), -1), width)


def steadiness(strands: Strands) -> np.ndarray:
    net, all_ = np.zeros(2), np.zeros(2)
    for k in range(len(strands)):
        # Steps are counted over all points, so that a strand may start between two of them.
        mine = [i for i in range(0, len(strands.strand), axis._STEP) if strands.strand[i] == k]
        steps = np.diff(strands.points[mine], axis=0)
        net += np.abs(steps.sum(0))
        all_ += np.abs(steps).sum(0)
    return net / np.maximum(all_, 1e-9)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.5, 1.0, 3.0]))
def test_the_axis_is_the_steadiest(seed: int, drift: float) -> None:
    strands = walks(seed, drift)
    found, steady = find_axis(strands), steadiness(strands)
    low, high = axis._STEADY
    assert steady[found.number] == pytest.approx(steady.max())
    wanted = np.clip((steady.max() - low) / (high - low), 0, 1)
    assert found.sure == pytest.approx(wanted, abs=1e-6)


@given(st.integers(0, 10_000), st.sampled_from([0, 1]), st.floats(0, 1))
def test_strands_that_lie_above_each_other_turn_back(seed: int, number: int, sure: float) -> None:
    strands = walks(seed)
    first, second = np.triu_indices(len(strands))
    found = turns_back(Axis(number, sure), strands, first, second)
    for one, other, value in zip(first, second, found, strict=True):
        spans = [strands.points[strands.strand == k, number] for k in (one, other)]
        both = min(span.max() for span in spans) - max(span.min() for span in spans)
        width = strands.width[[one, other]].mean()
        wanted = 0.0 if both <= width else min((both - width) / (2 * width), 1.0)
        assert value == pytest.approx(sure * wanted)


def waves(mask: np.ndarray, rows: tuple[int, ...]) -> np.ndarray:
    for col in range(5, mask.shape[1] - 5):
        for row in rows:
            middle = round(row + 12 * np.sin(col / 20))
            mask[middle - 1 : middle + 2, col] = True
    return mask


def test_lines_of_a_chart_have_an_axis_and_circles_none() -> None:
    chart = waves(np.zeros((120, 300), bool), (30, 60, 90))
    assert find_axis(sketch(chart).strands) == Axis(1, 1.0)
    assert find_axis(sketch(chart.T).strands) == Axis(0, 1.0)
    rows, cols = np.mgrid[:120, :120]
    ring = np.abs(np.hypot(rows - 60, cols - 60) - 40) < 2.5
    assert find_axis(sketch(ring).strands).sure == 0
    assert find_axis(sketch(np.zeros((9, 9), bool)).strands).sure == 0
