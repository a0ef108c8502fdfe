"""What programs choose on an accelerator, run on a host: larger batches, the same answers."""

import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import ndimage

from mam.core.tile_sums import tile_sums
from mam.infer import passing
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.elastic import forward
from mam.vision.elastic import match as matching
from mam.vision.elastic.forward import extent_of, lattice_scores, residue_grids, tiles_of
from mam.vision.elastic.letters import letter_rest, letter_search
from mam.vision.elastic.letters.letter_search import LetterLibrary
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.springs import elastic_edges
from mam.vision.images.photo_edges import TYPES
from mam.vision.parts import greedy, message_cover, tiles
from mam.vision.parts.masks import CABC
from tests.vision.elastic.shapes import random_bank
from tests.vision.elastic.test_object_graphs import typed_bank
from tests.vision.elastic.test_placed_graphs import OUTSIDE, WINDOW, placed
from tests.vision.elastic.test_search import SMALL
from tests.vision.pictures import contour


def as_on_accelerator(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every module choose what it would choose there."""
    for name, module in list(sys.modules.items()):
        if name.startswith("mam.vision.") and hasattr(module, "by_device"):
            monkeypatch.setattr(module, "by_device", lambda on_cpu, on_accelerator: on_accelerator)


def test_blocks_of_a_thousand_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    several = [placed(rng, loops=True) for _ in range(350)]
    many = PlacedGraphs(*(np.concatenate(values) for values in zip(*several, strict=True)))
    scores = rng.normal(0, 3, (1, 14, 14)).astype(np.float32)
    small = match(scores, many, OUTSIDE, WINDOW, sweeps=1)
    as_on_accelerator(monkeypatch)
    monkeypatch.setattr(matching, "_BLOCK", (32, 1024))
    assert [len(block[0]) for block in matching._blocks(many)] == [1024, 26]
    large = match(scores, many, OUTSIDE, WINDOW, sweeps=1)
    np.testing.assert_array_equal(small.place, large.place)
    np.testing.assert_allclose(small.score, large.score, rtol=1e-5)


def test_batches_of_masks_and_of_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    masks = [np.zeros((20, 20 + count), bool) for count in range(12)]
    for mask in masks:
        row, col = rng.integers(2, 8, 2)
        mask[row : row + 6, col : col + 11] = True
    part = np.ones((3, 3), bool)
    vertices = greedy.greedy_cover(masks, part, CABC)
    edges = elastic_edges(vertices)
    as_on_accelerator(monkeypatch)
    monkeypatch.setattr(greedy, "_BATCH", (8, 16))  # 256 would take a core long
    for one, other in zip(vertices, greedy.greedy_cover(masks, part, CABC), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(edges, elastic_edges(vertices), strict=True):
        np.testing.assert_array_equal(one.ends, other.ends)
        np.testing.assert_array_equal(one.radius, other.radius)


def test_graphs_on_a_lattice_one_by_one_and_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    bank, lattice, step = typed_bank(3, graphs=9), (7, 8), 3
    maps = np.random.default_rng(3).normal(size=(TYPES, 20, 24, 2)).astype(np.float32)
    grids = residue_grids(jnp.asarray(maps), lattice, step, extent_of(bank, 64), -0.5)
    known = tiles_of(bank, np.arange(9), 16, step, power=0.6)
    one_by_one = lattice_scores(grids, known, lattice)
    as_on_accelerator(monkeypatch)
    np.testing.assert_allclose(one_by_one, lattice_scores(grids, known, lattice), rtol=1e-5)
    monkeypatch.setattr(forward, "on_one_gpu", lambda: True)
    monkeypatch.setattr(forward, "tile_sums", partial(tile_sums, interpret=True))
    np.testing.assert_allclose(one_by_one, lattice_scores(grids, known, lattice), rtol=1e-5)
    alone = known._replace(type=None)
    by_program = lattice_scores(grids, alone, lattice)
    monkeypatch.undo()
    np.testing.assert_allclose(lattice_scores(grids, alone, lattice), by_program, rtol=1e-5)


def test_sums_of_tiles_are_written_for_a_gpu() -> None:
    bank, grids = typed_bank(3, graphs=4), jnp.zeros((TYPES + 1, 3, 3, 12, 12, 2))
    known = tiles_of(bank, np.arange(4), 4, 3, power=0.6)
    assert known.type is not None
    arrays = [jnp.asarray(one) for one in (known.type, known.tile, known.count)]
    program = jax.jit(lambda grids: tile_sums(grids, *arrays, (7, 8)))
    lowered = program.trace(grids).lower(lowering_platforms=("cuda",))
    assert "tile_sums" in lowered.as_text()


def test_letters_searched_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    library = LetterLibrary.of(random_bank(9, graphs=6), SMALL)
    rng = np.random.default_rng(0)
    states = [np.where(rng.random((30, n)) < 0.3, 1, -1).astype(np.int8) for n in (30, 40, 33)]
    alone = letter_search.search(states, library)
    close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-4)
    for sizes in ([2], [1, 2]):  # the second batch is filled up; it is a small one
        monkeypatch.setattr(letter_search, "batch_sizes", lambda sizes=sizes: sizes)
        jax.tree.map(close, alone, letter_search.search(states, library))


def test_letters_searched_without_leaving_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    bank, rng = random_bank(9, graphs=6), np.random.default_rng(0)
    states = [np.where(rng.random((30, n)) < 0.3, 1, -1).astype(np.int8) for n in (30, 40, 33)]
    chances = [rng.normal(size=8) for _ in states]

    def looked() -> list:
        library = LetterLibrary.of(bank, SMALL)
        first = letter_search.search(states, library)
        kept = [chance[: len(one.single)] for chance, one in zip(chances, first, strict=True)]
        return [first, letter_rest.look_again(first, states, kept, library)]

    on_host = looked()
    monkeypatch.setattr(letter_search, "on_one_gpu", lambda: True)
    monkeypatch.setattr(matching, "_BLOCK", (8, 8))  # several, the last one filled up
    assert LetterLibrary.of(bank, SMALL).on_device
    on_device = looked()
    assert all(isinstance(leaf, np.ndarray | int | float) for leaf in jax.tree.leaves(on_device))
    jax.tree.map(partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-4), on_host, on_device)


def test_no_candidates_are_matched_on_a_device_as_on_a_host() -> None:
    shapes, nothing = random_bank(9, graphs=2).shapes, np.zeros(0, np.int32)
    none = place_graphs(shapes, nothing, nothing, np.zeros((0, 2), np.int32))
    scores = jnp.zeros((1, 20, 20))
    for graphs in (none, jax.tree.map(jnp.asarray, none)):
        found = matching.match(scores, graphs, -1.0, 5, 1)
        assert found.place.shape == none.reference.shape and found.score.shape == (0,)


def test_blobs_covered_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    blobs = [ndimage.gaussian_filter(rng.random((40, 44)), 4) > 0.51 for _ in range(5)]
    disc = np.hypot(*np.mgrid[-3:4, -3:4]) < 3.3
    monkeypatch.setattr(message_cover, "_CELLS", (1 << 12, 1 << 13))
    monkeypatch.setattr(message_cover, "_LATE", (1 << 12, 1 << 13))
    alone = message_cover.message_cover(blobs, disc, CABC)
    assert all(len(places) for places in alone)
    as_on_accelerator(monkeypatch)
    for one, other in zip(alone, message_cover.message_cover(blobs, disc, CABC), strict=True):
        np.testing.assert_array_equal(one, other)


def test_messages_summed_in_turn_and_at_once() -> None:
    rng = np.random.default_rng(4)
    store = jnp.asarray(rng.normal(size=(20, 5)).astype(np.float32))
    slots = jnp.asarray(rng.integers(0, 25, (4, 7)))  # beyond the end: padding
    at_once = passing._summed_at_once(store, slots)
    np.testing.assert_allclose(passing._summed_in_turn(store, slots), at_once, rtol=1e-5, atol=1e-6)


def test_contours_by_tiles_of_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = [contour(number)[60:180, 60:180] for number in range(3)]
    host = ContourGrouper.load("contours").predict(pictures)
    as_on_accelerator(monkeypatch)
    assert tiles.tiles_at_once() == 64
    monkeypatch.setattr(tiles, "tiles_at_once", lambda: 4)  # 64 would take a core long
    for one, other in zip(host, ContourGrouper.load("contours").predict(pictures), strict=True):
        assert one.group.tolist() == other.group.tolist() and len(one) > 1
        assert one.score == pytest.approx(other.score)
        assert one.proof == other.proof == "exact"
