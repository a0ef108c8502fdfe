"""Curves as chains of strands, decided by the contour model, and the pixels they own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.data.generate.curves import LEVELS, CurvesConfig, make_courses, make_curves
from mam.infer import enumerate_exactly
from mam.tasks.curves import dice
from mam.vision.curves.chain_model import contour_model
from mam.vision.curves.owners import Trace, label_pixels, mask_pixels
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.strand_drawing import describe, sketch
from tests.vision.pictures import drawn_curve

GROUPER = CurveGrouper.load("curves")  # one for all tests: sizes that compile once


def group(mask: np.ndarray):
    [found] = GROUPER.predict([mask])
    return found


def crossing(angle: float, width: int, scale: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Mask and labels of two straight lines; the second lies above."""
    labels = np.zeros((200 * scale, 200 * scale), np.int64)
    for number, turn in ((1, 0.1), (2, 0.1 + angle)):
        line = 100 + np.linspace(-90, 90, 400 * scale)[:, None] * [np.sin(turn), np.cos(turn)]
        labels[drawn_curve(labels.shape, line * scale, width * scale)] = number
    return labels > 0, labels


def ring(width: int = 6, radius: float = 40.0) -> np.ndarray:
    angle = np.linspace(0, 2 * np.pi, 600)
    return drawn_curve((120, 120), 60 + radius * np.stack([np.sin(angle), np.cos(angle)], 1), width)


@settings(max_examples=20)
@given(st.floats(0.5, np.pi - 0.5), st.integers(2, 24))
def test_straight_lines_pass_through_their_crossing(angle: float, width: int) -> None:
    mask, labels = crossing(angle, width)
    found = group(mask)
    assert len(found) == 2
    overlap = (width**2 / np.sin(angle)) / (180 * width)
    assert np.mean(dice(found.labels, labels)) > 0.97 - overlap


@pytest.mark.parametrize("scale", [2, 4])
def test_an_enlargement_is_grouped_alike(scale: int) -> None:
    mask, labels = crossing(0.9, 8, scale)
    found = group(mask)
    assert len(found) == 2 and np.mean(dice(found.labels, labels)) > 0.95


def test_a_curve_that_crosses_itself_is_one_in_order() -> None:
    t = np.linspace(-1.7, 1.7, 900)
    loop = np.stack([100 + 60 * (t**2 - 1), 100 + 70 * (t**3 - 2 * t) / 1.5], 1)
    found = group(drawn_curve((240, 200), loop, 7))
    [line], [chain] = found.polylines, found.chains
    assert len(found) == 1 and not chain.closed
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 4
    ends = line[[0, -1]]
    assert min(np.abs(ends - loop[[0, -1]]).max(), np.abs(ends - loop[[-1, 0]]).max()) < 8
    answer = found.same(loop[20].round(), loop[-20].round())
    assert answer.same and 0 < answer.margin < np.inf


def test_a_ring_is_closed_and_returns_to_its_first_point() -> None:
    found = group(ring())
    [line] = found.polylines
    assert len(found) == 1 and found.chains[0].closed
    np.testing.assert_array_equal(line[0], line[-1])
    assert np.linalg.norm(np.diff(line, axis=0), axis=1).max() < 4
    assert found.same((20, 60), (100, 60)).same


def test_a_missing_stretch_is_bridged() -> None:
    line = 100 + np.linspace(-90, 90, 800)[:, None] * np.array([0.3, 0.95])
    mask = drawn_curve((200, 200), line, 8)
    mask[:, 95:107] = False
    found = group(mask)
    assert len(found) == 1 and len(found.attentions) == 1
    assert ((found.labels == 1) == mask).all()
    assert found.same((78, 30), (122, 170)).same
    # The point in the gap itself is on the curve, one beside it is not.
    assert found.same((100, 101), (78, 30)).same
    with pytest.raises(ValueError, match=r"the second point .* is on no curve: the nearest is"):
        found.same((100, 101), (160, 40))


def test_breaks_tell_which_curve_is_above() -> None:
    mask, labels = crossing(np.pi / 2, 13)
    above = labels == 2
    rim = np.zeros_like(mask)
    rim[1:-1, 1:-1] = above[2:, 1:-1] | above[:-2, 1:-1] | above[1:-1, 2:] | above[1:-1, :-2]
    rim &= mask & ~above
    # Whole breaks, and dotted ones that leave the curves connected.
    for keep in (np.zeros_like(rim), np.indices(rim.shape).sum(0) % 3 == 0):
        broken = mask & ~(rim & ~keep)
        found = group(broken)
        assert len(found) == 2
        assert np.mean(dice(found.labels, np.where(broken, labels, 0))) > 0.985


def test_both_curves_own_their_crossing() -> None:
    mask, labels = crossing(np.pi / 2, 9)
    found = group(mask)
    masks = found.masks
    assert masks.shape == (2, 200, 200) and masks[:, 100, 100].all()
    for k in (1, 2):
        assert masks[k - 1][found.labels == k].all()
    assert (masks.any(0) == (found.labels > 0)).all()
    one, two = (np.argwhere(labels == k)[0] for k in (1, 2))
    answer = found.same(one, two)
    assert not answer.same and answer.margin > 0


@settings(max_examples=20)
@given(st.integers(0, 1000))
def test_any_mask_gets_an_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mask = rng.random((30, 40)) < rng.uniform(0, 1)
    found = group(mask)
    assert (found.labels[~mask] == 0).all()
    assert found.labels.max(initial=0) <= len(found) == len(found.polylines) == len(found.masks)
    ends = (2 * found.links.stroke + found.links.side)[found.on].ravel()
    assert len(np.unique(ends)) == len(ends)
    assert (found.links.stroke[:, 0] != found.links.stroke[:, 1]).all()


@pytest.mark.parametrize("fill", [0, 1, 255])
def test_blank_and_full_masks(fill: int) -> None:
    found = group(np.full((40, 60), fill, np.uint8))
    assert len(found) <= 1 and found.pixels.all() == bool(fill)
    if not fill:
        assert not found.labels.any() and found.masks.shape == (0, 40, 60)
        with pytest.raises(ValueError, match="the image has none"):
            found.same((1, 1), (2, 2))


@pytest.mark.parametrize("width", [2, 5, 12, 24])
def test_one_curve_alone(width: int) -> None:
    line = np.stack([np.full(300, 60.0), np.linspace(30, 270, 300)], 1)
    mask = drawn_curve((120, 300), line, width)
    found = group(mask)
    assert len(found) == 1 and not found.attentions and found.score == 0
    assert np.mean((found.labels == 1) == mask) > 0.99
    assert found.same((60, 40), (60, 260)) == (True, np.inf, "exact")


def test_the_certificate() -> None:
    mask, _ = crossing(1.1, 8)
    [found] = CurveGrouper.load("curves").set_params(bound=True).predict([mask])
    assert found.bound is not None and found.gap is not None
    presence = GROUPER._presence(found.strokes)
    model, evidence = contour_model(found.links, presence, GROUPER.potentials)
    best = enumerate_exactly(model.graph, evidence).score
    assert found.score <= best + 1e-4 <= found.bound + 2e-4
    assert found.gap < 0.1


def test_a_batch_answers_as_its_images_alone() -> None:
    masks = [make_curves(LEVELS["medium"], 9, row).mask for row in range(3)] + [ring()]
    masks.insert(1, np.zeros((50, 50), bool))
    for alone, together in zip(map(group, masks), GROUPER.predict(masks), strict=True):
        np.testing.assert_array_equal(alone.labels, together.labels)
        np.testing.assert_allclose(alone.belief, together.belief, atol=1e-4)
        assert alone.score == pytest.approx(together.score)


def test_what_was_learned_is_saved(tmp_path) -> None:
    made = [make_courses(CurvesConfig(curves=(2, 3)), 5, row) for row in range(4)]
    learned = CurveGrouper().fit([row.mask for row, _ in made], [known for _, known in made])
    learned.save(tmp_path / "own.safetensors")
    read = CurveGrouper.load(tmp_path / "own.safetensors")
    assert read.provenance_ == learned.provenance_ and read.provenance_["images"] == 4
    assert read.get_params() == learned.get_params()
    [one], [two] = (model.predict([made[0][0].mask]) for model in (learned, read))
    np.testing.assert_array_equal(one.labels, two.labels)
    assert one.score == two.score


def test_mistakes_are_named() -> None:
    mask = np.zeros((20, 20), bool)
    with pytest.raises(ValueError, match="learned nothing yet"):
        CurveGrouper().predict([mask])
    with pytest.raises(ValueError, match="1 images, but courses of 2"):
        CurveGrouper().fit([mask], [[], []])
    with pytest.raises(ValueError, match="at least one"):
        CurveGrouper().fit([], [])
    with pytest.raises(ValueError, match="nothing to learn"):
        CurveGrouper().fit([mask], [[]])
    huge = np.broadcast_to(np.False_, (10_000, 10_000))
    with pytest.raises(ValueError, match=r"image 0 has 100,000,000 pixels, .* tiles"):
        GROUPER.predict([huge])
    with pytest.raises(ValueError, match="image 0 is not binary"):
        GROUPER.predict([np.arange(100, dtype=np.uint8).reshape(10, 10)])


def test_the_upper_of_two_curves_owns_a_pixel() -> None:
    cross = np.stack([np.full(21, 10.0), np.arange(21.0)], 1)
    curve = np.repeat([0, 1], 21)
    points = np.concatenate([cross, cross[:, ::-1]])
    trace = Trace(points, np.full(42, 2.5), curve, np.repeat([0, -1], 21), curve)
    full = np.ones((21, 21), bool)
    labels = label_pixels(full, trace)
    assert (labels[8:13, 8:13] == 2).all()
    assert labels[10, 2] == 1 and labels[0, 0] == 0
    assert mask_pixels(full, trace, labels)[:, 8:13, 8:13].all()


def test_a_strand_that_comes_round_is_cut() -> None:
    drawn = sketch(ring())
    drawing = describe(drawn)
    assert len(drawing.strands) == 2
    np.testing.assert_allclose(drawing.strands.length, np.pi * 40, rtol=0.1)


def test_generated_curves_are_grouped() -> None:
    rows = [make_curves(LEVELS["easy"], 5, row) for row in range(12)]
    found = GROUPER.predict([row.mask for row in rows])
    scores = [dice(one.labels, row.labels) for one, row in zip(found, rows, strict=True)]
    assert np.mean(np.concatenate(scores)) > 0.85
