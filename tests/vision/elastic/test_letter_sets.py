"""The best set of candidates: its model against the definition, set by set."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.infer import enumerate_exactly
from mam.vision.elastic.letters.letter_sets import DrawnCandidates, best_set, set_model
from tests.vision.elastic.shapes import set_score


def drawn(seed: int, count: int) -> DrawnCandidates:
    """Candidates of few pixels, many of them shared; some pixels cost, some are gained."""
    rng = np.random.default_rng(seed)
    covered = rng.random((count, 12)) < 0.4
    lost = rng.choice([-0.5, 0.0, 1.05], 12)
    return DrawnCandidates(covered, rng.normal(2, 2, count), lost, np.zeros(count, np.int64))


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 7), st.integers(0, 4))
def test_the_model_scores_every_set_as_the_candidates_do(
    seed: int, count: int, copies: int
) -> None:
    candidates = drawn(seed, count)
    copies = min(copies, count)
    graph, evidence = set_model(candidates, copies)
    listed = enumerate_exactly(graph, evidence)
    found = {
        tuple(np.flatnonzero(row).tolist()): s
        for row, s in zip(listed.values, listed.scores, strict=True)
    }
    sets = list(itertools.combinations(range(count), copies))
    assert sorted(found) == sets
    nothing = found[()] if copies == 0 else 0.0
    assert nothing == pytest.approx(0.0)
    for one in sets:
        assert found[one] == pytest.approx(set_score(candidates, list(one)), abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(3, 9), st.integers(3, 5))
def test_the_best_set_is_best(seed: int, count: int, copies: int) -> None:
    candidates = drawn(seed, count)
    copies = min(copies, count)
    chosen, proof = best_set(candidates, np.zeros((count, count)), copies)
    sets = itertools.combinations(range(count), copies)
    assert len(chosen) == copies and proof == "exact"
    best = max(set_score(candidates, list(one)) for one in sets)
    assert set_score(candidates, chosen) == pytest.approx(best, abs=1e-6)
