"""Curves that touch along the way, and pens that are none."""

import numpy as np
import pytest

from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.side_by_side import ink_profile, side_by_side
from mam.vision.curves.strands.strands import find_strands
from mam.vision.curves.strands.width import relief


def touching() -> np.ndarray:
    """Two lines of 3 px that come together, run side by side without a gap, and part."""
    masks = np.zeros((2, 80, 300), bool)
    for col in range(10, 290):
        apart = max(0, abs(col - 150) - 60) // 4
        masks[0, 37 - apart : 40 - apart, col] = True
        masks[1, 40 + apart : 43 + apart, col] = True
    return masks


def test_two_strands_lie_where_the_lines_do() -> None:
    ground = relief(np.any(touching(), 0))
    found = side_by_side(find_strands(ground), ground)
    middle = found.points[np.abs(found.points[:, 1] - 150) < 40]
    assert len(found) > len(find_strands(ground))
    assert set(middle[:, 0].round().tolist()) == {38.0, 41.0}


def test_lines_that_touch_stay_apart() -> None:
    masks = touching()
    [found] = CurveGrouper.load("curves").predict([np.any(masks, 0)])
    assert len(found) == 2 and found.explained == 1
    for mask in masks:
        owners = np.bincount(found.labels[mask], minlength=3)
        assert owners.max() / owners.sum() > 0.95


def test_a_width_that_varies_is_no_pen() -> None:
    mask = np.zeros((80, 300), bool)
    for col in range(10, 290):
        half = round(4 + 2.5 * np.sin(col / 15))
        mask[40 - half : 41 + half, col] = True
    ground = relief(mask)
    strands = find_strands(ground)
    assert side_by_side(strands, ground) is strands


@pytest.mark.parametrize("width", [2, 3, 5])
def test_the_width_of_the_ink_is_measured(width: int) -> None:
    mask = np.zeros((30, 120), bool)
    mask[10 : 10 + width, 5:115] = True
    strands = find_strands(relief(mask))
    ink = ink_profile(strands, mask)
    inner = np.abs(strands.points[:, 1] - 60) < 30
    np.testing.assert_allclose(ink.width[inner], width)
    np.testing.assert_allclose(ink.centre[inner, 0], 10 + (width - 1) / 2)
