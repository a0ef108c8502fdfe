"""Published depths, and nested scenes."""

from pathlib import Path

import numpy as np
import pytest
from made_layouts import save, shelf_scene

from mam.data import layout_of, rows_of
from mam.data.read.depth import read_depth
from mam.data.read.scenes import scene_rows


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
