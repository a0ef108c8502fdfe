"""Exact elimination against enumeration, and what it refuses."""

import math
import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Or, Pairwise, Pattern, Table, Window
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import (
    TooLarge,
    eliminate_max,
    eliminate_sum,
    enumerate_exactly,
    exact_solution,
    log_partition,
    plan_elimination,
)
from tests.oracles import random_models


def check(graph: FactorGraph, evidence: dict) -> None:
    """Compare with the list of all configurations."""
    exact = enumerate_exactly(graph, evidence)
    values, score = eliminate_max(graph, evidence)
    assert score == pytest.approx(exact.score, abs=1e-9)
    assert eliminate_sum(graph, evidence) == pytest.approx(exact.log_partition, abs=1e-9)
    assert values.tolist() == eliminate_max(graph, evidence)[0].tolist()
    if np.isfinite(score):
        assert values.tolist() in exact.best.tolist()


def grid(side: int, rng: np.random.Generator) -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", (side, side))
    across = np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1)
    down = np.stack([x[:-1].ravel(), x[1:].ravel()], 1)
    pairs = np.concatenate([across, down])
    builder.add("pair", Pairwise.of(pairs, rng.normal(size=(len(pairs), 2, 2))))
    return builder.build()


@settings(max_examples=100)
@given(seed=st.integers(0, 10**6))
def test_medleys_agree_with_enumeration(seed: int) -> None:
    check(*random_models.medley(np.random.default_rng(seed)))


def test_medleys_are_sometimes_impossible_and_sometimes_not() -> None:
    scores = [
        eliminate_max(*random_models.medley(np.random.default_rng(seed)))[1] for seed in range(60)
    ]
    assert 3 < np.isneginf(scores).sum() < 57


@settings(max_examples=10)
@given(seed=st.integers(0, 1000))
def test_other_models_agree_with_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(*random_models.tree(rng))
    check(*random_models.sparsifier(rng))
    check(*random_models.gates(rng))
    model, evidence = random_models.attention_model(rng)
    check(model.graph, evidence)


def test_ties_are_broken_the_same_way() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4)
    builder.add("differ", Pairwise.of(np.stack([x[:-1], x[1:]], 1), [[0, 1], [1, 0]]))
    values, score = eliminate_max(builder.build())
    assert score == 3
    assert values.tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])
    assert all(eliminate_max(builder.build())[0].tolist() == values.tolist() for _ in range(3))


def test_components_and_lonely_variables_add_up() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4)
    builder.variables("alone", 2, states=5)
    builder.variables("none", 0)
    builder.add("pair", Pairwise.of([[x[0], x[1]], [x[2], x[3]]], [[0.0, 2.0], [1.0, 0.0]]))
    graph = builder.build()
    values, score = eliminate_max(graph, {"alone": [[0, 0, 7, 0, 0]] * 2})
    assert (values.tolist(), score) == ([0, 1, 0, 1, 2, 2], 18.0)
    once = np.log(2 + np.exp(1) + np.exp(2))
    assert eliminate_sum(graph) == pytest.approx(2 * once + 2 * np.log(5))
    assert plan_elimination(graph).width == 1
    assert eliminate_max(GraphBuilder().build())[1] == 0


def test_contradictory_evidence_gives_a_named_infinity() -> None:
    graph, _ = random_models.gates(np.random.default_rng(0), inputs=2)
    solution = exact_solution(graph, {"bit": [np.inf, np.inf], "both": [-np.inf]})
    assert solution.score == -np.inf
    assert solution.gap is None and solution.impossible and not solution.optimal
    assert solution.violated == ("and[0]",)
    assert solution["bit"].tolist() == [1, 1]
    assert "no assignment is possible" in solution.explain()
    assert eliminate_sum(graph, {"bit": [np.inf, np.inf], "both": [-np.inf]}) == -np.inf
    with pytest.raises(ValueError, match=r"forbids every state of bit\[0\]"):
        eliminate_max(graph, {"bit": [[-np.inf, -np.inf], [0, 0]]})


@pytest.mark.parametrize("scores", [[1e17, -0.5, 0.25], [1e308] * 3])
def test_scores_beyond_double_precision_are_refused(scores: list[float]) -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 3)
    builder.add("pair", Pairwise.of([x[:2], x[1:]], np.eye(2)))
    for answer in (exact_solution, eliminate_sum, enumerate_exactly):
        with pytest.raises(ValueError, match=r"'x' has a score of magnitude"):
            answer(builder.build(), {"x": scores})
    builder.add("large", Pairwise.of([x[:2]], [[0, scores[0]], [0, 0]]))
    with pytest.raises(ValueError, match=r"'large' has a log potential of magnitude"):
        exact_solution(builder.build())


def test_a_solution_is_proved_optimal() -> None:
    solution = exact_solution(grid(4, np.random.default_rng(1)))
    assert solution.optimal
    assert solution.converged
    assert solution.iterations == 0
    assert solution.bound == solution.score


def test_evidence_makes_a_wide_model_narrow() -> None:
    graph = grid(40, np.random.default_rng(2))
    known = np.zeros((40, 40))
    known[::2] = np.inf
    assert plan_elimination(graph, {"x": known}).width == 1
    values, _ = eliminate_max(graph, {"x": known})
    assert values.reshape(40, 40)[::2].all()


def test_grids_are_fast() -> None:
    graph = grid(14, np.random.default_rng(3))
    # A front of the grid is what a table holds; min-fill alone needs more here.
    assert plan_elimination(graph).width <= 15
    start = time.perf_counter()
    values, score = eliminate_max(graph)
    assert time.perf_counter() - start < 5
    table = graph.factors[0][1]
    pairs = values[table.scopes().values.reshape(-1, 2)]
    potentials = table.potentials.reshape(-1, 2, 2)
    assert potentials[np.arange(len(pairs)), *pairs.T].sum() == pytest.approx(score)


def wide_graphs() -> dict[str, tuple[FactorGraph, str]]:
    wide = {}
    wide["grid"] = grid(26, np.random.default_rng(0)), "reaches width .* entries, above"
    builder = GraphBuilder()
    x = builder.variables("x", 41)
    builder.add("or", Or.of([x[:40]], [x[40]]))
    wide["or"] = builder.build(), r"or\[0\] over 41 variables"
    builder = GraphBuilder()
    x = builder.variables("x", 1001)
    builder.add("pattern", Pattern.of(x[:1], [[x[1:501], x[501:]]], [[0, 0], [1, 1]]))
    wide["pattern"] = builder.build(), r"pattern\[0\] over 1001 variables"
    builder = GraphBuilder()
    builder.variables("x", 2, states=10000)
    builder.add("window", Window.of([[0, 1]], grid=(100, 100), radius=3))
    wide["window"] = builder.build(), r"window\[0\] over 2 variables .* 1e\+08 entries"
    builder = GraphBuilder()
    x = builder.variables("x", 30)
    builder.add("table", Table.of([x], [0.0], configurations=[[1] * 30]))
    wide["table"] = builder.build(), r"table\[0\] over 30 variables"
    return wide


@pytest.mark.parametrize("kind", ["grid", "or", "pattern", "window", "table"])
def test_what_is_too_wide_is_refused_before_it_is_allocated(kind: str) -> None:
    graph, message = wide_graphs()[kind]
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match=message):
            eliminate_max(graph)
        with pytest.raises(ValueError, match=message):
            eliminate_sum(graph)
        assert tracemalloc.get_traced_memory()[1] < 20e6
    finally:
        tracemalloc.stop()


def test_the_limit_can_be_chosen() -> None:
    graph = grid(5, np.random.default_rng(0))
    plan = plan_elimination(graph, largest=math.inf)
    assert eliminate_max(graph, largest=plan.largest)[1] == eliminate_max(graph)[1]
    with pytest.raises(TooLarge, match=r"width \d+ and a table of .* above 16"):
        eliminate_max(graph, largest=16)


def test_all_tables_together_are_limited() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", (150, 2), states=1500)
    scope = np.array([0.0])
    for i in range(150):
        builder.add(f"t{i}", Table.of([x[i]], scope, configurations=[[0, 0]]))
    with pytest.raises(TooLarge, match="all tables together"):
        eliminate_max(builder.build())


def test_a_large_factor_whose_variables_are_known_is_not_listed() -> None:
    graph, _ = wide_graphs()["or"]
    with pytest.raises(TooLarge, match=r"or\[0\] has .* too many to list"):
        eliminate_max(graph, {"x": np.full(41, -np.inf)})


def test_log_partition_takes_what_is_possible() -> None:
    wide = wide_graphs()
    # Too wide for elimination, but there is only one configuration to list.
    assert log_partition(wide["table"][0], method="exact") == 0
    # Too many configurations to list, but narrow.
    builder = GraphBuilder()
    builder.variables("x", 100)
    assert log_partition(builder.build(), method="exact") == pytest.approx(100 * np.log(2))
    with pytest.raises(TooLarge, match=r"cannot be computed exactly: .*width.*enumerate"):
        log_partition(wide["grid"][0], method="exact")
    with pytest.raises(TooLarge, match=r"cannot be computed exactly: .*or\[0\].*too many to list"):
        log_partition(wide["or"][0], method="exact")
