"""Curves as chains of strands, and the pixels they own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from mam.data.curves import LEVELS, make_curves
from mam.vision.curves import group_curves
from mam.vision.labels import Trace, label_pixels
from mam.vision.strand_pairs import continue_smoothly, find_pairs, log_odds, match_ends
from mam.vision.strands import Ends, find_ends, find_strands
from mam.vision.width import Relief, relief
from tests.vision.pictures import drawn_curve


def dice(found: np.ndarray, truth: np.ndarray) -> float:
    """Mean Dice of the true curves under the best one-to-one match."""
    counts = np.zeros((truth.max() + 1, found.max() + 1))
    np.add.at(counts, (truth.ravel(), found.ravel()), 1)
    sizes = counts.sum(1)[1:, None] + counts.sum(0)[None, 1:]
    scores = 2 * counts[1:, 1:] / sizes
    rows, cols = linear_sum_assignment(scores, maximize=True)
    return float(scores[rows, cols].sum() / truth.max())


def crossing(angle: float, width: int, scale: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Mask and labels of two straight lines; the second lies above."""
    labels = np.zeros((200 * scale, 200 * scale), np.int64)
    for number, turn in ((1, 0.1), (2, 0.1 + angle)):
        line = 100 + np.linspace(-90, 90, 400 * scale)[:, None] * [np.sin(turn), np.cos(turn)]
        labels[drawn_curve(labels.shape, line * scale, width * scale)] = number
    return labels > 0, labels


@settings(max_examples=25, deadline=None)
@given(st.floats(0.4, np.pi - 0.4), st.integers(2, 16))
def test_straight_lines_pass_through_their_crossing(angle: float, width: int) -> None:
    mask, labels = crossing(angle, width)
    found = group_curves(mask)
    assert len(found) == 2
    overlap = (width**2 / np.sin(angle)) / (180 * width)
    assert dice(found.labels, labels) > 0.97 - overlap


@pytest.mark.parametrize("scale", [2, 4])
def test_an_enlargement_is_grouped_alike(scale: int) -> None:
    mask, labels = crossing(0.9, 8, scale)
    found = group_curves(mask)
    assert len(found) == 2 and dice(found.labels, labels) > 0.95


def test_a_curve_that_crosses_itself_is_one() -> None:
    t = np.linspace(-1.7, 1.7, 900)
    loop = np.stack([100 + 60 * (t**2 - 1), 100 + 70 * (t**3 - 2 * t) / 1.5], 1)
    found = group_curves(drawn_curve((240, 200), loop, 7))
    assert len(found) == 1 and not found.curves[0].closed
    steps = np.linalg.norm(np.diff(found.curves[0].points, axis=0), axis=1)
    assert steps.max() < 4
    ends = found.curves[0].points[[0, -1]]
    assert min(np.abs(ends - loop[[0, -1]]).max(), np.abs(ends - loop[[-1, 0]]).max()) < 8


def test_a_ring_is_closed() -> None:
    angle = np.linspace(0, 2 * np.pi, 400)
    ring = 60 + 40 * np.stack([np.sin(angle), np.cos(angle)], 1)
    found = group_curves(drawn_curve((120, 120), ring, 6))
    assert len(found) == 1 and found.curves[0].closed


def test_a_missing_stretch_is_bridged() -> None:
    line = 100 + np.linspace(-90, 90, 800)[:, None] * np.array([0.3, 0.95])
    mask = drawn_curve((200, 200), line, 8)
    mask[:, 95:107] = False
    found = group_curves(mask)
    assert len(found) == 1 and (~found.curves[0].seen).any()
    assert ((found.labels == 1) == mask).all()


def test_breaks_tell_which_curve_is_above() -> None:
    mask, labels = crossing(np.pi / 2, 13)
    above = labels == 2
    rim = np.zeros_like(mask)
    rim[1:-1, 1:-1] = above[2:, 1:-1] | above[:-2, 1:-1] | above[1:-1, 2:] | above[1:-1, :-2]
    rim &= mask & ~above
    # Whole breaks, and dotted ones that leave the curves connected.
    for keep in (np.zeros_like(rim), np.indices(rim.shape).sum(0) % 3 == 0):
        broken = mask & ~(rim & ~keep)
        found = group_curves(broken)
        assert len(found) == 2
        assert dice(found.labels, np.where(broken, labels, 0)) > 0.985


def test_the_decision_is_the_callers() -> None:
    def alone(ends: Ends, ground: Relief) -> np.ndarray:
        return np.full(len(ends), -1)

    mask, _ = crossing(1.2, 8)
    assert len(group_curves(mask, alone)) == 4


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_any_mask_gets_an_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.random((30, 40)) < rng.uniform(0, 1)
    found = group_curves(mask)
    assert (found.labels[~mask] == 0).all()
    assert found.labels.max(initial=0) <= len(found)
    partner = continue_smoothly(find_ends(find_strands(relief(mask))), relief(mask))
    linked = np.flatnonzero(partner >= 0)
    np.testing.assert_array_equal(partner[partner[linked]], linked)
    assert (partner[linked] != linked).all()


def test_an_end_prefers_termination_to_a_bad_partner() -> None:
    ground = relief(crossing(1.2, 8)[0])
    ends = find_ends(find_strands(ground))
    pairs = find_pairs(ends, ground)
    scores = log_odds(pairs)
    free = match_ends(pairs, scores, np.full(len(ends), -50.0))
    assert (free == -1).all()
    forced = match_ends(pairs, scores, np.full(len(ends), 1.6))
    assert (forced >= 0).sum() == 4


def test_an_empty_picture_has_no_curves() -> None:
    found = group_curves(np.zeros((20, 30), np.uint8))
    assert len(found) == 0 and not found.labels.any()


def test_the_upper_of_two_curves_owns_a_pixel() -> None:
    cross = np.stack([np.full(21, 10.0), np.arange(21.0)], 1)
    trace = Trace(
        points=np.concatenate([cross, cross[:, ::-1]]),
        radius=np.full(42, 2.5),
        curve=np.repeat([0, 1], 21),
        bridge=np.repeat([0, -1], 21),
    )
    labels = label_pixels(np.ones((21, 21), bool), trace)
    assert (labels[8:13, 8:13] == 2).all()
    assert labels[10, 2] == 1 and labels[0, 0] == 0


def test_generated_curves_are_grouped() -> None:
    rows = [make_curves(LEVELS["easy"], 5, row) for row in range(12)]
    scores = [dice(group_curves(row.mask).labels, row.labels) for row in rows]
    assert np.mean(scores) > 0.85
