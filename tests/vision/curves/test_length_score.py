"""Curves against courses by length: what is right, what is torn, what is not there."""

import numpy as np
import pytest

from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.length_score import length_dice

BAR, POST = np.array([[60.0, 12.0], [60.0, 148.0]]), np.array([[12.0, 80.0], [108.0, 80.0]])


def cross() -> np.ndarray:
    mask = np.zeros((120, 160), bool)
    mask[57:63, 10:150] = mask[10:110, 77:83] = True
    return mask


@pytest.mark.parametrize(
    ("courses", "least", "most"),
    [
        ([BAR, POST], 0.97, 1.0),
        ([POST[::-1], BAR], 0.97, 1.0),
        ([BAR], 0.7, 0.8),  # the other curve is too much
        ([BAR + np.array([30, 0]), POST], 0.4, 0.5),  # one course runs beside the ink
        ([BAR[:, ::-1] + np.array([0, 40])], 0.0, 0.1),
        ([], 0.0, 0.0),
    ],
)
def test_lengths_that_agree(courses: list[np.ndarray], least: float, most: float) -> None:
    found = CurveGrouper.load("curves").predict([cross()])
    assert least <= length_dice(zip(found, [courses], strict=True)) <= most


def test_nothing_agrees_with_nothing() -> None:
    found = CurveGrouper.load("curves").predict([np.zeros((40, 40), bool)])
    assert length_dice(zip(found, [[]], strict=True)) == 1.0
