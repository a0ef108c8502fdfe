"""A user's own picture: models stay loaded from one picture to the next."""

from pathlib import Path

import numpy as np
import pytest

from mam.core.model_files import bundled_file
from mam.tasks.drawing import group_drawing
from mam.vision.curves.strands.curve_grouper import CurveGrouper


def test_a_model_is_loaded_once_for_many_pictures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "curves.safetensors"
    path.write_bytes(bundled_file("curves.safetensors").read_bytes())
    loaded = []
    load = CurveGrouper.load
    monkeypatch.setattr(CurveGrouper, "load", lambda source: loaded.append(source) or load(source))
    for size in (60, 70, 80):
        picture = np.full((size, size), 255, np.uint8)
        picture[size // 2 - 2 : size // 2 + 2, 5:-5] = 0
        assert len(group_drawing(picture, model=str(path)).lines) == 1
    assert len(loaded) == 1
    # A model that was learned anew is read anew.
    path.write_bytes(path.read_bytes())
    group_drawing(picture, model=str(path))
    assert len(loaded) == 2


@pytest.mark.parametrize("crossing", [False, True])
def test_colours_tell_lines_that_touch_apart(crossing: bool) -> None:
    """Two lines touch and part again: by their colours they cross there, or not."""
    masks = np.zeros((2, 121, 121), bool)
    for column in range(5, 116):
        away = abs(column - 60) // 4
        masks[0, 58 - away : 61 - away, column] = True
        masks[1, 60 + away : 63 + away, column] = True
    other = np.arange(121) >= 60 if crossing else np.zeros(121, bool)
    picture = np.full((121, 121, 3), 255, np.uint8)
    picture[masks[0] & ~other | masks[1] & other] = (200, 30, 30)
    picture[masks[1] & ~other | masks[0] & other] = (30, 30, 200)
    upper = (46.0, 5.0), (46.0, 115.0)  # both ends of the upper line
    found = group_drawing(picture, model="curves", markers=upper)
    assert found.same.same is not crossing and found.same.margin > 2


def two_trees() -> np.ndarray:
    page = np.full((200, 300), 255, np.uint8)
    page[100:103, 20:140] = page[40:102, 79:82] = 0
    page[20:190, 220:223] = page[100:103, 220:290] = 0
    return page


def test_a_tree_is_one_curve_with_several_lines() -> None:
    found = group_drawing(two_trees(), model="curves", branches=True)
    assert "2 curves with 4 lines" in repr(found) and len(found.lines) == 4
    assert sorted(found.curves) == [0, 0, 1, 1] and len(found.masks) == 2
    assert not (found.masks[0] & found.masks[1]).any()
    # Each place is on the strand that is drawn there, whichever of the tree's lines that is.
    grouped, places = found.found, [(101, 30), (50, 80), (101, 130), (150, 221)]
    assert grouped is not None and len({grouped.stroke_at(place) for place in places}) == 4
    branch = grouped.same(places[0], places[1])
    assert branch.same and 0 < branch.margin < np.inf
    assert not grouped.same(places[0], places[3]).same
