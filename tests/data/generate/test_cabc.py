"""The cABC generator keeps its promises on every row."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import ImageFont

from mam.data import find_rings, make_cabc
from mam.data.generate.cabc import LEVELS
from mam.data.generate.letters import HERSHEY_FACES, LETTERS, hershey_face, load_faces, outline_face
from mam.data.generate.thinning import thin_to_strokes
from mam.data.generate.warp import Affine
from mam.data.raster import distance_to

rows = st.integers(0, 10_000)
levels = st.sampled_from(sorted(LEVELS))


@settings(max_examples=25)
@given(levels, rows)
def test_markers_and_label_agree_with_the_letters(level: str, row: int) -> None:
    config = LEVELS[level]
    made = make_cabc(config, 0, row)
    first, second = (int(made.letters[r, c]) for r, c in made.markers)
    assert first == 1
    assert second == (1 if made.label else 2)
    gap = np.hypot(*(made.markers[0] - made.markers[1]))
    assert gap >= 2 * config.marker_radius - 1
    # A ring never covers the other letter's ink at its centre.
    for (r, c), bit in zip(made.markers, (first, second), strict=True):
        other = (made.letters & (3 - bit)) > 0
        assert distance_to(other)[r, c] >= config.marker_radius


@settings(max_examples=25)
@given(levels, rows)
def test_rings_are_drawn_where_the_row_says(level: str, row: int) -> None:
    made = make_cabc(LEVELS[level], 1, row)
    found = find_rings(made.image, "test")
    forth = np.abs(found - made.markers).max()
    back = np.abs(found[::-1] - made.markers).max()
    assert min(forth, back) <= 1


@pytest.mark.parametrize("row", [391, 446, 565])
def test_dots_that_form_a_third_ring_by_chance_are_no_marker(row: int) -> None:
    made = make_cabc(LEVELS["medium"], 2027, row)
    found = find_rings(made.image, "test")
    assert sorted(found.tolist()) == sorted(made.markers.tolist())


@settings(max_examples=25)
@given(levels, rows)
def test_image_is_letters_plus_rings(level: str, row: int) -> None:
    config = LEVELS[level]
    made = make_cabc(config, 2, row)
    grid = np.mgrid[: config.size, : config.size]
    near = np.minimum(*(np.hypot(grid[0] - r, grid[1] - c) for r, c in made.markers))
    away = near > config.marker_radius + 4
    assert np.array_equal(made.image[away] > 0, made.letters[away] > 0)
    assert set(np.unique(made.letters)) <= {0, 1, 2, 3}
    assert ((made.categories >= 0) & (made.categories < 26)).all()


def test_a_row_depends_on_seed_and_number_only() -> None:
    one, two = (make_cabc(LEVELS["hard"], 5, 17) for _ in range(2))
    assert np.array_equal(one.image, two.image)
    assert not np.array_equal(one.image, make_cabc(LEVELS["hard"], 6, 17).image)


def test_easy_letters_share_their_transform_and_lie_opposite() -> None:
    for row in range(10):
        made = make_cabc(LEVELS["easy"], 3, row)
        centres = []
        for bit in (1, 2):
            r, c = np.nonzero(made.letters & bit)
            centres.append([(r.min() + r.max()) / 2 - 175, (c.min() + c.max()) / 2 - 175])
        one, two = centres
        cosine = np.dot(one, two) / np.linalg.norm(one) / np.linalg.norm(two)
        assert cosine < -0.9


@pytest.mark.parametrize("name", HERSHEY_FACES)
def test_hershey_faces_have_every_letter(name: str) -> None:
    face = hershey_face(name)
    assert sorted(face) == list(LETTERS)
    for lines in face.values():
        points = np.concatenate(lines)
        assert np.isfinite(points).all()
        assert points.min(axis=0) == pytest.approx(-points.max(axis=0))
        assert 0.8 < np.ptp(points[:, 0]) < 1.6


def test_unknown_face_is_refused() -> None:
    with pytest.raises(ValueError, match="no such Hershey face"):
        hershey_face("comic")


def _any_font(tmp_path: Path) -> Path:
    """Pillow's own bundled font, written to a file."""
    font = ImageFont.load_default(size=20)
    if not isinstance(font, ImageFont.FreeTypeFont):
        pytest.skip("Pillow was built without FreeType")
    path = tmp_path / "font.ttf"
    path.write_bytes(font.font_bytes)
    return path


def test_outline_fonts_are_thinned_to_strokes(tmp_path: Path) -> None:
    path = _any_font(tmp_path)
    face = outline_face(path)
    assert sorted(face) == list(LETTERS)
    # The letter I is one stroke (or, with serifs, three); O is one closed curve.
    assert len(face["I"]) <= 5
    assert np.allclose(face["O"][0][0], face["O"][0][-1], atol=0.05)
    made = make_cabc(replace(LEVELS["hard"], fonts=(str(path),)), 0, 0)
    assert made.letters.any()


def test_bad_fonts_are_named(tmp_path: Path) -> None:
    path = tmp_path / "broken.ttf"
    path.write_bytes(b"not a font")
    with pytest.raises(ValueError, match=r"broken\.ttf: not a readable TrueType"):
        load_faces((str(path),))
    with pytest.raises(ValueError, match=r"missing\.ttf"):
        load_faces((str(tmp_path / "missing.ttf"),))


def test_thinning_a_cross_gives_four_arms() -> None:
    cross = np.zeros((81, 81), bool)
    cross[37:44, 5:76] = True
    cross[5:76, 37:44] = True
    lines = thin_to_strokes(cross)
    lengths = [np.hypot(*np.diff(line, axis=0).T).sum() for line in lines]
    assert sum(length > 20 for length in lengths) == 4
    # The whole skeleton is about as long as the two bars, less half a thickness at each end.
    assert 110 < sum(lengths) < 145


def test_affine_scales_by_powers_of_one_half() -> None:
    matrix = Affine((1.0, -1.0), 0.0, 0.0).matrix()
    assert matrix == pytest.approx(np.diag([0.5, 2.0]))
    quarter = Affine((0.0, 0.0), 90.0, 0.0).matrix()
    assert quarter @ [1.0, 0.0] == pytest.approx([0.0, -1.0])


def test_impossible_overlap_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mam.data.generate.cabc._FRESH_STARTS", 2)
    never = replace(LEVELS["easy"], most_overlap=0.0)
    with pytest.raises(ValueError, match="overlap limits"):
        make_cabc(never, 0, 0)
