"""Listing against enumeration, and what it leaves to messages."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import AnyOf, Choice, Pairwise
from mam.graph import FactorGraph, GraphBuilder, GraphUnion, union_scores
from mam.infer import Options, enumerate_exactly, hard_components, solve
from mam.infer.listing import list_small


def model(rng: np.random.Generator) -> tuple[FactorGraph, dict]:
    """Several components of ORs and choices, some with infinities, some variables alone."""
    builder = GraphBuilder()
    x = builder.variables("x", 10)
    y = builder.variables("y", 2, 3)
    for name, some in (("a", x[:4]), ("b", x[4:8])):
        lists = [rng.choice(some, rng.integers(0, 4), replace=False) for _ in range(4)]
        holes = np.where(rng.random((2, 4)) < 0.1, -np.inf, rng.normal(size=(2, 4)).round(1))
        builder.add(f"any {name}", AnyOf.of(lists, *holes))
    if rng.random() < 0.7:
        lists = [rng.choice(x[:4], 3, replace=False), rng.choice(x[4:8], 2, replace=False)]
        builder.add("one", Choice.of(lists, optional=[bool(v) for v in rng.integers(0, 2, 2)]))
    builder.add("other", Pairwise.of([[x[9], y[0]]], rng.normal(size=(2, 3))))
    certain = rng.choice([-np.inf, 0.0, np.inf], size=10, p=[0.1, 0.8, 0.1])
    return builder.build(), {"x": certain + rng.normal(size=10).round(1)}


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 2**31))
def test_listing_agrees_with_enumeration(seed: int) -> None:
    graph, evidence = model(np.random.default_rng(seed))
    union = GraphUnion.of(graph)
    known = list_small(union, union_scores(union, evidence), 1 << 10)
    exact = enumerate_exactly(graph, evidence)
    assert not known.solved[9:].any()  # a variable that other factors hold, and more states
    if not len(exact.scores):
        return
    assert known.solved[:9].all()
    fixed = exact.given({v: int(known.values[v]) for v in range(9)})
    assert fixed.score == pytest.approx(exact.score, abs=1e-7)
    for v in range(9):
        ways = [exact.given({v: state}).score for state in (0, 1)]
        assert known.margins[v] == pytest.approx(abs(ways[1] - ways[0]), abs=1e-6)


def test_components_that_are_too_large_are_left() -> None:
    graph, evidence = model(np.random.default_rng(0))
    union = GraphUnion.of(graph)
    known = list_small(union, union_scores(union, evidence), 2)
    assert known.solved.any() and not known.solved[:9].all()


def test_quick_says_what_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    builder = GraphBuilder()
    x = builder.variables("x", 14)
    lists = [rng.choice(x[3:], 4, replace=False) for _ in range(20)]
    builder.add("any", AnyOf.of([x[:2], x[1:3], *lists], rng.normal(1.0, 2.0, 22)))
    graph, evidence = builder.build(), {"x": np.full(14, -1.5)}
    options = Options(method="quick", largest_table=64)
    searched = solve(graph, evidence, options)
    assert searched.ways == {"listing": 1, "branch and bound": 1} and searched.proof == "exact"
    monkeypatch.setattr(hard_components, "PROVABLE", 8)  # variables that linear programs get
    monkeypatch.setattr(hard_components, "few_on", lambda graph, evidence: None)
    found = solve(graph, evidence, options)
    assert found.ways == {"listing": 1, "refilling": 1} and found.proof is None
    assert found.proved.tolist() == [True] * 3 + [False] * 11
    whole = solve(graph, evidence, options, largest_table=1 << 14)
    assert whole.proof == "exact" and whole.ways == {"listing": 2}
    assert whole.score == pytest.approx(enumerate_exactly(graph, evidence).score)
    assert found.score <= whole.score + 1e-9 and searched.score == pytest.approx(whole.score)
