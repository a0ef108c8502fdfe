"""Generated objects, published depths, and nested scenes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from made_layouts import save, shelf_scene

from mam.data import LEVELS, ObjectRow, ObjectsConfig, layout_of, make_row, recipe, rows_of
from mam.data.depth import read_depth
from mam.data.objects import make_objects, picture_of_object
from mam.data.scenes import scene_rows

SMALL = ObjectsConfig(rows=160, cols=170, objects=2, frames=2)


def test_rows_depend_on_seed_and_number_alone() -> None:
    one, again = (make_objects(SMALL, 3, 5) for _ in range(2))
    assert np.array_equal(one.image, again.image) and np.array_equal(one.mask, again.mask)
    assert (one.name, one.scene, one.frame) == ("object-0", "scene-0002", 1)
    assert not np.array_equal(one.image, make_objects(SMALL, 4, 5).image)


def test_masks_lie_on_the_object() -> None:
    quiet = replace(SMALL, noise=0.0)
    row = make_objects(quiet, 0, 0)
    colours = {tuple(c) for c in (picture_of_object(0, 0).reshape(-1, 3) // 40).tolist()}
    inside = (row.image[row.mask] // 40).tolist()
    assert np.mean([tuple(colour) in colours for colour in inside]) > 0.9
    assert 2000 < row.mask.sum() < 12000


def test_frames_of_a_scene_are_alike() -> None:
    first, second, other = (make_objects(SMALL, 0, row) for row in (0, 1, 4))
    assert first.scene == second.scene != other.scene
    overlap = (first.mask & second.mask).sum() / (first.mask | second.mask).sum()
    assert 0.3 < overlap < 1


def test_levels_and_bad_settings() -> None:
    assert set(LEVELS["objects"]) == {"easy", "medium", "hard"}
    assert isinstance(make_row(recipe("objects", "easy", 0), 0), ObjectRow)
    for wrong in ({"rows": 100}, {"objects": 0}, {"size": (0.1, 1.0)}, {"view": 2.0}):
        with pytest.raises(ValueError, match=r"px at least|at least one|must lie in"):
            ObjectsConfig(**wrong)


def test_depth_is_read_in_metres_without_holes(tmp_path: Path) -> None:
    root = shelf_scene(tmp_path)
    scene = root / "scene-0000"
    size = next(iter(rows_of(str(root)))).mask.shape
    tenths = np.full(size, 12345, np.uint16)
    tenths[2:4, 2:4] = 0
    save(scene / "frame-000000.depth.png", (tenths << 3) | (tenths >> 13))
    rows = list(scene_rows(root, depth=True))
    assert rows[0].depth is not None and rows[-1].depth is None  # one frame has none
    np.testing.assert_allclose(rows[0].depth, 1.2345, rtol=1e-5)
    assert all(row.depth is None for row in scene_rows(root))
    bad = save(tmp_path / "bad.png", np.zeros((4, 4), np.uint8))
    with pytest.raises(ValueError, match="16-bit grey image of depths"):
        read_depth(bad)


def test_scenes_below_their_objects(tmp_path: Path) -> None:
    for name in ("apple", "book"):
        shelf_scene(tmp_path / "shelf" / name)
    assert layout_of(str(tmp_path)) == "scenes"
    assert {row.scene for row in scene_rows(tmp_path)} == {
        "shelf/apple/scene-0000",
        "shelf/book/scene-0000",
    }
