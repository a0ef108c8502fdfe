"""Contours: poses, pairs, the learned continuation, and the estimator as a whole."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.data import PathfinderRow, make_row, recipe
from mam.data.raster import stroke_sprite
from mam.tasks.contours_apart import contours_of
from mam.tasks.pathfinder import group_marked, predict
from mam.vision.curves.answer import Same
from mam.vision.curves.corrections import Corrections
from mam.vision.curves.strokes.continuation import learn_smooth
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.poses import Poses, find_poses
from mam.vision.curves.strokes.stroke_pairs import find_pairs
from mam.vision.curves.strokes.stroke_truth import neighbours_on_contours
from mam.vision.images.discs import Hidden, lift_discs
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements
from tests.infer.test_compilations import compilations


def row(number: int, level: str = "hard") -> PathfinderRow:
    made = make_row(recipe("pathfinder", level, 21), number)
    assert isinstance(made, PathfinderRow)
    return made


def as_poses(middle: np.ndarray, angle: np.ndarray, image: np.ndarray | None = None) -> Poses:
    count = len(middle)
    none = np.zeros(count, int)
    where = none if image is None else image
    return Poses(
        where, np.asarray(middle, float), angle, np.full(count, 6.0), none, none_pair(middle)
    )


def none_pair(middle: np.ndarray) -> np.ndarray:
    return np.rint(middle).astype(int)


@settings(max_examples=40, deadline=None)
@given(st.floats(0, np.pi), st.integers(0, 30), st.integers(0, 30))
def test_a_pose_is_read_off_the_pixels(angle: float, down: int, right: int) -> None:
    stroke = stroke_sprite(angle, 5.0, 2.0, 2, 9)
    image = np.zeros((60, 60), np.uint8)
    image[down : down + stroke.shape[0], right : right + stroke.shape[1]] = stroke
    rows, cols = np.nonzero(image > 26)
    middle = np.array([np.average(v, weights=image[rows, cols]) for v in (rows, cols)])
    part = Parts(np.ones((1, 7, 7), bool))
    there = Placements(
        *np.array([[0], *np.rint(middle)[:, None]]).astype(int), np.ones(1), (60, 60), 1.0
    )
    poses = find_poses([np.where(image > 26, image, 0)], [there], part)
    turn = (poses.angle[0] - angle + np.pi / 2) % np.pi - np.pi / 2
    np.testing.assert_allclose(poses.middle[0], middle, atol=1e-6)
    assert abs(turn) < np.radians(9)
    assert 4.5 < poses.length[0] < 8


def test_poses_at_the_border_and_in_a_batch() -> None:
    rng = np.random.default_rng(0)
    images = [rng.random((20, 24)) < 0.4, rng.random((31, 17)) < 0.4]
    parts = Parts(np.ones((1, 7, 7), bool))
    found = [
        Placements(
            np.zeros(4, int),
            np.array([0, 3, 9, h - 1]),
            np.array([0, w - 1, 8, 2]),
            np.ones(4),
            (h, w),
            1.0,
        )
        for h, w in ((20, 24), (31, 17))
    ]
    together = find_poses(images, found, parts)
    for number in range(2):
        alone = find_poses([images[number]], [found[number]], parts)
        mine = together.take(together.image == number)
        np.testing.assert_array_equal(mine.middle, alone.middle)
        np.testing.assert_array_equal(mine.angle, alone.angle)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**31))
def test_geometry_of_a_pair_ignores_place_mirror_and_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    middle, angle = rng.uniform(-6, 6, (2, 2)), rng.uniform(-np.pi / 2, np.pi / 2, 2)

    def features(points: np.ndarray, angles: np.ndarray) -> np.ndarray:
        pairs = find_pairs(as_poses(points, angles), 30.0)
        return np.array([pairs.distance[0], pairs.bend[0], pairs.skew[0]])

    first = features(middle, angle)
    turn = rng.uniform(0, 2 * np.pi)
    rotation = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    np.testing.assert_allclose(features(middle[::-1], angle[::-1]), first, atol=1e-9)
    np.testing.assert_allclose(features(middle * [-1, 1], -angle), first, atol=1e-9)
    np.testing.assert_allclose(features(middle @ rotation.T + 5, angle + turn), first, atol=1e-9)


def circle(radius: float, count: int) -> Poses:
    """Strokes along a circle, each along its tangent."""
    turn = 2 * np.pi * np.arange(count) / count
    middle = 50 + radius * np.stack([np.sin(turn), np.cos(turn)], 1)
    return as_poses(middle, turn + np.pi / 2)


def test_a_circle_bends_and_has_no_skew() -> None:
    pairs = find_pairs(circle(20.0, 12), 12.0)
    assert len(pairs) == 12
    np.testing.assert_allclose(pairs.skew, 0, atol=1e-9)
    np.testing.assert_allclose(pairs.bend, 2 * np.pi / 12, atol=1e-9)


def test_neighbours_along_known_contours() -> None:
    poses = circle(20.0, 12)
    order = np.roll(np.arange(12), 3)
    pairs = find_pairs(poses, 22.0)
    known = neighbours_on_contours(poses, pairs, [[poses.middle[order]]])
    joined = {frozenset(pair) for pair in pairs.pose[known].tolist()}
    assert joined == {
        frozenset(pair) for pair in zip(order[:-1].tolist(), order[1:].tolist(), strict=True)
    }
    nobody = neighbours_on_contours(poses, pairs, [[]])
    assert not nobody.any()


def test_smooth_continuation_tells_about_neighbours_in_geometry() -> None:
    poses = circle(20.0, 12)
    pairs = find_pairs(poses, 22.0)
    linked = pairs.distance < 12
    often = np.tile(np.arange(len(pairs)), 40)
    smooth = learn_smooth(pairs.take(often), linked[often])
    near = find_pairs(circle(21.0, 12), 12.0)
    assert (smooth.log_odds(near) > 0).all()
    far = pairs.take(~linked)
    assert (smooth.log_odds(far) < 0).all()


@pytest.fixture(scope="module")
def grouper() -> ContourGrouper:
    rows = [row(number) for number in range(8)]
    learner = ContourGrouper(restarts=2, seed=1)
    return learner.fit([r.clean for r in rows], [contours_of(r) for r in rows])


@pytest.fixture(scope="module")
def unseen() -> list[PathfinderRow]:
    return [row(number, level) for level in ("hard", "easy") for number in range(100, 106)]


@pytest.fixture(scope="module")
def answers(grouper: ContourGrouper, unseen: list[PathfinderRow]) -> list[Grouping]:
    return grouper.predict([r.clean for r in unseen])


def test_eight_images_teach_to_answer_unseen_ones(
    answers: list[Grouping], unseen: list[PathfinderRow]
) -> None:
    right = [a.same(*r.markers).same == bool(r.label) for a, r in zip(answers, unseen, strict=True)]
    assert sum(right) >= 11


def test_a_grouping_holds_together(answers: list[Grouping], unseen: list[PathfinderRow]) -> None:
    for found, known in zip(answers, unseen, strict=True):
        assert len(found) == len(found.polylines) == found.group.max() + 1
        assert all(margin > 0 for _, _, margin in found.attentions)
        labels = found.labels
        assert ((labels > 0) == (known.clean > 26)).all() and labels.max() <= len(found)
        masks = found.masks
        assert (masks.any(0) == (known.clean > 26)).all()
        owner = np.take_along_axis(masks, np.maximum(labels, 1)[None] - 1, 0)[0]
        assert owner[labels > 0].all()
        for number, line in enumerate(found.polylines):
            assert len(line) == (found.group == number).sum() + 2


def test_margins_tell_the_weakest_link(answers: list[Grouping]) -> None:
    found = max(answers, key=lambda one: np.bincount(one.group).max())
    chain = max(found.chains, key=lambda one: len(one.strokes))
    ends = found.strokes.middle[chain.strokes[[0, -1]]]
    answer = found.same(*ends)
    inside = np.isin(found.links.stroke, chain.strokes).all(1) & found.on
    assert answer.same and answer.margin == pytest.approx(found.belief[inside].min())
    other = next(c for c in found.chains if c is not chain)
    assert not found.same(ends[0], found.strokes.middle[other.strokes[0]]).same


def test_the_batch_makes_no_difference(
    grouper: ContourGrouper, unseen: list[PathfinderRow], answers: list[Grouping]
) -> None:
    [alone] = grouper.predict([unseen[3].clean])
    np.testing.assert_array_equal(alone.group, answers[3].group)
    np.testing.assert_array_equal(alone.on, answers[3].on)
    assert alone.score == pytest.approx(answers[3].score)


def test_a_saved_model_answers_the_same(
    grouper: ContourGrouper, unseen: list[PathfinderRow], answers: list[Grouping], tmp_path: Path
) -> None:
    grouper.save(tmp_path / "model.safetensors")
    loaded = ContourGrouper.load(tmp_path / "model.safetensors")
    assert loaded.get_params()["restarts"] == 2 and loaded.provenance_["images"] == 8
    loaded.set_params(seed=1, bound=True)
    [found] = loaded.predict([unseen[0].clean])
    np.testing.assert_array_equal(found.group, answers[0].group)
    assert found.bound is not None and found.gap is not None
    assert found.bound >= found.score - 1e-6 and found.gap <= 0.01 * abs(found.score)


def test_markers_in_the_picture(grouper: ContourGrouper, unseen: list[PathfinderRow]) -> None:
    found = predict(unseen, grouper, "image")
    right = [a.same == bool(r.label) for a, r in zip(found, unseen, strict=True)]  # type: ignore[union-attr]
    assert sum(right) >= 10
    [alone] = predict(unseen[3:4], grouper, "image")
    assert isinstance(alone, Same) and isinstance(found[3], Same)
    assert alone.same == found[3].same and alone.margin == pytest.approx(found[3].margin)
    with pytest.raises(ValueError, match="hidden strokes of 0"):
        grouper.predict([unseen[0].clean], [])


def test_what_follows_from_strokes_that_are_not_proved_is_not_proved(
    grouper: ContourGrouper, unseen: list[PathfinderRow]
) -> None:
    rows, cols = np.ogrid[:300, :300]
    disc = np.hypot(rows - 60, cols - 60) < 12
    clean, blot = grouper.predict([unseen[0].clean, np.where(disc, 255, unseen[0].clean)])
    assert clean.pieces_proof and clean.same(*unseen[0].markers).proof == "exact"
    assert blot.proof == "exact" and blot.pieces_proof is None and blot.whole_proof is None
    assert blot.same(*unseen[0].markers).proof is None
    assert "best of these pieces" in repr(blot) and "proved optimal" in repr(clean)
    again = grouper.corrected(blot, Corrections())
    assert again.pieces_proof is None


def test_empty_images_and_single_strokes(grouper: ContourGrouper) -> None:
    one = np.zeros((300, 290), np.uint8)
    one[20:22, 15:21] = 255
    empty, single = grouper.predict([np.zeros((300, 300), np.uint8), one])
    assert len(empty) == 0 and empty.polylines == [] and not empty.labels.any()
    assert empty.masks.shape == (0, 300, 300) and empty.score == 0
    with pytest.raises(ValueError, match="the image has none"):
        empty.same((3, 3), (4, 4))
    assert len(single) == 1 and single.labels.max() == 1
    assert single.same((20, 16), (21, 19)) == (True, np.inf, "exact")
    with pytest.raises(ValueError, match=r"the second point \(2, 2\) is on no curve"):
        single.same((20, 16), (2, 2))
    with pytest.raises(ValueError, match=r"\(300, 1\) lies outside the image of 300 x 290"):
        single.same((300, 1), (20, 16))


def test_bad_use_is_named(grouper: ContourGrouper) -> None:
    image = np.zeros((300, 300), bool)
    with pytest.raises(ValueError, match="learned nothing"):
        ContourGrouper().predict([image])
    with pytest.raises(ValueError, match="2 images, but contours of 1"):
        ContourGrouper().fit([image, image], [[]])
    with pytest.raises(ValueError, match="neighbours on a contour"):
        ContourGrouper().fit([image], [[]])
    with pytest.raises(ValueError, match="best, paper"):
        ContourGrouper(preset="magic").predict([image])
    with pytest.raises(ValueError, match="image 0 is not a picture"):
        grouper.predict([np.full((9, 9), np.nan)])


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="an accelerator prunes by programs")
def test_nothing_is_compiled_without_an_accelerator(
    grouper: ContourGrouper, unseen: list[PathfinderRow]
) -> None:
    fresh = ContourGrouper(restarts=3)
    fresh.continuation_ = grouper.continuation_
    with compilations() as names:
        fresh.predict([r.clean for r in unseen])
    assert names == []


def test_what_sticks_out_of_a_disc_is_kept(unseen: list[PathfinderRow]) -> None:
    for known in unseen:
        left, hidden = lift_discs(known.image, known.markers)
        assert hidden.pixels is not None
        seen = ~hidden.pixels
        # A stroke meets the blur of a disc in few pixels, which lose a little of their grey.
        assert np.mean(np.abs(left[seen].astype(int) - known.clean[seen]) > 40) < 3e-4
        far = np.hypot(*(np.argwhere(hidden.pixels)[:, None] - known.markers).transpose(2, 0, 1))
        assert 40 < hidden.pixels.sum() / 2 < 80 and far.min(1).max() < 6


def _column(point: list[float]) -> float:
    return point[1]


def test_strokes_that_a_disc_covers_in_part_are_found(grouper: ContourGrouper) -> None:
    strokes = np.zeros((40, 60), np.uint8)
    strokes[20:22, 5:10] = strokes[20:22, 13:18] = strokes[20:22, 21:26] = 255
    covered = np.zeros(strokes.shape, bool)
    covered[18:25, 16:20] = True
    shown = np.where(covered, 0, strokes).astype(np.uint8)
    [plain] = grouper.predict([strokes])
    [found] = grouper.predict([shown], [replace(Hidden.at(np.zeros((0, 2))), pixels=covered)])
    by_column = (sorted(one.strokes.middle.tolist(), key=_column) for one in (found, plain))
    middles = [np.array(some) for some in by_column]
    np.testing.assert_allclose(*middles, atol=1.0)
    [cut] = grouper.predict([shown])
    third = np.abs(cut.strokes.middle - [20.5, 15.0]).max(1).min()
    assert third > np.abs(middles[0][1] - [20.5, 15.0]).max()  # what covers it is no evidence


def test_discs_are_cut_out(grouper: ContourGrouper, unseen: list[PathfinderRow]) -> None:
    known = unseen[0]
    [found] = group_marked([known.image], [known.markers], grouper)
    covered = found.strokes.length == 0
    np.testing.assert_array_equal(found.strokes.middle[covered], known.markers)
    assert not found.pixels[tuple(known.markers.T)].any()
