"""Generated objects."""

from dataclasses import replace

import numpy as np
import pytest

from mam.data import LEVELS, ObjectRow, ObjectsConfig, make_row, recipe
from mam.data.generate.objects import _object, make_objects

SMALL = ObjectsConfig(rows=160, cols=170, objects=2, frames=2)


def test_rows_depend_on_seed_and_number_alone() -> None:
    one, again = (make_objects(SMALL, 3, 5) for _ in range(2))
    assert np.array_equal(one.image, again.image) and np.array_equal(one.mask, again.mask)
    assert (one.name, one.scene, one.frame) == ("object-0", "scene-0002", 1)
    assert not np.array_equal(one.image, make_objects(SMALL, 4, 5).image)


def test_masks_lie_on_the_object() -> None:
    quiet = replace(SMALL, noise=0.0)
    row = make_objects(quiet, 0, 0)
    texture, shape = _object(np.random.default_rng([0, 0, 3]))
    colours = {tuple(c) for c in np.rint(texture[shape] * 255).astype(int) // 40}
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
