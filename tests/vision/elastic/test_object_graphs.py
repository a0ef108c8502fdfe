"""Points, poses, outlines, and the forward pass with typed parts against a plain sum."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.forward import extent_of
from mam.vision.elastic.found import outline_of
from mam.vision.elastic.match import match
from mam.vision.elastic.photographs.object_forward import LatticeConfig, all_tiles, try_all
from mam.vision.elastic.photographs.object_learning import pick_points
from mam.vision.elastic.photographs.outline import filled, hull, iou, moved_along
from mam.vision.elastic.placed_graphs import place_graphs
from mam.vision.elastic.springs import elastic_edges
from mam.vision.images.photo_edges import TYPES


@given(st.integers(0, 1000), st.floats(2, 9))
def test_points_are_apart_and_leave_no_room(seed: int, distance: float) -> None:
    rng = np.random.default_rng(seed)
    points = np.unique(rng.integers(0, 30, (60, 2)), axis=0)
    chosen = points[pick_points(points, distance, rng)]
    apart = np.hypot(*(chosen[:, None] - chosen).T) + np.eye(len(chosen)) * 1e3
    assert apart.min() >= distance
    assert (np.hypot(*(points[:, None] - chosen).T).min(0) < distance).all()


def typed_bank(seed: int, graphs: int = 4) -> Bank:
    rng = np.random.default_rng(seed)
    places = [
        np.unique(rng.integers(0, 14, (int(rng.integers(2, 7)), 2)), axis=0) for _ in range(graphs)
    ]
    types = [rng.integers(0, TYPES, len(one)) for one in places]
    return Bank.of(places, elastic_edges(places), np.ones((1, 1), bool), types=types)


@settings(max_examples=10)
@given(st.integers(0, 100))
def test_the_best_anchors_are_those_of_a_plain_sum(seed: int) -> None:
    bank, config = typed_bank(seed), LatticeConfig(step=3, border=6, each=2)
    maps = np.random.default_rng(seed).normal(size=(TYPES, 20, 26)).astype(np.float32)
    tiles, extent = all_tiles(bank, config), extent_of(bank, 64)
    found = try_all(jnp.asarray(maps), tiles, len(bank), extent, -0.5, config)
    padded = np.pad(maps, ((0, 0), (6, 60), (6, 60)), constant_values=-0.5)
    assert bank.type is not None
    for graph in range(len(bank)):
        count = int(bank.vertex_count[graph])
        scores = {}
        for row in range(-6, 20, 3):
            for col in range(-6, 26, 3):
                places = bank.vertices[graph, :count] + (row + 6, col + 6)
                values = padded[bank.type[graph, :count], places[:, 0], places[:, 1]]
                scores[row, col] = values.sum() / count**config.power
        best = sorted(scores.values(), reverse=True)[:2]
        np.testing.assert_allclose(found.score[graph], best, rtol=1e-4, atol=1e-5)
        for score, anchor in zip(found.score[graph], found.anchor[graph], strict=True):
            np.testing.assert_allclose(score, scores[tuple(anchor.tolist())], rtol=1e-4, atol=1e-5)


def test_an_accelerator_ranks_as_a_cpu_does(monkeypatch: pytest.MonkeyPatch) -> None:
    bank = typed_bank(3)
    maps = jnp.asarray(np.random.default_rng(3).normal(size=(TYPES, 22, 22)), jnp.float32)
    found = []
    for border in (4, 8):  # another shape is compiled anew
        config = LatticeConfig(step=4, border=border, each=1)
        tiles, extent = all_tiles(bank, config), extent_of(bank, 64)
        found.append(try_all(maps, tiles, len(bank), extent, -9.0, config))
        monkeypatch.setattr("jax.default_backend", lambda: "tpu")
    # So much is lost beyond the border that the best anchors lie inside.
    np.testing.assert_allclose(found[0].score, found[1].score, rtol=1e-5)
    np.testing.assert_array_equal(found[0].anchor, found[1].anchor)


def test_matching_reads_the_map_of_each_vertex_own_type() -> None:
    bank = Bank.of(
        [np.array([[0, 0], [0, 6]])],
        elastic_edges([np.array([[0, 0], [0, 6]])]),
        np.ones((1, 1), bool),
        types=[np.array([2, 5])],
    )
    maps = np.zeros((TYPES, 20, 20), np.float32)
    maps[2, 9, 8] = maps[5, 10, 14] = 1.0
    maps[5, 9, 8] = maps[2, 10, 14] = maps[3, 8, 8] = 9.0  # the wrong types
    maps[2, 10, 14] = 0.0
    zeros = np.zeros(1, np.int32)
    graphs = place_graphs(bank.shapes, zeros, zeros, np.array([[6, 5]]))
    found = match(maps, graphs, -1.0, 7, 1)
    assert found.place[0, :2].tolist() == [[9, 8], [10, 14]]
    assert found.score[0] == 2.0 and found.broken[0] == 0


def test_types_follow_their_vertices() -> None:
    places, types = np.array([[5, 3], [5, 9], [5, 6]]), np.array([1, 2, 3])
    bank = Bank.of([places], elastic_edges([places]), np.ones((1, 1), bool), types=[types])
    assert bank.type is not None
    known = dict(zip(map(tuple, (places - (5, 3)).tolist()), types.tolist(), strict=True))
    for place, kind in zip(bank.vertices[0].tolist(), bank.type[0], strict=True):
        assert known[tuple(place)] == kind


@given(st.floats(0.8, 1.2), st.floats(-20, 20))
def test_an_outline_moves_with_its_parts(scale: float, shift: float) -> None:
    mask = np.zeros((120, 120), bool)
    mask[30:70, 40:90] = True
    parts = np.argwhere(mask)[::37]
    moved = moved_along(outline_of(mask), parts, (parts - 55) * scale + 55 + shift)
    low, high = (np.array([[30, 40], [70, 90]]) - 55.5) * scale + 55.5 + shift
    truth = np.zeros_like(mask)
    truth[tuple(slice(round(a), round(b)) for a, b in zip(low, high, strict=True))] = True
    assert iou(filled(moved, (120, 120)), truth) > 0.8


def test_hulls_of_few_points() -> None:
    assert hull(np.array([[2, 2], [2, 5]]), (8, 8)).sum() == 2
    assert hull(np.array([[-4, 2], [2, 5], [9, 3]]), (8, 8)).any()
    assert iou(np.zeros((3, 3), bool), np.zeros((3, 3), bool)) == 0.0
