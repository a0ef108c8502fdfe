"""Matching on a coarse grid: against loops, against matching to the px, and on a clear image."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_coarse import best_in_squares, match_coarsely
from mam.vision.elastic.letters.letter_forward import part_scores
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.match import match, window_scores
from mam.vision.elastic.placed_graphs import place_graphs
from mam.vision.elastic.search import MatchedGraphs, ScoredImages, SearchConfig
from tests.vision.elastic.shapes import PLUS, random_bank

OUTSIDE = -5.0


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(0, 99))
def test_the_best_of_a_square_is_that_of_its_pixels(
    rows: int, cols: int, step: int, seed: int
) -> None:
    scores = np.random.default_rng(seed).normal(size=(2, rows, cols)).astype(np.float32)
    found = np.asarray(best_in_squares(scores, step, -100.0))
    assert found.shape == scores.shape
    tall, wide = -(-rows // step), -(-cols // step)
    assert (found[:, tall:] == -100.0).all() and (found[:, :, wide:] == -100.0).all()
    for place in np.ndindex(tall, wide):
        row, col = (step * at for at in place)
        inside = scores[:, row : row + step, col : col + step].max((1, 2))
        np.testing.assert_array_equal(found[(slice(None), *place)], inside)


def _matched(bank: Bank, images: ScoredImages, step: int, corner: np.ndarray) -> MatchedGraphs:
    graph, config = np.arange(len(bank)), SearchConfig(window=7)
    image = np.zeros(len(bank), int)
    return match_coarsely(images, bank.shapes, image, graph, corner, config, step)


@pytest.mark.parametrize("seed", range(3))
def test_squares_of_a_pixel_are_the_matching_to_the_pixel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bank = random_bank(seed)
    images = ScoredImages(rng.normal(size=(1, 30, 30)).astype(np.float32), OUTSIDE)
    corner = rng.integers(-3, 9, (len(bank), 2))
    config, graph = SearchConfig(window=7), np.arange(len(bank))
    exact = images.match(bank.shapes, np.zeros(len(bank), int), graph, corner, config)
    coarse = _matched(bank, images, 1, corner)
    for name in exact.matched._fields:
        one, other = (getattr(found.matched, name) for found in (exact, coarse))
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("shift", [(0, 0), (1, 3), (5, 2), (6, 6)])
def test_vertices_go_where_their_parts_are_drawn(shift: tuple[int, int]) -> None:
    bank = random_bank(4, graphs=1)
    own = bank.vertices[0, : bank.vertex_count[0]].astype(int) + np.array([6, 6])
    truth = own + np.array(shift)
    evidence = np.full((1, 48, 48), -1.0, np.float32)
    for row, col in truth:
        evidence[0, row - 1 : row + 2, col - 1 : col + 2][PLUS] = 1.0
    images = ScoredImages(part_scores(evidence, PLUS, -1.0), OUTSIDE)
    found = _matched(bank, images, 2, np.array([[6, 6]]))
    places = found.place[0, : len(truth)]
    # Each vertex is on a part, and no farther from its own than the squares and radii allow.
    assert found.matched.score[0] == pytest.approx(5.0 * len(truth))
    assert np.abs(places - truth).max() <= 2 * (1 + int(bank.radius.max()))
    np.testing.assert_array_equal(found.placed.reference[0, : len(truth)], own)
    assert found.window == 7


def test_a_pull_is_taken_off_by_the_squared_distance_from_the_reference() -> None:
    bank = random_bank(2, graphs=1)
    placed = place_graphs(bank.shapes, np.zeros(1, int), np.zeros(1, int), np.array([[5, 5]]))
    scores = np.random.default_rng(0).normal(size=(1, 40, 40)).astype(np.float32)
    free = np.asarray(window_scores(jnp.asarray(scores), placed, 5, OUTSIDE))
    drawn = np.asarray(window_scores(jnp.asarray(scores), placed, 5, OUTSIDE, 0.5))
    away = np.array([(row - 2) ** 2 + (col - 2) ** 2 for row in range(5) for col in range(5)])
    np.testing.assert_allclose(free - drawn, np.broadcast_to(0.5 * away, free.shape), atol=1e-5)


def test_of_equal_places_the_reference_is_taken() -> None:
    bank = random_bank(6)
    placed = place_graphs(
        bank.shapes, np.zeros(len(bank), int), np.arange(len(bank)), np.full((len(bank), 2), 4)
    )
    flat = np.ones((1, 60, 60), np.float32)
    found = match(flat, placed, OUTSIDE, 7, 1, pull=0.01)
    there = placed.there
    np.testing.assert_array_equal(found.place[there], placed.reference[there] + 3)
    assert found.score == pytest.approx(there.sum(1))


def test_all_matchings_of_a_search_have_windows_of_one_size() -> None:
    """Each size would compile programs of its own, which take longer than many images."""
    config = LetterSearchConfig()
    assert {again.window for again in config.rounds} == {-(-config.window // config.coarse)}
