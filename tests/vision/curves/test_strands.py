"""Widths, skeleton paths and strands."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.skeleton_paths import in_order
from mam.vision.curves.strands.strand_ends import find_ends
from mam.vision.curves.strands.strands import find_strands, halved
from mam.vision.curves.strands.width import clean, relief
from tests.vision.pictures import drawn_curve


@pytest.mark.parametrize("width", [1, 2, 3, 7, 12, 24, 48, 90])
def test_the_width_of_a_bar_is_found(width: int) -> None:
    mask = np.zeros((140, 400), bool)
    mask[20 : 20 + width, 10:390] = True
    found = relief(mask)
    middle = 2 * float(np.median(found.radius[found.skeleton]))
    assert abs(middle - width) <= max(1, width / 16)


def test_an_empty_mask_has_no_curves() -> None:
    empty = relief(np.zeros((30, 40), bool))
    assert not empty.skeleton.any() and not empty.radius.any()
    assert len(find_strands(empty)) == len(find_ends(find_strands(empty))) == 0


def test_cleaning_keeps_breaks_and_drops_noise() -> None:
    mask = np.zeros((30, 60), bool)
    mask[10:20, 5:55] = True
    broken = mask.copy()
    broken[:, 30] = False
    noisy = broken.copy()
    noisy[14, 12], noisy[3, 3] = False, True
    np.testing.assert_array_equal(clean(noisy), broken)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**31 - 1))
def test_paths_come_out_in_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    steps = np.stack([rng.integers(-1, 2, 40), np.ones(40, int)], 1)  # a graph over columns
    walk = np.cumsum(steps, 0)
    pixels, path, along = in_order(walk[rng.permutation(40)])
    assert (path == 0).all()
    columns = pixels[:, 1].tolist()
    assert columns in (sorted(columns), sorted(columns, reverse=True))
    np.testing.assert_allclose(np.diff(along), np.linalg.norm(np.diff(pixels, axis=0), axis=1))


def test_a_ring_is_one_strand_opened_at_one_pixel() -> None:
    angle = np.linspace(0, 2 * np.pi, 400)
    ring = 60 + 40 * np.stack([np.sin(angle), np.cos(angle)], 1)
    strands = find_strands(relief(drawn_curve((120, 120), ring, 6)))
    assert len(strands) == 1
    assert np.linalg.norm(strands.points[0] - strands.points[-1]) < 4
    ends = find_ends(strands)
    assert (ends.heading[0] @ ends.heading[1]) < -0.95
    # One way round the circle bends the other way than the other.
    assert (np.abs(ends.curvature) < 1.4 / 40).all()  # stiff: less than the circle's
    assert ends.curvature[0] * ends.curvature[1] < 0


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, np.pi), st.integers(2, 14))
def test_strands_lie_along_their_line(angle: float, width: int) -> None:
    way = np.array([np.sin(angle), np.cos(angle)])
    line = 100 + np.linspace(-80, 80, 400)[:, None] * way
    strands = find_strands(relief(drawn_curve((200, 200), line, width)))
    inner = np.abs((strands.points - 100) @ way) < 70 - width  # the skeleton may bend at tips
    offset = (strands.points - 100) @ np.array([-way[1], way[0]])
    assert len(strands) == 1 and np.abs(offset[inner]).max() < 1.5
    halves = halved(strands, np.array([True]))
    assert len(halves) == 2 and abs(halves.length.sum() + 1.2 - strands.length[0]) < 1.3


def test_lengths_scale_with_the_picture() -> None:
    line = 50 + np.linspace(-40, 40, 400)[:, None] * np.array([0.6, 0.8])
    small = drawn_curve((100, 100), line, 8)
    large = np.kron(small, np.ones((5, 5), bool))
    one, many = (find_strands(relief(mask)) for mask in (small, large))
    assert len(one) == len(many) == 1
    assert abs(many.length[0] / one.length[0] - 5) < 0.4
    assert abs(many.width[0] / one.width[0] - 5) < 0.6


def test_lines_that_meet_in_a_corner_on_the_frame_are_two() -> None:
    rows, cols = np.indices((120, 160))
    away = np.abs(np.abs(rows - 60) - 0.8 * (cols - 2))
    inside = np.pad((away < 3) & (cols < 80), ((0, 0), (30, 0)))
    grouper = CurveGrouper.load("curves")
    on_the_frame, whole = grouper.predict([inside[:, 30:], inside])
    assert len(on_the_frame) == 2 and len(whole) == 1
    for turned in (inside[:, 30:].T, inside[:, 30:][:, ::-1]):
        [found] = grouper.predict([np.ascontiguousarray(turned)])
        assert len(found) == 2 and len(np.unique(found.labels[turned])) == 2
