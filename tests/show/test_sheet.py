"""Contact sheets show what they are given."""

import numpy as np
import pytest

from mam.data import ObjectRow, PictureRow, make_row, recipe
from mam.show.sheet import colour_labels, contact_sheet, row_panels


@pytest.mark.parametrize("kind", ["pathfinder", "cabc", "curves"])
def test_every_kind_of_row_has_panels(kind: str) -> None:
    row = make_row(recipe(kind, "easy", 0), 0)
    caption, panels = row_panels(row)
    assert caption and len(panels) == 2
    assert panels[0].shape == panels[1].shape
    assert panels[1].any()


def test_pictures_with_and_without_mask() -> None:
    image = np.full((10, 12, 3), 100, np.uint8)
    mask = np.zeros((10, 12), bool)
    mask[3, 4] = True
    _, (left, right) = row_panels(ObjectRow(image, mask, "cup", "scene-0000", 3))
    assert (left == 100).all()
    assert right[3, 4, 0] == 100 and right[0, 0, 0] == 25
    assert len(row_panels(PictureRow(image, None, "a.png"))[1]) == 1
    deep = np.full((4, 4), 65535, np.uint16)
    assert (row_panels(PictureRow(deep, None, "deep"))[1][0] == 255).all()


def test_panels_keep_their_pixels() -> None:
    rng = np.random.default_rng(0)
    panels = [rng.integers(0, 255, (20, 25, 3), dtype=np.uint8) for _ in range(5)]
    sheet = contact_sheet([(f"row {k}", [panel]) for k, panel in enumerate(panels)], columns=2)
    for panel in panels:
        windows = np.lib.stride_tricks.sliding_window_view(sheet, panel.shape).squeeze(2)
        assert (windows == panel).all(axis=(2, 3, 4)).sum() == 1


def test_captions_survive_any_script() -> None:
    panel = np.zeros((20, 60, 3), np.uint8)
    assert contact_sheet([("Ω → 漢", [panel])]).shape[2] == 3


def test_neighbouring_numbers_have_different_colours() -> None:
    colours = colour_labels(np.arange(256, dtype=np.uint8)[None])[0]
    assert (np.diff(colours.astype(int), axis=0) != 0).any(axis=1).all()


def test_an_empty_sheet_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        contact_sheet([])
