"""Branch and bound on weighted ORs and choices, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import AnyOf, Choice, Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly, solve
from mam.infer.linear import branch_and_bound, relaxed_maximum
from tests.infer.test_compilations import compilations


def covering(rng: np.random.Generator, size: int) -> tuple[FactorGraph, dict]:
    """Random lists with weights of both signs, ties among them, choices, and certain variables."""
    builder = GraphBuilder()
    x = builder.variables("x", size)
    lists = [rng.choice(x, rng.integers(0, min(size, 5) + 1), replace=False) for _ in range(size)]
    builder.add("any", AnyOf.of(lists, rng.integers(-3, 5, size).astype(float)))
    if size > 2:
        some = rng.choice(x, (1, 2), replace=False)
        builder.add("one", Choice.of(some, optional=bool(rng.integers(2))))
    evidence = rng.integers(-3, 3, size).astype(float)
    evidence[rng.random(size) < 0.1] = -np.inf
    evidence[rng.random(size) < 0.05] = np.inf
    return builder.build(), {"x": evidence}


@settings(max_examples=100)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_answers_are_optimal_or_none_is_possible(seed: int, size: int) -> None:
    graph, evidence = covering(np.random.default_rng(seed), size)
    listed = enumerate_exactly(graph, evidence)
    found = branch_and_bound(graph, evidence, 10.0)
    if np.isneginf(listed.score):
        assert found is None
        return
    assert found is not None and found.proof == "exact"
    assert found.score == pytest.approx(listed.score, abs=1e-9)
    assert found.values.tolist() in listed.best.tolist()
    assert relaxed_maximum(graph, evidence) >= listed.score - 1e-9


def test_other_factors_are_not_taken() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("pair", Pairwise.of([x], np.eye(2)))
    assert branch_and_bound(builder.build(), None, 1.0) is None


def test_quick_proves_components_beyond_listing_without_compiling() -> None:
    rng = np.random.default_rng(1)
    graph, evidence = covering(rng, 14)
    with compilations() as names:
        found = solve(graph, evidence, method="quick", largest_table=4)
    assert found.proof == "exact" and "branch and bound" in found.ways and names == []
    assert found.score == enumerate_exactly(graph, evidence).score
