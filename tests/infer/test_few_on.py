"""Sets of few variables, size after size, against enumeration and linear programs."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import AnyOf, Choice, Pairwise
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly
from mam.infer.few_on import few_on
from mam.infer.linear import branch_and_bound
from tests.infer.test_linear import covering


def strokes(rng: np.random.Generator, size: int, pixels: int = 30) -> tuple[FactorGraph, dict]:
    """Many candidates, each of a run of pixels, that cost twenty and gain or lose by pixel."""
    builder = GraphBuilder()
    builder.variables("x", size)
    first = rng.integers(0, pixels - 12, size)
    member = [np.flatnonzero((first <= at) & (at < first + 12)) for at in range(pixels)]
    builder.add("any", AnyOf.of(member, np.where(rng.random(pixels) < 0.8, 6.2, -3.9)))
    builder.add("one", Choice.of(np.sort(rng.permutation(size)[:4])[None], optional=True))
    return builder.build(), {"x": np.full(size, -20.0)}


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(1, 10))
def test_answers_are_optimal_where_every_variable_costs(seed: int, size: int) -> None:
    graph, evidence = covering(np.random.default_rng(seed), size)
    some = evidence["x"]
    evidence = {"x": np.where(np.isfinite(some), -np.abs(some) - 0.5, some)}
    listed, found = enumerate_exactly(graph, evidence), few_on(graph, evidence)
    if found is None:  # a variable must be ON, or a choice demands one
        limits = graph.factors[-1][1].limits()
        assert np.isposinf(some).any() or (limits is not None and limits.least.any())
        return
    assert found.proof == "exact" and found.values.tolist() in listed.best.tolist()
    assert found.score == pytest.approx(listed.score, abs=1e-9)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.integers(17, 40))
def test_answers_to_overlapping_runs_are_those_of_the_linear_program(seed: int, size: int) -> None:
    graph, evidence = strokes(np.random.default_rng(seed), size)
    found, known = few_on(graph, evidence), branch_and_bound(graph, evidence, 60.0)
    assert found is not None and known is not None
    assert found.score == pytest.approx(known.score, abs=1e-6)


def test_variables_that_gain_by_themselves_are_left_to_others() -> None:
    builder = GraphBuilder()
    builder.variables("x", 2)
    builder.add("any", AnyOf.of([[0, 1]], some=[2.0]))
    assert few_on(builder.build(), {"x": [0.5, -1.0]}) is None


def test_other_factors_are_not_taken() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("pair", Pairwise.of([x], np.eye(2)))
    assert few_on(builder.build(), None) is None


def test_it_gives_up_soon_where_many_are_on() -> None:
    graph, evidence = strokes(np.random.default_rng(0), 600, pixels=3000)
    begin = time.process_time()
    assert few_on(graph, evidence) is None
    assert time.process_time() - begin < 2.0


def test_nothing_pays() -> None:
    graph, evidence = strokes(np.random.default_rng(0), 20)
    found = few_on(graph, {"x": evidence["x"] - 100})
    assert found is not None and found.score == 0.0 and not found.values.any()
