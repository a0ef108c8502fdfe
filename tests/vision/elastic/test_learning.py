"""Vertices, edges and banks against slow and literal versions of themselves."""

import heapq
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.data import make_row, recipe
from mam.data.raster import disc
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.elastic.springs import FACTOR, TOLERANCE, elastic_edges
from mam.vision.elastic.variants import VariantConfig, with_variants
from mam.vision.parts.greedy import greedy_cover
from mam.vision.parts.masks import CABC, Parts
from mam.vision.parts.training import letter_masks
from tests.vision.elastic.shapes import PLUS, random_bank, random_vertices


def _shortest(weights: dict[tuple[int, int], float], start: int, goal: int) -> float:
    best, queue = {start: 0.0}, [(0.0, start)]
    while queue:
        length, here = heapq.heappop(queue)
        for (a, b), weight in weights.items():
            there = b if a == here else a if b == here else None
            if there is not None and length + weight < best.get(there, np.inf):
                best[there] = length + weight
                heapq.heappush(queue, (length + weight, there))
    return best.get(goal, np.inf)


def _algorithm_1(places: np.ndarray, longest: float) -> dict[tuple[int, int], float]:
    """The paper's pseudo-code before its refinement, with a search for every pair."""
    pairs = [(u, v) for u in range(len(places)) for v in range(u + 1, len(places))]
    square = {(u, v): int(((places[u] - places[v]) ** 2).sum()) for u, v in pairs}
    weights: dict[tuple[int, int], float] = {}
    for pair in sorted(pairs, key=lambda pair: (square[pair], pair)):
        distance = np.sqrt(square[pair])
        wish = max(1.0, distance / FACTOR)
        loose = _shortest(weights, *pair) > wish * TOLERANCE
        if distance < longest and loose:
            weights[pair] = np.ceil(wish)
    return weights


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([12, 40, 90]))
def test_edges_are_those_of_the_pseudo_code(seed: int, count: int, side: int) -> None:
    places = random_vertices(np.random.default_rng(seed), count, side)
    [found] = elastic_edges([places], longest=60.0)
    expected = _algorithm_1(places, longest=60.0)
    assert {tuple(sorted(pair)) for pair in found.ends.tolist()} == set(expected)
    wishes = np.maximum(1, np.hypot(*(places[found.ends[:, 0]] - places[found.ends[:, 1]]).T) / 7)
    # Balanced rounding: along the walk the errors never add up.
    assert np.all(np.abs(np.cumsum(found.radius - wishes)) <= 0.5 + 1e-6)
    assert np.all(np.abs(found.radius - wishes) < 1)


def test_the_batch_does_not_matter() -> None:
    rng = np.random.default_rng(0)
    sets = [random_vertices(rng, count, 50) for count in (3, 40, 7, 12, 33, 5, 6, 8, 9, 10)]
    for places, together in zip(sets, elastic_edges(sets), strict=True):
        [alone] = elastic_edges([places])
        np.testing.assert_array_equal(alone.ends, together.ends)
        np.testing.assert_array_equal(alone.radius, together.radius)


def _gain(image: np.ndarray, free: np.ndarray, mask: np.ndarray, row: int, col: int) -> float:
    reach = len(mask) // 2
    total = CABC.prior
    for i, j in np.argwhere(mask) - reach + [row, col]:
        if 0 <= i < image.shape[0] and 0 <= j < image.shape[1] and free[i, j]:
            total += CABC.gain if image[i, j] else -CABC.loss
    return total


@pytest.mark.parametrize("seed", range(3))
def test_greedy_cover_leaves_nothing_that_pays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    image = np.zeros((40, 44), bool)
    for _ in range(3):
        row, col = rng.integers(4, 30, 2)
        image[row : row + rng.integers(4, 9), col : col + rng.integers(5, 14)] = True
    image &= rng.random(image.shape) < 0.85
    mask = disc(4)
    [placed] = greedy_cover([image], mask, CABC)
    free = np.ones(image.shape, bool)
    for row, col in placed:
        for i, j in np.argwhere(mask) - 4 + [row, col]:
            if 0 <= i < 40 and 0 <= j < 44:
                free[i, j] = False
    assert (~free & image).sum() >= 0.8 * image.sum()
    rest = [_gain(image, free, mask, row, col) for row, col in np.argwhere(image)]
    assert max(rest) <= 1e-3


def test_letters_become_graphs_of_the_papers_size() -> None:
    made = recipe("cabc", "hard", 3)
    letters = [mask for row in range(2) for mask in letter_masks(make_row(made, row))]
    bank = learn_bank(letters)
    assert 30 < bank.vertex_count.mean() < 110
    assert 1 < (bank.edge_count / bank.vertex_count).mean() < 2.6
    radii = np.concatenate([r[:n] for r, n in zip(bank.radius, bank.edge_count, strict=True)])
    assert np.mean(radii <= 2) > 0.85
    covered = greedy_cover(letters, disc(4), CABC)
    parts = Parts(disc(4)[None], CABC)
    for letter, places in zip(letters, covered, strict=True):
        drawn = np.zeros((letter.shape[0] + 8, letter.shape[1] + 8), bool)
        for row, col in places:
            drawn[row : row + 9, col : col + 9] |= parts.masks[0]
        assert (drawn[4:-4, 4:-4] & letter).sum() > 0.8 * letter.sum()


def test_masks_that_hold_no_object_are_refused() -> None:
    mask = np.zeros((40, 40), bool)
    with pytest.raises(ValueError, match="mask 0 has no pixels"):
        learn_bank([mask])
    mask[5, 5] = mask[30, 30] = True
    with pytest.raises(ValueError, match="2 pixels in 2 pieces"):
        learn_bank([mask])
    far = np.zeros((20, 400), bool)
    far[5:15, 5:30] = far[5:15, 370:395] = True
    with pytest.raises(ValueError, match="pieces more than 200 px apart"):
        learn_bank([far])


def test_a_bank_survives_its_file(tmp_path: Path) -> None:
    bank = replace(random_bank(0), provenance={"data": "toy"})
    bank.save(tmp_path / "bank.safetensors")
    again = Bank.load(tmp_path / "bank.safetensors")
    np.testing.assert_array_equal(again.ends, bank.ends)
    assert again.provenance == {"data": "toy"} and again.mask.dtype == bool
    Parts(np.ones((1, 3, 3), bool)).save(tmp_path / "parts.safetensors")
    with pytest.raises(ValueError, match="a model of parts, where one of elastic graphs"):
        Bank.load(tmp_path / "parts.safetensors")


def test_variants_keep_the_graphs_and_their_edges() -> None:
    bank = random_bank(1)
    more, source = with_variants(bank, VariantConfig(count=3))
    np.testing.assert_array_equal(more.vertices[: len(bank)], bank.vertices)
    np.testing.assert_array_equal(more.ends, bank.ends[source])
    assert len(more) == 4 * len(bank)
    for graph in range(len(more)):
        places = more.vertices[graph, : more.vertex_count[graph]]
        assert places.min() == 0
        ends = more.ends[graph, : more.edge_count[graph]]
        away = np.hypot(*(places[ends[:, 1]] - places[ends[:, 0]]).astype(float).T)
        radius = more.radius[graph, : more.edge_count[graph]]
        assert np.all(np.abs(radius - np.maximum(1, away / 7)) < 1)


def test_the_part_is_part_of_the_bank() -> None:
    assert np.array_equal(random_bank(2).mask, PLUS)


def test_joined_banks_hold_the_graphs_of_all() -> None:
    banks = [random_bank(seed, graphs=3, vertices=4 + seed) for seed in range(3)]
    joined = Bank.joined(banks)
    assert len(joined) == 9
    for number, bank in enumerate(banks):
        part = joined.take(np.arange(3 * number, 3 * number + 3))
        np.testing.assert_array_equal(part.vertices, bank.vertices)
        np.testing.assert_array_equal(part.ends, bank.ends)
        np.testing.assert_array_equal(part.radius, bank.radius)
