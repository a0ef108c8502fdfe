"""Tearing out and refilling on weighted ORs and choices, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import AnyOf, Choice, Count, Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly, solve
from mam.infer.linear import branch_and_bound
from mam.infer.refill import refill
from tests.infer.test_compilations import compilations
from tests.infer.test_linear import covering


def cover(seed: int, size: int) -> tuple[FactorGraph, dict]:
    """Stretches of a line that pixels are explained by: no list costs, and no choice demands."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder()
    builder.variables("x", size)
    first = np.arange(3 * size)[:, None] // 3 - np.arange(4)
    lists = [row[(row >= 0) & (row < size)] for row in first]
    builder.add("any", AnyOf.of(lists, rng.integers(1, 6, len(lists)).astype(float)))
    builder.add("one", Choice.of(np.arange(size - size % 2).reshape(-1, 2), optional=True))
    return builder.build(), {"x": -rng.integers(5, 20, size).astype(float)}


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_answers_are_possible_and_close_to_the_best(seed: int, size: int) -> None:
    graph, evidence = covering(np.random.default_rng(seed), size)
    found, listed = refill(graph, evidence, seed), enumerate_exactly(graph, evidence)
    if found is None:
        demanding = any(
            kind == "one" and np.isneginf(f.potentials).any() for kind, f in graph.factors
        )
        assert demanding or np.isneginf(listed.score)
        return
    assert found.proof is None and np.isfinite(found.score)
    assert listed.score - 3.0 <= found.score <= listed.score + 1e-9


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(1, 14))
def test_small_covers_come_close_to_the_optimum(seed: int, size: int) -> None:
    graph, evidence = cover(seed, size)
    found, best = refill(graph, evidence, 0), enumerate_exactly(graph, evidence).score
    assert found is not None and 0.9 * best <= found.score <= best + 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_large_covers_reach_what_branch_and_bound_proves(seed: int) -> None:
    graph, evidence = cover(seed, 60)
    proved, found = branch_and_bound(graph, evidence, 60.0), refill(graph, evidence, 0)
    assert proved is not None and found is not None
    assert 0.98 * proved.score <= found.score <= proved.score + 1e-9


def test_the_same_seed_gives_the_same_answer() -> None:
    graph, evidence = cover(5, 200)
    first, again = (refill(graph, evidence, 3) for _ in range(2))
    assert first is not None and again is not None
    assert first.values.tolist() == again.values.tolist()


def test_what_must_be_on_stays_on_and_bars_its_rivals() -> None:
    builder = GraphBuilder()
    builder.variables("x", 4)
    builder.add("any", AnyOf.of([[0, 1], [2], [3]], [5.0, 5.0, 5.0]))
    builder.add("one", Choice.of([[0, 1], [1, 2]], optional=True))
    found = refill(builder.build(), {"x": [0.0, np.inf, 0.0, -np.inf]}, 0)
    assert found is not None and found["x"].tolist() == [0, 1, 0, 0]


def test_other_factors_and_demands_that_cannot_be_met_are_not_taken() -> None:
    barred = Choice.of([[0, 1], [0], [1]])
    for factors in (Pairwise.of([[0, 1]], np.eye(2)), barred):
        builder = GraphBuilder()
        builder.variables("x", 2)
        builder.add("some", factors)
        assert refill(builder.build(), None, 0) is None


@settings(max_examples=12)
@given(st.integers(0, 10**6), st.integers(2, 12), st.data())
def test_so_many_as_are_demanded_are_on(seed: int, size: int, data: st.DataObject) -> None:
    graph, evidence = cover(seed, size)
    wanted = data.draw(st.integers(0, size // 2))
    builder = GraphBuilder()
    builder.variables("x", size)
    for name, factors in graph.factors:
        builder.add(name, factors)
    builder.add("so many", Count.between([np.arange(size)], wanted))
    counted = builder.build()
    best = enumerate_exactly(counted, evidence).score
    proved = branch_and_bound(counted, evidence, 10.0)
    assert proved is not None and proved.score == pytest.approx(best, abs=1e-9)
    found = refill(counted, evidence, seed)
    assert found is not None and found["x"].sum() == wanted
    assert best - 0.1 * abs(best) - 3.0 <= found.score <= best + 1e-9


def test_quick_answers_large_components_without_compiling() -> None:
    graph, evidence = cover(1, 300)
    with compilations() as names:
        found = solve(graph, evidence, method="quick", largest_table=4)
    assert names == [] and "refilling" in found.ways and found.proof is None
    proved = branch_and_bound(graph, evidence, 60.0)
    assert proved is not None and found.score >= 0.98 * proved.score
