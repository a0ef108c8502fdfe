"""The object-specific attention model against listings of placements and the fast path."""

import itertools
from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.merged_letters import ABSENT, LetterModel, PlacedLetter, letter_model
from mam.infer import enumerate_exactly, solve
from mam.infer.evaluate import score as score_states
from mam.infer.problem import Problem
from mam.infer.toulbar import solve_with_toulbar2
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_forward import part_scores
from mam.vision.elastic.letters.letter_pairs import PairConfig, pair_scores
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.springs import Edges
from tests.vision.elastic.shapes import PLUS, random_vertices

pytest.importorskip("pytoulbar2")

SHAPE = (7, 8)
OFF = 0.89
BEYOND = -500.0  # the fast path may leave the image, the formal model may not


def small_bank(rng: np.random.Generator, graphs: int, most: int, loops: bool) -> Bank:
    """Graphs of 2 or more vertices: trees, or with one edge more."""
    vertices, edges = [], []
    for _ in range(graphs):
        count = int(rng.integers(2, most + 1))
        ends = [(int(rng.integers(v)), v) for v in range(1, count)]
        others = [p for p in itertools.combinations(range(count), 2) if p not in ends]
        if loops and others:
            ends.append(others[int(rng.integers(len(others)))])
        vertices.append(random_vertices(rng, count, 5))
        edges.append(Edges(np.array(ends), rng.integers(0, 2, len(ends))))
    return Bank.of(vertices, edges, PLUS)


def placed_in(bank: Bank, rng: np.random.Generator) -> PlacedGraphs:
    """Every graph once, somewhere near the corner of the image."""
    corner = rng.integers(-1, 3, (len(bank), 2))
    return place_graphs(bank.shapes, np.zeros(len(bank), int), np.arange(len(bank)), corner)


def placements(graphs: PlacedGraphs, window: int) -> Iterator[PlacedLetter]:
    """All ways to place any of the graphs in the image, by the definition of an elastic graph."""
    grid = np.array(list(itertools.product(range(window), repeat=2)))
    for graph in range(len(graphs.image)):
        reference = graphs.reference[graph, graphs.there[graph]]
        count = graphs.edge_count[graph]
        ends, radius = graphs.ends[graph, :count], graphs.radius[graph, :count]
        for moved in itertools.product(grid, repeat=len(reference)):
            place = reference + moved
            away = (place[ends[:, 1]] - place[ends[:, 0]]) - (
                reference[ends[:, 1]] - reference[ends[:, 0]]
            )
            inside = ((place >= 0) & (place < SHAPE)).all()
            if inside and (np.abs(away).max(1, initial=0) <= radius).all():
                yield PlacedLetter(graph, place)


def pixels_under(placed: PlacedLetter) -> np.ndarray:
    covered = np.zeros(SHAPE, bool)
    for row, col in (placed.place[:, None] + np.argwhere(PLUS) - 1).reshape(-1, 2):
        if 0 <= row < SHAPE[0] and 0 <= col < SHAPE[1]:
            covered[row, col] = True
    return covered


def image_of(rng: np.random.Generator) -> np.ndarray:
    """Pixels that are ON (1), OFF (-1) or unknown (0)."""
    return rng.choice([1, -1, 0], SHAPE, p=[0.45, 0.45, 0.1]).astype(np.int8)


def values_of(state: np.ndarray) -> np.ndarray:
    return np.where(state > 0, 1.0, np.where(state < 0, -OFF, 0.0))


def optimum(model: LetterModel, evidence: dict) -> tuple[np.ndarray, float]:
    return solve_with_toulbar2(model.graph, evidence, timeout=60)


def score_of(model: LetterModel, evidence: dict, values: np.ndarray) -> float:
    problem = Problem.of(model.graph, evidence, np.float64)
    states = np.zeros(problem.scores[0].shape[0], np.int32)
    states[problem.compiled.position[: len(values)]] = values
    return float(score_states(problem.compiled, problem.scores, (states[None],))[0][0, 0])


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), window=st.integers(2, 3), loops=st.booleans())
def test_the_best_assignment_is_the_best_match(seed: int, window: int, loops: bool) -> None:
    rng = np.random.default_rng(seed)
    bank = small_bank(rng, 1, 4 if window == 2 else 3, loops)
    graphs = placed_in(bank, rng)
    scores = np.asarray(part_scores(values_of(image_of(rng))[None].astype(np.float32), PLUS, 0.0))
    model = letter_model(graphs, window, SHAPE)
    found, score = optimum(model, model.part_evidence(scores[0].astype(float)))
    listed = list(placements(graphs, window))
    best = max((float(scores[0][tuple(p.place.T)].sum()) for p in listed), default=ABSENT)
    assert score == pytest.approx(best, abs=1e-4)
    matched = match(scores, graphs, BEYOND, window, sweeps=4)
    if listed and not matched.broken[0]:
        assert matched.score[0] <= best + 1e-3
    if listed and not loops:
        assert not matched.broken[0] and matched.score[0] == pytest.approx(best, abs=1e-3)
    letters = model.letters(found)
    assert model.assignment(letters).tolist() == found.tolist()


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6))
def test_every_placement_is_one_assignment(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = placed_in(small_bank(rng, 2, 2, loops=False), rng)
    scores = rng.normal(0, 3, SHAPE)
    model = letter_model(graphs, 2, SHAPE)
    exact = enumerate_exactly(model.graph, model.part_evidence(scores))
    expected = {tuple(model.assignment([None]).tolist()): ABSENT}
    for placed in placements(graphs, 2):
        values = tuple(model.assignment([placed]).tolist())
        expected[values] = float(scores[tuple(placed.place.T)].sum())
    rows = [tuple(row) for row in exact.values.tolist()]
    assert dict(zip(rows, exact.scores.tolist(), strict=True)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", [1, 2])
def test_max_product_finds_the_match_of_a_tree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bank = small_bank(rng, 1, 4, loops=False)
    graphs = place_graphs(bank.shapes, np.zeros(1, int), np.zeros(1, int), np.zeros((1, 2), int))
    scores = rng.normal(0, 3, (1, *SHAPE)).astype(np.float32)
    model = letter_model(graphs, 3, SHAPE)
    found = solve(model.graph, model.part_evidence(scores[0].astype(float)), restarts=2)
    matched = match(scores, graphs, BEYOND, 3, sweeps=1)
    assert found.score == pytest.approx(matched.score[0], abs=1e-3)
    [letter] = model.letters(found.values)
    assert letter is not None
    assert letter.place.tolist() == matched.place[0, : bank.vertex_count[0]].tolist()


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), graphs=st.integers(2, 3))
def test_the_merged_letter_is_the_best_of_the_graphs(seed: int, graphs: int) -> None:
    rng = np.random.default_rng(seed)
    bank = small_bank(rng, graphs, 3, loops=True)
    placed = placed_in(bank, rng)
    scores = rng.normal(0, 3, SHAPE)
    merged = letter_model(placed, 2, SHAPE)
    found, best = optimum(merged, merged.part_evidence(scores))
    single = []
    for graph in range(graphs):
        alone = letter_model(placed.take(np.array([graph])), 2, SHAPE)
        single.append(optimum(alone, alone.part_evidence(scores))[1])
    assert best == pytest.approx(max(single), abs=1e-6)
    [letter] = merged.letters(found)
    assert letter is None or letter.graph == int(np.argmax(single))


def test_absent_parts_favour_graphs_with_more_vertices() -> None:
    """Why ``absent_part`` is not the paper's -1000 where graphs are merged."""
    lines = [np.array([[0, 0], [0, 2]]), np.array([[0, 0], [0, 2], [0, 4]])]
    edges = [
        Edges(np.array(ends), np.ones(len(ends), int)) for ends in ([[0, 1]], [[0, 1], [1, 2]])
    ]
    bank = Bank.of(lines, edges, PLUS)
    placed = place_graphs(bank.shapes, np.zeros(2, int), np.arange(2), np.zeros((2, 2), int))
    scores = np.full(SHAPE, -1.0)
    chosen = {}
    for absent_part in (0.0, -1000.0):
        model = letter_model(placed, 2, SHAPE, absent_part=absent_part)
        [letter] = model.letters(optimum(model, model.part_evidence(scores))[0])
        assert letter is not None
        chosen[absent_part] = letter.graph
    assert chosen == {0.0: 0, -1000.0: 1}


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6))
def test_two_copies_share_their_pixels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    placed = placed_in(small_bank(rng, 2, 3, loops=True), rng)
    state = image_of(rng)
    values = values_of(state)
    model = letter_model(placed, 2, SHAPE, copies=2).through_sparsifier(PLUS)
    evidence = model.pixel_evidence(values)
    listed = list(placements(placed, 2))
    assert listed
    covered = np.array([pixels_under(p) for p in listed])
    unions = covered[:, None] | covered
    best = float((unions * values).sum((2, 3)).max())
    found, score = optimum(model, evidence)
    assert score == pytest.approx(best, abs=1e-6)
    assert score_of(model, evidence, found) == pytest.approx(best, abs=1e-6)
    letters = [p for p in model.letters(found) if p is not None]
    assert len(letters) == 2
    union = np.any([pixels_under(p) for p in letters], axis=0)
    assert float(values[union].sum()) == pytest.approx(best, abs=1e-6)
    assert model.assignment(letters).tolist() == found.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_pair_scores_are_those_of_the_formal_model(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bank = small_bank(rng, 3, 4, loops=False)
    placed = place_graphs(bank.shapes, np.zeros(3, int), np.arange(3), np.ones((3, 2), int))
    state = image_of(rng)
    scores = part_scores(values_of(state)[None].astype(np.float32), PLUS, 0.0)
    matched = match(scores, placed, BEYOND, 2, sweeps=2)
    weights = PairConfig(on=1.0, off=OFF, multiple=0.0, shared=0.0)
    pair, single = pair_scores(matched.place[None], placed.there[None], state[None], PLUS, weights)
    two = letter_model(placed, 2, SHAPE, copies=2, absent=-100.0).through_sparsifier(PLUS)
    evidence = two.pixel_evidence(values_of(state))
    letters = [
        PlacedLetter(g, matched.place[g, placed.there[g]].astype(np.int64)) for g in range(3)
    ]
    best = []
    for one, other in itertools.product(range(3), repeat=2):
        found = score_of(two, evidence, two.assignment([letters[one], letters[other]]))
        expected = single[0, one] if one == other else pair[0, one, other]
        assert found == pytest.approx(expected, abs=1e-4)
        best.append(found)
    lone = score_of(two, evidence, two.assignment([letters[0], None]))
    assert lone == pytest.approx(single[0, 0] - 100.0, abs=1e-4)
    # Placements found one by one are a start; the formal model may place both together better.
    assert optimum(two, evidence)[1] >= max(best) - 1e-6


def test_what_cannot_be_is_refused_or_impossible() -> None:
    rng = np.random.default_rng(0)
    bank = small_bank(rng, 1, 3, loops=False)
    placed = place_graphs(bank.shapes, np.zeros(1, int), np.zeros(1, int), np.zeros((1, 2), int))
    model = letter_model(placed, 3, SHAPE)
    home = placed.reference[0, placed.there[0]].astype(np.int64)
    with pytest.raises(ValueError, match=r"graph 0: vertex 0 cannot be at \(9, 9\)"):
        model.assignment([PlacedLetter(0, np.full_like(home, 9))])
    with pytest.raises(ValueError, match="2 letters for 1 copies"):
        model.assignment([None, None])
    with pytest.raises(ValueError, match="through_sparsifier"):
        model.pixel_evidence(np.zeros(SHAPE))
    with pytest.raises(ValueError, match="at least 1"):
        letter_model(placed, 3, SHAPE, copies=0)
    evidence = model.part_evidence(np.zeros(SHAPE))
    apart = home.copy()
    apart[0] += 2  # beyond any radius of these graphs
    assert score_of(model, evidence, model.assignment([PlacedLetter(0, home)])) == 0.0
    assert score_of(model, evidence, model.assignment([PlacedLetter(0, apart)])) == -np.inf
