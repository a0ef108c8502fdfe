"""Trees by messages on compiled graphs, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.ndimage import maximum_filter

from mam.factors import Pairwise, Window
from mam.graph import FactorGraph, GraphBuilder, compile_graphs
from mam.infer import enumerate_exactly, solve
from mam.infer.options import Options
from mam.infer.trees import settle_trees
from tests.infer.test_compilations import compilations
from tests.oracles import random_models

SEEDS = st.integers(0, 10**6)


def check(models: list[tuple[FactorGraph, dict]]) -> int:
    """Compare a batch with the lists of all cases; return the number of trees that messages did."""
    graphs, evidence = zip(*models, strict=True)
    found = solve(compile_graphs(graphs), list(evidence), method="exact")
    for (graph, known), answer in zip(models, found, strict=True):
        listed = enumerate_exactly(graph, known)
        assert answer.proof == "exact" and answer.proved.all()
        assert answer.impossible == bool(np.isneginf(listed.score))
        if answer.impossible:
            continue
        assert answer.score == answer.bound == pytest.approx(listed.score, abs=1e-9)
        assert answer.values.tolist() in listed.best.tolist()
        for variable, count in enumerate(graph.states):
            chosen = listed.values[:, variable]
            best = [listed.scores[chosen == s].max(initial=-np.inf) for s in range(count)]
            second, first = np.sort(best)[-2:]
            assert answer.margins[variable] == pytest.approx(first - second, abs=1e-3)
    return sum(answer.ways.get("messages", 0) for answer in found)


@settings(max_examples=1)
@given(seed=SEEDS)
def test_batches_of_all_kinds_agree_with_enumeration(seed: int) -> None:
    medleys = [random_models.medley(np.random.default_rng([seed, i])) for i in range(60)]
    trees = [random_models.tree(np.random.default_rng([seed, i]), shape=i) for i in range(20)]
    assert check(medleys + trees) >= 10


@settings(max_examples=2)
@given(seed=SEEDS)
def test_attention_models_agree_with_enumeration(seed: int) -> None:
    found = [random_models.attention_model(np.random.default_rng([seed, i])) for i in range(30)]
    check([(model.graph, evidence) for model, evidence in found])


def chain(length: int, potentials: np.ndarray) -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", length)
    builder.add("pair", Pairwise.of(np.stack([x[:-1], x[1:]], 1), potentials))
    return builder.build()


def test_ties_are_left_to_elimination() -> None:
    graph = compile_graphs(chain(6, np.eye(2)))
    tied, clear = solve(graph), solve(graph, {"x": [0.5, 0, 0, 0, 0, 0]})
    assert tied.ways == {"elimination": 1} and clear.ways == {"messages": 1}
    assert tied.score == 5.0 and clear["x"].tolist() == [1] * 6


def test_deep_trees_are_left_to_elimination() -> None:
    rng = np.random.default_rng(0)
    strong = compile_graphs(chain(500, 50 * np.eye(2)))
    pull = np.zeros(500)
    pull[0], pull[-1] = 3.0, -1.0
    answer = solve(strong, {"x": pull})
    assert answer.ways == {"elimination": 1} and answer["x"].tolist() == [1] * 500
    clear = rng.choice([-1.0, 1.0], 500) + rng.uniform(-0.5, 0.5, 500)
    weak = solve(compile_graphs(chain(500, 0.1 * np.eye(2))), {"x": clear})
    assert weak.ways == {"messages": 1} and weak.optimal


def test_a_cycle_does_not_keep_the_trees_beside_it_from_resting() -> None:
    builder = GraphBuilder()
    x, y = builder.variables("x", 3), builder.variables("y", 4)
    frustrated = [[0.0, 5.0], [5.0, 0.0]]
    builder.add("cycle", Pairwise.of([[x[0], x[1]], [x[1], x[2]], [x[2], x[0]]], frustrated))
    builder.add("tree", Pairwise.of(np.stack([y[:-1], y[1:]], 1), np.eye(2)))
    evidence = {"x": [0.3, 0.2, 0.1], "y": [1.0, 0, 0, 0]}
    answer = solve(compile_graphs(builder.build()), evidence)
    assert answer.ways == {"messages": 1, "elimination": 1}
    assert answer.score == enumerate_exactly(builder.build(), evidence).score


def test_trees_of_windows_too_large_to_write_are_exact() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 120, 25 * 25)
    parent = np.random.default_rng(1).integers(0, np.arange(1, 120))
    rng = np.random.default_rng(2)
    radii = rng.integers(0, 4, 119)
    edges = np.stack([x[parent], x[1:]], 1)
    builder.add("spring", Window.of(edges, grid=(25, 25), radius=radii))
    evidence = {"x": rng.normal(size=(120, 625))}
    graph = builder.build()
    answer = solve(graph, evidence, method="exact")
    assert answer.proof == "exact" and answer.ways == {"messages": 1}
    # A second elimination, leaf by leaf, each message a maximum over a window.
    score = evidence["x"].reshape(120, 25, 25).copy()
    for child in range(119, 0, -1):
        size = 2 * int(radii[child - 1]) + 1
        score[parent[child - 1]] += maximum_filter(
            score[child], size, mode="constant", cval=-np.inf
        )
    assert answer.score == pytest.approx(score[0].max(), rel=1e-6)


def test_one_by_one_and_in_a_batch_messages_say_the_same() -> None:
    models = [random_models.tree(np.random.default_rng(i), shape=i) for i in range(6)]
    graphs, evidence = zip(*models, strict=True)
    together, _ = settle_trees(compile_graphs(graphs), list(evidence), Options())
    for i, (graph, known) in enumerate(models):
        alone, _ = settle_trees(compile_graphs(graph), known, Options())
        start = together.union.starts[i]
        mine = slice(start, start + len(graph.states))
        np.testing.assert_array_equal(together.values[mine], alone.values)
        np.testing.assert_array_equal(together.solved[mine], alone.solved)


def test_graphs_of_one_shape_are_compiled_for_once() -> None:
    rng = np.random.default_rng(3)
    graphs = [chain(int(n), rng.normal(size=(2, 2))) for n in rng.integers(20, 60, 8)]
    solve(compile_graphs(graphs[0]), {"x": rng.normal(size=len(graphs[0].states))})
    with compilations() as names:
        for graph in graphs[1:]:
            solve(compile_graphs(graph), {"x": rng.normal(size=len(graph.states))})
    assert names == []
