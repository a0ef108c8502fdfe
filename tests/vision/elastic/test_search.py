"""The forward pass, the matching and the pairs against loops over everything."""

import itertools
import os
import pickle
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax
import numpy as np
import pytest

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_forward import (
    ForwardConfig,
    forward,
    forward_chunks,
    groups_of,
    part_scores,
)
from mam.vision.elastic.letters.letter_pairs import PairConfig, pair_scores
from mam.vision.elastic.letters.letter_search import (
    LetterCandidates,
    LetterLibrary,
    LetterSearchConfig,
    search,
)
from mam.vision.elastic.letters.letter_sets import DrawnCandidates, best_set, margins
from mam.vision.elastic.match import Matched, match
from mam.vision.elastic.placed_graphs import PlacedGraphs, place_graphs
from mam.vision.elastic.search import (
    MatchedGraphs,
    RefitRound,
    ScoredImages,
    SearchConfig,
    certify,
)
from mam.vision.elastic.springs import Edges
from mam.vision.elastic.variants import VariantConfig
from tests.vision.elastic.shapes import PLUS, random_bank, set_score

OUTSIDE = -2.0


def random_map(seed: int, side: int = 24) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 3, (1, side, side)).astype(np.float32)


def test_part_scores_sum_what_the_part_covers() -> None:
    evidence = random_map(0)
    found = np.asarray(part_scores(evidence, PLUS, -1.0))
    padded = np.pad(evidence[0], 1, constant_values=-1.0)
    for row, col in [(0, 0), (5, 7), (23, 23)]:
        assert found[0, row, col] == pytest.approx(
            padded[row : row + 3, col : col + 3][PLUS].sum(), abs=1e-4
        )


@pytest.mark.parametrize(("by_category", "every"), [(False, 1), (True, 1), (True, 2), (False, 3)])
def test_forward_pass_ranks_like_loops(by_category: bool, every: int) -> None:
    bank, scores = random_bank(3, graphs=6), random_map(1)
    config = ForwardConfig(4, 5, 0.76, by_category, 2, 10, 6, every)
    groups = groups_of(bank, config)
    kinds = int(groups.max()) + 1
    ranked = forward(scores, forward_chunks(bank, config), kinds, config, 64, OUTSIDE)
    padded = np.pad(scores[0], (0, 64), constant_values=OUTSIDE)
    expected = {}
    for anchor in itertools.product(range(0, 24, 5), repeat=2):
        for graph in range(len(bank)):
            own = bank.vertices[graph, : bank.vertex_count[graph] : every] + np.array(anchor)
            best = [padded[r : r + 4, c : c + 4].max() for r, c in own]
            expected[graph, anchor] = sum(best) / len(own) ** 0.76
    found = {
        (int(g), tuple(a.tolist())): s
        for g, a, s in zip(ranked.graph[0], ranked.anchor[0], ranked.score[0], strict=True)
    }
    for key, score in found.items():
        assert score == pytest.approx(expected[key], abs=1e-3)
    # The best graph at the best anchor of each group is among them.
    for group in range(kinds):
        members = {key: s for key, s in expected.items() if groups[key[0]] == group}
        assert max(members, key=members.__getitem__) in found


def _exact(bank: Bank, scores: np.ndarray, graph: int, corner: np.ndarray, window: int) -> float:
    """The best score of all placements that break no edge, by listing them."""
    own = bank.vertices[graph, : bank.vertex_count[graph]] + corner
    padded = np.pad(scores[0], 40, constant_values=OUTSIDE)
    states = window * window
    cases = np.stack(np.unravel_index(np.arange(states ** len(own)), (states,) * len(own)))
    offset = np.stack(np.divmod(cases, window), -1)  # (vertices, cases, 2)
    total = sum(
        padded[row + 40 + moved[:, 0], col + 40 + moved[:, 1]]
        for (row, col), moved in zip(own, offset, strict=True)
    )
    allowed = np.ones(cases.shape[1], bool)
    count = bank.edge_count[graph]
    for (u, v), radius in zip(bank.ends[graph, :count], bank.radius[graph, :count], strict=True):
        allowed &= np.abs(offset[u] - offset[v]).max(-1) <= radius
    return float(np.where(allowed, total, -np.inf).max())


def test_matching_a_tree_is_exact() -> None:
    rng = np.random.default_rng(5)
    places = [np.cumsum(rng.integers(1, 5, (5, 2)), 0) for _ in range(3)]
    links = [Edges(np.array([[0, 1], [1, 2], [1, 3], [3, 4]]), rng.integers(1, 3, 4))] * 3
    bank, scores = Bank.of(places, links, PLUS), random_map(2)
    corner = rng.integers(-3, 8, (3, 2))
    graphs = place_graphs(bank.shapes, np.zeros(3, int), np.arange(3), corner)
    found = match(scores, graphs, OUTSIDE, 3, 1)
    assert not found.broken.any()
    for graph in range(3):
        best = _exact(bank, scores, graph, corner[graph], 3)
        assert found.score[graph] == pytest.approx(best, abs=1e-2)


def test_matching_with_loops_is_sound_and_nearly_best() -> None:
    bank, scores = random_bank(7, graphs=4, vertices=6), random_map(4)
    corner = np.zeros((4, 2), int)
    graphs = place_graphs(bank.shapes, np.zeros(4, int), np.arange(4), corner)
    found = match(scores, graphs, OUTSIDE, 3, 6)
    shares = []
    for graph in range(4):
        own = found.place[graph, : bank.vertex_count[graph]]
        padded = np.pad(scores[0], 40, constant_values=OUTSIDE)
        assert found.score[graph] == pytest.approx(padded[tuple((own + 40).T)].sum(), abs=1e-3)
        offset = own - graphs.reference[graph, : len(own)]
        ends = bank.ends[graph, : bank.edge_count[graph]]
        stretch = np.abs(offset[ends[:, 0]] - offset[ends[:, 1]]).max(1, initial=0)
        far = stretch > bank.radius[graph, : len(ends)]
        assert found.broken[graph] == far.sum()
        if not far.any():
            shares.append(found.score[graph] / _exact(bank, scores, graph, corner[graph], 3))
    assert shares and max(shares) <= 1 + 1e-3 and np.mean(shares) > 0.9


def test_certificates_agree_with_listing() -> None:
    bank, scores = random_bank(7, graphs=4, vertices=6), random_map(4)
    images, corner = ScoredImages(scores, OUTSIDE), np.zeros((4, 2), int)
    found = images.match(
        bank.shapes, np.zeros(4, int), np.arange(4), corner, SearchConfig(window=3, sweeps=6)
    )
    free, spent = certify(found, None), certify(found, images)
    proofs = []
    for graph, (one, other) in enumerate(zip(free, spent, strict=True)):
        best = _exact(bank, scores, graph, corner[graph], 3)
        broken = found.matched.broken[graph] > 0
        assert (one.score == -np.inf) == (other.score == -np.inf) == broken
        assert other.bound is not None and other.gap is not None
        assert other.bound >= best - 1e-3 and other.score <= best + 1e-3
        if not broken:
            assert other.score == pytest.approx(one.score, abs=1e-3)
        if other.proof is not None:
            assert other.score == pytest.approx(best, abs=1e-3) and other.gap <= 1e-5
        assert one.proof is None or one.score == pytest.approx(best, abs=1e-3)
        assert (one.bound is None) == (one.proof is None)
        proofs.append(other.proof)
    assert any(proofs)


def test_a_tree_is_certified_for_nothing() -> None:
    line = Edges(np.array([[0, 1], [1, 2]]), np.array([1, 1]))
    bank, scores = Bank.of([np.array([[0, 0], [0, 4], [4, 4]])], [line], PLUS), random_map(6)
    images, none = ScoredImages(scores, OUTSIDE), np.zeros(1, int)
    found = images.match(bank.shapes, none, none, np.zeros((1, 2), int), SearchConfig(window=3))
    [one] = certify(found, None)
    assert one.proof == "exact" and one.gap == 0
    assert one.score == pytest.approx(_exact(bank, scores, 0, np.zeros(2, int), 3), abs=1e-3)


def _drawn(place: np.ndarray, there: np.ndarray) -> MatchedGraphs:
    """Candidates at given places, with no edges."""
    count, none = len(place), np.zeros((len(place), 1), np.int32)
    ends = np.zeros((count, 1, 2), np.int32)
    nothing = np.zeros(count, np.int32)
    placed = PlacedGraphs(nothing, place, there, ends, none, nothing, np.zeros(there.shape, int))
    matched = Matched(place, np.zeros(count), nothing, np.zeros(count, bool))
    return MatchedGraphs(np.arange(count), placed, matched, 1)


def test_pairs_and_sets_score_their_pixels() -> None:
    rng = np.random.default_rng(8)
    state = rng.integers(-1, 2, (20, 20)).astype(np.int8)
    place = rng.integers(-1, 21, (1, 5, 4, 2))
    there = rng.random((1, 5, 4)) < 0.8
    there[..., 0] = True
    config = PairConfig(1.0, 0.7, 0.3, 0.2)
    pair, single = map(np.array, pair_scores(place, there, state[None], PLUS, config))

    def pixels(k: int) -> list[tuple[int, int]]:
        found = [
            (r + i - 1, c + j - 1)
            for (r, c), on in zip(place[0, k].tolist(), there[0, k], strict=True)
            if on
            for i, j in np.argwhere(PLUS).tolist()
        ]
        return [(r, c) for r, c in found if 0 <= r < 20 and 0 <= c < 20]

    def score(chosen: list[int]) -> float:
        lists = [pixels(k) for k in chosen]
        union = set().union(*lists)
        on = sum(state[p] > 0 for p in union)
        off = sum(state[p] < 0 for p in union)
        again = sum(len(one) - len(set(one)) for one in lists)
        shared = sum(len(set(one)) for one in lists) - len(union)
        return on - 0.7 * off - 0.3 * again - 0.2 * shared

    for one, two in itertools.combinations(range(5), 2):
        assert pair[0, one, two] == pytest.approx(score([one, two]), abs=1e-4)
    assert single[0] == pytest.approx([score([k]) for k in range(5)], abs=1e-4)
    np.fill_diagonal(pair[0], -np.inf)
    found = LetterCandidates(_drawn(place[0], there[0]), single[0], pair[0])
    candidates = DrawnCandidates.of(found, state, PLUS, np.array([0, 0, 1, 1, 2]), config)
    chosen = best_set(candidates, pair[0], 3).chosen
    assert set_score(candidates, chosen) == pytest.approx(score(chosen), abs=1e-4)
    best = max(score(list(three)) for three in itertools.combinations(range(5), 3))
    assert score(chosen) == pytest.approx(best, abs=1e-4)
    assert min(margins(candidates, best_set(candidates, pair[0], 1).chosen)) > -np.inf


TINY = LetterSearchConfig(
    window=7,
    rounds=(RefitRound(6, 5, 1),),
    kept=6,
    forward=ForwardConfig(window=5, step=5, each_group=4, more=4),
    variants=VariantConfig(count=1),
)


def test_an_image_is_answered_alike_in_any_company() -> None:
    bank = random_bank(9, graphs=6)
    library = LetterLibrary.of(bank, TINY)
    rng = np.random.default_rng(0)
    states = [np.where(rng.random((30, n)) < 0.3, 1, -1).astype(np.int8) for n in (30, 40)]
    together = search(states, library)
    for state, one in zip(states, together, strict=True):
        [alone] = search([state], library)
        jax.tree.map(np.testing.assert_array_equal, one, alone)


def _states(count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [np.where(rng.random((40, 44)) < 0.3, 1, -1).astype(np.int8) for _ in range(count)]


def _same(one: list[LetterCandidates], other: list[LetterCandidates]) -> None:
    close = partial(np.testing.assert_allclose, rtol=1e-5, atol=1e-4)
    jax.tree.map(close, one, other)


SMALL = LetterSearchConfig(
    window=5,
    rounds=(RefitRound(6, 5, 1),),
    kept=5,
    forward=ForwardConfig(5, 5, each_group=4, more=2),
    variants=VariantConfig(count=0),
)


def test_a_bank_in_a_file_is_streamed(tmp_path: Path) -> None:
    bank = random_bank(5, graphs=700)
    bank.save(tmp_path / "bank.safetensors")
    opened = Bank.load(tmp_path / "bank.safetensors")
    assert isinstance(opened.vertices, np.memmap)
    streamed = LetterLibrary.of(opened, SMALL, most_bytes=0)
    assert streamed.kept is None and LetterLibrary.of(bank, SMALL).kept is not None
    _same(search(_states(2), streamed), search(_states(2), LetterLibrary.of(bank, SMALL)))


_ON_FOUR_DEVICES = """
import pickle, sys
import jax
from tests.vision.elastic.shapes import random_bank
from tests.vision.elastic.test_search import SMALL, LetterLibrary, _states, search
assert len(jax.devices()) == 4
found = search(_states(5), LetterLibrary.of(random_bank(5), SMALL))
with open(sys.argv[1], "wb") as file:
    pickle.dump(jax.tree.leaves(found), file)
"""


def test_several_devices_find_the_same(tmp_path: Path) -> None:
    several = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4"
    flags = {"XLA_FLAGS": several, "JAX_PLATFORMS": "cpu"}
    script = [sys.executable, "-c", _ON_FOUR_DEVICES, str(tmp_path / "found")]
    subprocess.run(script, env={**os.environ, **flags}, check=True)
    here = search(_states(5), LetterLibrary.of(random_bank(5), SMALL))
    spread = pickle.loads((tmp_path / "found").read_bytes())
    _same(jax.tree.unflatten(jax.tree.structure(here), spread), here)
