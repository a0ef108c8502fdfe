"""The pathfinder generator keeps its promises on every row."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from mam.data import DashConfig, PathfinderConfig, make_pathfinder
from mam.data.generate.dashes import guard_distance, turn_weight
from mam.data.generate.pathfinder import LEVELS, SPRITE_RADIUS
from mam.data.pixels import ON
from mam.data.raster import stroke_sprite
from mam.data.segments import Stroke

rows = st.integers(0, 10_000)
levels = st.sampled_from(sorted(LEVELS))


def centre_lines(contour, length: float) -> np.ndarray:
    """Points every half pixel along every stroke: (strokes, points, 2)."""
    starts = np.array([(s.row, s.col) for s in contour], float)
    angles = np.array([s.angle for s in contour])
    along = np.stack([np.sin(angles), np.cos(angles)], axis=1)
    return starts[:, None] + np.linspace(0, length, 11)[None, :, None] * along[:, None]


@given(levels, rows)
def test_strokes_of_different_contours_never_overlap(level: str, row: int) -> None:
    config = LEVELS[level]
    made = make_pathfinder(config, 0, row)
    lines = [centre_lines(c, config.dashes.length).reshape(-1, 2) for c in made.segments]
    for i, one in enumerate(lines):
        for two in lines[:i]:
            gap = np.hypot(*(one[:, None] - two[None]).transpose(2, 0, 1)).min()
            # A raster of whole pixels may round each side by half a pixel's diagonal.
            assert gap > guard_distance(config.dashes) - 1.5
    # Every ON component carries one contour's number: nothing touches.
    components, count = ndimage.label(made.clean > ON, np.ones((3, 3)))
    for number in range(1, count + 1):
        assert len(np.unique(made.contours[components == number])) == 1


@given(levels, rows)
def test_strokes_are_where_the_row_says(level: str, row: int) -> None:
    config = LEVELS[level]
    made = make_pathfinder(config, 1, row)
    assert np.array_equal(made.contours > 0, made.clean > ON)
    for number, contour in enumerate(made.segments, start=1):
        middle = np.rint(centre_lines(contour, config.dashes.length)[:, 5]).astype(int)
        assert (made.contours[middle[:, 0], middle[:, 1]] == number).all()


@given(levels, rows)
def test_markers_sit_on_the_ends_and_the_label_agrees(level: str, row: int) -> None:
    made = make_pathfinder(LEVELS[level], 2, row)
    origins = [[c[0].row, c[0].col] for c in made.segments[:2]]
    ends = [[c[-1].row, c[-1].col] for c in made.segments[:2]]
    assert made.markers[0].tolist() in origins
    assert made.markers[1].tolist() in ends
    under = []
    for r, c in made.markers:
        window = made.contours[r - 2 : r + 3, c - 2 : c + 3]
        numbers = np.unique(window[window > 0])
        assert len(numbers) == 1
        under.append(int(numbers[0]))
        assert made.image[r, c] == 255
    assert set(under) <= {1, 2}
    assert made.label == int(under[0] == under[1])


@given(levels, rows)
def test_numbers_of_strokes_follow_the_plan(level: str, row: int) -> None:
    config = LEVELS[level]
    lengths = [len(c) for c in make_pathfinder(config, 3, row).segments]
    assert lengths[0] == lengths[1]
    assert config.long[0] <= lengths[0] <= config.long[1]
    assert len(lengths) - 2 <= sum(count for count, _, _ in config.distractors)
    spans = [(least, most) for _, least, most in config.distractors]
    assert all(any(a <= n <= b for a, b in spans) for n in lengths[2:])


@given(rows)
def test_image_is_clean_plus_two_discs(row: int) -> None:
    made = make_pathfinder(LEVELS["hard"], 4, row)
    changed = made.image != made.clean
    grid = np.mgrid[: made.image.shape[0], : made.image.shape[1]]
    near = [np.hypot(grid[0] - r, grid[1] - c) for r, c in made.markers]
    assert (np.minimum(*near)[changed] < 10).all()
    assert (made.image[np.minimum(*near) < 4.5] > 200).all()


def test_a_row_depends_on_seed_and_number_only() -> None:
    one, two = (make_pathfinder(LEVELS["hard"], 5, 17) for _ in range(2))
    assert np.array_equal(one.image, two.image) and one.segments == two.segments
    other = make_pathfinder(LEVELS["hard"], 6, 17)
    assert not np.array_equal(one.image, other.image)


def test_labels_are_balanced() -> None:
    labels = [make_pathfinder(LEVELS["easy"], 7, k).label for k in range(200)]
    # Four standard deviations of a fair coin.
    assert abs(np.mean(labels) - 0.5) < 4 * 0.5 / np.sqrt(200)


@given(st.floats(-10, 10), st.floats(0.5, 4))
def test_turn_weight_is_even_bounded_and_periodic(turn: float, continuity: float) -> None:
    both = turn_weight(np.array([turn, -turn, turn + 2 * np.pi]), continuity)
    assert both == pytest.approx(np.full(3, both[0]), abs=1e-6)
    assert 0 <= both[0] <= 1


def test_impossible_configurations_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mam.data.generate.pathfinder.FRESH_STARTS", 5)
    with pytest.raises(ValueError, match="border 3"):
        DashConfig(border=3)
    tight = replace(PathfinderConfig(), dashes=DashConfig(size=150), long=(60, 60))
    with pytest.raises(ValueError, match="make `size` larger"):
        make_pathfinder(tight, 0, 0)


def drawn_turn(stroke: Stroke) -> float:
    """Degrees from a stroke's angle to the long axis of its ON pixels."""
    pixels = np.argwhere(stroke_sprite(stroke.angle, 5, 2, 2, SPRITE_RADIUS) > ON)
    row, col = np.linalg.eigh(np.cov(pixels.T))[1][:, 1]
    turn = np.arctan2(row, col) - stroke.angle
    return float(np.rad2deg((turn + np.pi / 2) % np.pi - np.pi / 2))


def test_rounding_turns_strokes_as_the_docs_say() -> None:
    made = [make_pathfinder(LEVELS["hard"], 0, row) for row in range(40)]
    angles = {s.angle: s for row in made for c in row.segments for s in c[1:]}
    assert len(angles) == 48  # 49 tips, two of them in the same direction
    turns = np.abs([drawn_turn(stroke) for stroke in angles.values()])
    assert 4 < turns.mean() < 4.5 and 15 < turns.max() < 15.1


def test_ends_are_rounded_up_but_not_for_an_inexact_sine() -> None:
    whole = stroke_sprite(-np.pi, 5, 2, 2, SPRITE_RADIUS)
    np.testing.assert_array_equal(whole, stroke_sprite(np.pi, 5, 2, 2, SPRITE_RADIUS))
