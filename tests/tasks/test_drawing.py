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
