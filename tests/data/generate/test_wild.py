"""Wild curves: every kind keeps its promises on every row."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import ndimage

from mam.data import make_row, recipe, rows_of, write_dataset
from mam.data.generate.wild import KINDS, WILD, WildConfig, make_wild
from mam.data.generate.wild_lines import Room, crossings, is_clear
from mam.data.schema import CurvesRow

_EIGHT = np.ones((3, 3))


def row_of(kind: str, row: int = 1) -> CurvesRow:
    return make_wild(replace(WILD, kind=kind), 3, row)


@pytest.mark.parametrize("kind", KINDS)
def test_masks_labels_and_picture_agree(kind: str) -> None:
    made = row_of(kind)
    assert made.name == f"{kind}/1" and made.masks is not None and made.image is not None
    np.testing.assert_array_equal(made.masks.any(0), made.mask)
    one = made.masks.sum(0) == 1
    np.testing.assert_array_equal(made.labels > 0, one)
    for number, mask in enumerate(made.masks, 1):
        assert (made.labels[mask & one] == number).all() and (mask & one).sum() > 50
    # Ink is darker than the paper around it, in every light.
    ink, near = made.mask, ndimage.binary_dilation(made.mask, _EIGHT, 6) & ~made.mask
    assert made.image[ink].mean() < made.image[near].mean() - 20


def test_a_row_depends_on_seed_and_number_alone() -> None:
    kinds = tuple(KINDS)
    for number in (1, 19):
        row = make_row(recipe("curves", "wild", 5), number)
        again = make_row(recipe("curves", "wild", 5), number)
        assert isinstance(row, CurvesRow) and isinstance(again, CurvesRow)
        assert row.name == f"{kinds[number % len(kinds)]}/{number}"
        np.testing.assert_array_equal(row.image, again.image)


def pieces(mask: np.ndarray) -> int:
    return int(ndimage.label(mask, _EIGHT)[1])  # type: ignore[index]


@pytest.mark.parametrize(
    "kind", ["noise", "walks", "corners", "widths", "light", "trees", "shared"]
)
def test_whole_curves_are_in_one_piece(kind: str) -> None:
    made = row_of(kind)
    assert made.masks is not None
    assert [pieces(mask) for mask in made.masks] == [1] * len(made.masks)


@pytest.mark.parametrize("kind", ["dashes", "dots", "cuts"])
def test_broken_curves_are_in_many(kind: str) -> None:
    made = row_of(kind)
    assert made.masks is not None and min(pieces(mask) for mask in made.masks) >= 3


def test_the_pen_swells_fourfold() -> None:
    made = row_of("widths")
    assert made.masks is not None
    deep = ndimage.distance_transform_edt(made.masks[0])
    ridge = deep[(deep > 0) & (deep == ndimage.maximum_filter(deep, 5))]
    low, high = np.quantile(2 * ridge, [0.05, 0.95])
    assert high / low > 2.5


def test_lines_that_share_a_stretch_do() -> None:
    made = row_of("shared")
    assert made.masks is not None
    both = made.masks.all(0)
    assert np.ptp(np.flatnonzero(both.any(0))) > 30


def test_crossings_are_clear() -> None:
    across = np.stack([np.full(100, 50.0), 2.0 * np.arange(100)], 1)
    down, along = across[:, ::-1] + np.array([0, 50]), across + np.array([6, 0])
    assert len(crossings(across, down)) == 1
    assert is_clear(across, down, Room()) and not is_clear(across, along, Room())
    assert not is_clear(across, down + np.array([46, 0]), Room())  # it crosses at its end


def test_a_written_set_has_all_columns(tmp_path: Path) -> None:
    file = tmp_path / "walks.parquet"
    made = recipe("curves", "wild", 2)
    write_dataset(replace(made, config=replace(made.config, kind="walks")), 2, file)
    rows = list(rows_of(str(file)))
    assert [row.name for row in rows] == ["walks/0", "walks/1"]
    for number, row in enumerate(rows):
        expected = make_wild(replace(WILD, kind="walks"), 2, number)
        np.testing.assert_array_equal(row.masks, expected.masks)
        np.testing.assert_array_equal(row.image, expected.image)


@pytest.mark.parametrize(
    "wrong", [{"kind": "lace"}, {"curves": (0, 2)}, {"width": (1, 4)}, {"rows": 100}], ids=str
)
def test_wrong_configurations_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"must|needs"):
        WildConfig(**wrong)
