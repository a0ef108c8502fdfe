"""Levels draw from random numbers of their own."""

from dataclasses import replace

import numpy as np
import pytest

from mam.data import LEVELS, make_row, recipe
from mam.data.generate.draws import generator
from mam.data.generate.pathfinder import PathfinderConfig, make_pathfinder


@pytest.mark.parametrize("kind", LEVELS)
def test_no_two_levels_share_a_stream(kind: str) -> None:
    streams = [config.stream for config in LEVELS[kind].values()]
    assert len(set(streams)) == len(streams) and min(streams) > 0
    drawn = {generator(config.stream, 3, 7).integers(1 << 40) for config in LEVELS[kind].values()}
    assert len(drawn) == len(streams)


def test_labels_of_two_levels_are_independent() -> None:
    easy, medium = (
        [make_row(recipe("pathfinder", level, 5), row).label for row in range(24)]
        for level in ("easy", "medium")
    )
    assert 2 < np.sum(np.array(easy) == medium) < 22


def test_a_changed_level_keeps_its_draws() -> None:
    level = LEVELS["pathfinder"]["easy"]
    usual, larger = (make_pathfinder(c, 0, 1) for c in (level, replace(level, marker_radius=7.0)))
    np.testing.assert_array_equal(usual.clean, larger.clean)
    assert (usual.image != larger.image).any()
    assert PathfinderConfig().stream == 0
