"""The paper's own way of grouping contours, step by step."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.data import PathfinderRow, make_row, recipe
from mam.factors import Pairwise
from mam.graph import GraphBuilder
from mam.infer import solve
from mam.tasks.pathfinder import fit_rows, predict
from mam.vision.curves.answer import Same
from mam.vision.curves.chain_model import ChainSolver, ContourPotentials, Links
from mam.vision.curves.chains import best_links
from mam.vision.curves.strokes.co_occurrences import (
    CoOccurrences,
    contact_pixels,
    learn_co_occurrences,
    two_clusters,
)
from mam.vision.curves.strokes.contour_answer import part_in_disc
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.poses import Poses, part_poses
from mam.vision.curves.strokes.presets import PRESETS
from mam.vision.curves.strokes.stroke_truth import following
from mam.vision.images.discs import Hidden
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements
from mam.vision.parts.sparsifier import Sparsifier


def bars() -> Parts:
    """A flat bar and an upright one of five pixels."""
    masks = np.zeros((2, 7, 7), bool)
    masks[0, 3, 1:6] = masks[1, 1:6, 3] = True
    return Parts(masks)


def placed(type_: list[int], row: list[int], column: list[int], margin: list[float]) -> Poses:
    kinds, rows, columns, margins = map(np.array, (type_, row, column, margin))
    return part_poses([Placements(kinds, rows, columns, margins, (60, 60), 0.0)], bars())


def test_one_type_stays_at_a_position() -> None:
    poses = placed([0, 1, 0, 1], [9, 9, 9, 30], [9, 9, 20, 30], [1.0, 2.0, 3.0, 1.0])
    assert poses.type.tolist() == [1, 0, 1]
    assert poses.middle.tolist() == [[9, 9], [9, 20], [30, 30]]
    np.testing.assert_allclose(np.abs(poses.angle), [np.pi / 2, 0, np.pi / 2])


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_a_co_occurrence_is_the_same_in_either_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    place = np.unique(rng.integers(0, 40, (12, 2)), axis=0)
    count = len(place)
    flat = np.zeros(count)
    kinds = rng.integers(0, 2, count)
    poses = Poses(flat.astype(int), place.astype(float), flat, flat + 5, kinds, place)
    pairs = np.stack([np.arange(count - 1), np.arange(1, count)], 1)
    learned = learn_co_occurrences(poses, pairs, bars())
    turned = learn_co_occurrences(poses, pairs[:, ::-1], bars())
    np.testing.assert_array_equal(learned.key, turned.key)
    np.testing.assert_array_equal(learned.side, turned.side)
    assert learned.count.sum() == count - 1
    links = learned.links(poses)
    seen = {(*kinds[[a, b]], *(place[b] - place[a])) for a, b in pairs.tolist()}
    seen |= {(b, a, -down, -right) for a, b, down, right in seen}
    by_listing = {
        (a, b)
        for a in range(count)
        for b in range(a + 1, count)
        if (*kinds[[a, b]], *(place[b] - place[a])) in seen
    }
    assert {tuple(sorted(pair)) for pair in links.stroke.tolist()} == by_listing
    assert not links.score.any()
    for kind in (0, 1):
        sides = [learned.following(kind, side) for side in (0, 1)]
        listed = [tuple(one) for after, _ in sides for one in after.tolist()]
        assert len(listed) == len(set(listed))
        assert set(listed) == {tuple(map(int, rest)) for first, *rest in seen if first == kind}
        assert all((np.diff(times) <= 0).all() for _, times in sides)


def test_rare_co_occurrences_are_dropped_by_their_share() -> None:
    place = np.array([[0, 0], [0, 9], [40, 0], [40, 11]])
    none = np.zeros(4)
    poses = Poses(none.astype(int), place.astype(float), none, none + 5, none.astype(int), place)
    pairs = np.array([[0, 1]] * 9 + [[2, 3]])
    for least, kept in ((0.1, [1, 9]), (0.11, [9])):
        learned = learn_co_occurrences(poses, pairs, bars(), least)
        assert sorted(learned.count.tolist()) == kept
    with pytest.raises(ValueError, match="neighbours on a contour"):
        learn_co_occurrences(poses, np.zeros((0, 2), int), bars())


def test_the_sides_of_a_part_are_where_it_is_touched() -> None:
    line = placed([0, 0, 0], [9, 9, 9], [9, 18, 27], [1.0] * 3)
    learned = learn_co_occurrences(line, np.array([[0, 1], [1, 2]]), bars())
    links = learned.links(line)
    at = {tuple(pair): side for pair, side in zip(links.stroke.tolist(), links.side, strict=True)}
    # The middle bar goes on at one side to the left and at the other to the right.
    assert set(at) == {(0, 1), (1, 2)}
    assert at[0, 1][1] != at[1, 2][0] and at[0, 1][0] == at[1, 2][0]


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(-9, 9), st.integers(-9, 9)), min_size=1, max_size=9))
def test_contact_pixels_are_the_nearest(offsets: list[tuple[int, int]]) -> None:
    parts = bars()
    kinds = np.array([(k % 2, (k + 1) % 2, *offset) for k, offset in enumerate(offsets)])
    found = contact_pixels(kinds, parts)
    for (one, other, *offset), pixel in zip(kinds.tolist(), found, strict=True):
        own = np.argwhere(parts.masks[one]) - 3
        there = np.argwhere(parts.masks[other]) - 3 + offset
        far = np.linalg.norm(own[:, None] - there, axis=2).min(1)
        nearest = own[far <= far.min() + 1e-9]
        inwards = np.linalg.norm(nearest - there.mean(0), axis=1)
        assert pixel.tolist() in nearest[inwards <= inwards.min() + 1e-9].tolist()


def test_parts_that_overlap_touch_where_the_other_one_is() -> None:
    kinds = np.array([[0, 0, 0, 2], [0, 0, 0, -2], [1, 1, 3, 0], [1, 1, -3, 0]])
    assert contact_pixels(kinds, bars()).tolist() == [[0, 2], [0, -2], [2, 0], [-2, 0]]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31), st.integers(1, 20))
def test_two_clusters_are_at_rest(seed: int, count: int) -> None:
    points = np.random.default_rng(seed).integers(-3, 4, (count, 2)).astype(float)
    side = two_clusters(points)
    if len(np.unique(points, axis=0)) == 1:
        assert not side.any()
        return
    centres = np.stack([points[side == k].mean(0) for k in (0, 1)])
    far = np.linalg.norm(points[:, None] - centres, axis=2)
    assert (far[np.arange(count), side] <= far.min(1) + 1e-9).all()


def test_following_goes_over_gaps_of_any_length() -> None:
    middle = np.array([[10.0, 5], [10, 50], [10, 14], [40, 40]])
    none = np.zeros(4, int)
    poses = Poses(none, middle, np.zeros(4), np.full(4, 5.0), none, middle.astype(int))
    course = np.array([[10.0, 5], [10, 14], [10, 50]])
    assert following(poses, [[course]]).tolist() == [[0, 2], [2, 1]]
    assert following(poses, [[]]).shape == (0, 2)


def test_following_keeps_sparsifications_apart() -> None:
    rng = np.random.default_rng(5)
    courses = [[np.array([[10.0, 5], [10, 50]])], [], [np.array([[10.0, 50], [9, 3]])]]
    runs = []
    for count in (9, 0, 7):
        middle, none = rng.uniform([6, 5], [13, 50], (count, 2)), np.zeros(count, int)
        image = rng.integers(0, 3, count)
        runs.append(Poses(image, middle, none + 0.1, none + 5.0, none, middle.astype(int)))
    start = np.cumsum([0, *(len(one) for one in runs)])
    each = [following(one, courses) + at for one, at in zip(runs, start, strict=False)]
    seed = np.repeat(np.arange(3), [len(one) for one in runs])
    found = following(Poses.joined(runs), courses, seed)
    assert len(found) and found.tolist() == np.concatenate(each).tolist()


def test_a_disc_marks_the_end_that_covers_most_of_it() -> None:
    parts = placed([0, 0, 1], [20, 20, 50], [20, 28, 50], [1.0] * 3)
    masks = bars().masks
    for links, at, found in (
        ([1, 1, 0], (20, 21), 0),
        ([2, 1, 0], (20, 21), 1),  # the first one goes on at both sides
        ([0, 0, 0], (20, 25), 1),  # no ends: the nearest
        ([1, 1, 0], (45, 45), 2),  # an end, but far away
    ):
        assert part_in_disc(parts, masks, np.array(links), np.array(at, float)) == found


def test_ties_are_on_if_so_decoded() -> None:
    builder = GraphBuilder()
    builder.variables("x", 3)
    builder.add("none", Pairwise.of([[0, 1]], np.zeros((2, 2))))
    quiet = {"method": "max-product", "noise": 0.0, "repair": False}
    evidence = {"x": [0.0, 1.0, -1.0]}
    plain, tied = (
        solve(builder.build(), evidence, decoding=decoding, **quiet)["x"].tolist()
        for decoding in ("belief", "ties on")
    )
    assert plain == [0, 1, 0] and tied == [1, 1, 0]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**31))
def test_the_best_links_are_one_an_end(seed: int) -> None:
    rng = np.random.default_rng(seed)
    stroke = np.sort(rng.permuted(np.tile(np.arange(5), (12, 1)), axis=1)[:, :2], axis=1)
    side, on = rng.integers(0, 2, (12, 2)), rng.random(12) < 0.6
    belief = np.where(on, 1, -1) * rng.integers(0, 3, 12).astype(float)
    kept = best_links(stroke, side, on, belief, 5)
    end = 2 * stroke + side
    assert not (kept & ~on).any() and np.bincount(end[kept].ravel(), minlength=1).max() <= 1
    if np.bincount(end[on].ravel(), minlength=1).max() <= 1:
        np.testing.assert_array_equal(kept, on)


def test_messages_do_not_depend_on_the_batch() -> None:
    messages = PRESETS["paper"].messages
    potentials = ContourPotentials(presence=1000.0)
    chain = Links(
        np.array([[0, 1], [1, 2], [0, 2]]), np.array([[1, 0], [1, 0], [1, 0]]), np.zeros(3)
    )
    none = Links(np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0))
    one = (chain, np.full(3, 1000.0))
    [alone] = ChainSolver().decide_each([chain], [one[1]], potentials, messages)
    links, presence = [none, chain, chain], [np.full(2, 1000.0), one[1], one[1]]
    several = ChainSolver().decide_each(links, presence, potentials, messages)
    assert alone.on.tolist() == [True, True, False] and not alone.proved.any()
    for found in several[1:]:
        np.testing.assert_array_equal(found.belief, alone.belief)


def test_the_seed_chooses_among_placements_that_are_as_good() -> None:
    image = np.zeros((20, 20), bool)
    image[9, 4:10] = True  # six pixels: a bar of five fits in two places
    sparsifier = Sparsifier(bars(), method="messages", iterations=100, damping=0.1, restarts=1)
    found = sparsifier.transform_by_seed([image], range(12))
    assert {tuple(one.column) for [one] in found} == {(6,), (7,)}
    again = sparsifier.set_params(seed=3).transform([image])
    assert again[0].column.tolist() == found[3][0].column.tolist()
    with pytest.raises(ValueError, match="method is one of quick, messages"):
        Sparsifier(bars(), method="magic").transform([image])


def row(number: int) -> PathfinderRow:
    made = make_row(recipe("pathfinder", "easy", 21), number)
    assert isinstance(made, PathfinderRow)
    return made


def test_what_was_learned_explains_its_images(tmp_path: Path) -> None:
    rows = [row(number) for number in range(2)]
    done: list[int] = []
    learner = fit_rows(rows, "rows", ContourGrouper(preset="paper", sparsifications=2), done.append)
    contours = sum(len(known.segments) for known in rows)
    assert sum(done) == 2 and learner.provenance_["contours"] == contours
    learner.save(tmp_path / "model.safetensors")
    loaded = ContourGrouper.load(tmp_path / "model.safetensors")
    assert loaded.preset == "paper" and isinstance(loaded.continuation_, CoOccurrences)
    assert isinstance(loaded.parts, Parts) and loaded.parts.noise.pi01 == 0.07
    answers = predict(rows, loaded)
    assert all(isinstance(one, Same) and one.proof is None for one in answers)
    [found, _] = loaded.predict([known.clean for known in rows])
    assert (found.labels > 0).sum() == (rows[0].clean > 26).sum()
    assert abs(len(found) - len(rows[0].segments)) <= 6
    with pytest.raises(ValueError, match="the preset best"):
        loaded.predict([rows[0].clean], [Hidden.at(rows[0].markers)])
