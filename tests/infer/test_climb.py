"""Climbing against brute force: no flip and no swap that is tried helps in the end."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import AnyOf, Choice
from mam.graph import FactorGraph, GraphBuilder, GraphUnion, union_scores
from mam.infer import Options, solve
from mam.infer.climb import climb
from mam.infer.neighbours import regions
from mam.infer.problem import Problem
from mam.infer.score import graph_scores
from tests.oracles import random_models

RESTARTS = 3


def cover(rng: np.random.Generator, parts: int = 9, pixels: int = 12) -> tuple[FactorGraph, dict]:
    """Candidates that gain what they cover once, at most one of some of them."""
    builder = GraphBuilder()
    x = builder.variables("part", parts)
    members = [rng.choice(x, rng.integers(1, 5), replace=False) for _ in range(pixels)]
    builder.add("pixel", AnyOf.of(members, np.round(rng.normal(1.0, 2.0, pixels), 1)))
    builder.add("one", Choice.of([x[:3], x[3:5]], optional=True))
    return builder.build(), {"part": np.round(rng.normal(-2.0, 1.0, parts), 1)}


def score_of(graph: FactorGraph, evidence: dict, values: np.ndarray) -> float:
    union = GraphUnion.of(graph)
    return float(graph_scores(union, union_scores(union, evidence), values)[0])


def climbed(graphs: Any, evidence: Any, start: np.ndarray) -> np.ndarray:
    """The states of each restart after climbing from the given ones."""
    problem = Problem.of(graphs, evidence, np.float32)
    compiled = problem.compiled
    store = [
        np.zeros((len(start), compiled.wiring.class_size(k)), np.int32)
        for k in range(len(compiled.wiring.states))
    ]
    for v in range(start.shape[1]):
        store[compiled.kind[v]][:, compiled.position[v]] = start[:, v]
    found = climb(problem, tuple(store))
    return np.stack([compiled.gather([mine[r] for mine in found]) for r in range(len(start))])


def random_starts(rng: np.random.Generator, graph: FactorGraph) -> np.ndarray:
    return np.stack([rng.integers(graph.states) for _ in range(RESTARTS)])


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**31))
def test_no_flip_and_no_swap_is_left(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graph, evidence = cover(rng)
    start = random_starts(rng, graph)
    start[:, :5] = 0  # at most one of some
    for before, after in zip(start, climbed(graph, evidence, start), strict=True):
        score = score_of(graph, evidence, after)
        assert score >= score_of(graph, evidence, before) - 1e-9
        for u in range(len(after)):
            flipped = after.copy()
            flipped[u] = 1 - flipped[u]
            assert score_of(graph, evidence, flipped) <= score + 1e-5
        # A variable has at most so many rivals here that all swaps of neighbours are tried.
        for u, v in np.argwhere(near(graph) & (after == 0)[:, None] & (after == 1)):
            if len(set(np.flatnonzero(near(graph)[u] & (after == 1)))) <= 4:
                swapped = after.copy()
                swapped[[u, v]] = 1, 0
                alone = alone_somewhere(graph, after, int(u), int(v))
                assert not alone or score_of(graph, evidence, swapped) <= score + 1e-5


def near(graph: FactorGraph) -> np.ndarray:
    found = np.zeros((len(graph.states),) * 2, bool)
    for _, factors in graph.factors:
        scopes = factors.scopes()
        for i in range(len(scopes)):
            found[np.ix_(scopes[i], scopes[i])] = True
    return found


def alone_somewhere(graph: FactorGraph, values: np.ndarray, u: int, v: int) -> bool:
    """Whether v is the first variable ON in some factor of u: a rival."""
    for _, factors in graph.factors:
        scopes = factors.scopes()
        for i in range(len(scopes)):
            on = [w for w in scopes[i] if values[w] == 1]
            if u in scopes[i] and on and on[0] == v:
                return True
    return False


def test_no_kind_of_factor_is_climbed_down() -> None:
    rng = np.random.default_rng(5)
    models = [random_models.medley(np.random.default_rng(seed)) for seed in range(24)]
    graphs, evidence = zip(*models, strict=True)
    # From an assignment that is possible, where there is one, and from anywhere.
    known = [solve(graph, some).values for graph, some in models]
    start = np.concatenate([random_starts(rng, graph) for graph in graphs], 1)
    start = np.concatenate([np.concatenate(known)[None], start])
    after = climbed(graphs, list(evidence), start)
    end, possible = 0, 0
    for graph, some in models:
        mine = slice(end, end := end + len(graph.states))
        for before, now in zip(start[:, mine], after[:, mine], strict=True):
            old, new = (score_of(graph, some, values) for values in (before, now))
            assert new >= old - 1e-9 or np.isneginf(old)
            np.testing.assert_array_equal(before[graph.states > 2], now[graph.states > 2])
            possible += np.isfinite(new)
            for u in np.flatnonzero((graph.states == 2) & np.isfinite(new)):
                flipped = now.copy()
                flipped[u] = 1 - flipped[u]
                assert score_of(graph, some, flipped) <= new + 1e-5
    assert possible > len(models)


def test_a_swap_gets_past_two_flips_that_do_not_pay() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("both cover it", AnyOf.of([x, x[1:]], [5.0, 1.0]))
    graph, evidence = builder.build(), {"x": [-4.0, -4.0]}
    [after] = climbed(graph, evidence, np.array([[1, 0]]))
    assert after.tolist() == [0, 1]


def test_a_batch_climbs_as_each_graph_alone() -> None:
    models = [cover(np.random.default_rng(seed)) for seed in range(3)]
    graphs, evidence = zip(*models, strict=True)
    options = Options(method="max-product", iterations=5, restarts=4, climb=True, repair=False)
    together = solve(list(graphs), list(evidence), options)
    for graph, known, found in zip(graphs, evidence, together, strict=True):
        alone = solve(graph, known, options)
        np.testing.assert_array_equal(alone.values, found.values)
        plain = solve(graph, known, options, climb=False)
        assert found.score >= plain.score - 1e-6


def test_regions_are_components() -> None:
    graph, evidence = random_models.medley(np.random.default_rng(1))
    compiled = Problem.of(graph, evidence, np.float32).compiled
    labels, by_factor = regions(compiled.wiring)
    found = compiled.gather([np.asarray(label) for label in labels])
    reach = near(graph) | np.eye(len(graph.states), dtype=bool)
    for _ in range(4):
        reach = (reach.astype(int) @ reach.astype(int)) > 0
    np.testing.assert_array_equal(found[:, None] == found, reach)
    assert 1 < len(np.unique(found)) < len(found)
    known = zip(compiled.factor_rows, by_factor, compiled.wiring.parameters, strict=True)
    for rows, label, which in known:
        scopes = compiled.sets[which].factors.scopes()
        for row, mine in zip(rows, np.asarray(label), strict=True):
            assert row < 0 or mine == found[scopes[row][0]]


def test_restarts_are_chosen_region_by_region() -> None:
    """Two copies of a model that restarts solve by luck: together as well as each alone."""
    models = [cover(np.random.default_rng(seed), 30, 60) for seed in range(2)]
    builder = GraphBuilder()
    for number, (graph, _) in enumerate(models):
        x = builder.variables(f"x{number}", 30)
        for name, factors in graph.factors:
            builder.add(f"{name} {number}", factors.moved(int(x[0])))
    evidence = {f"x{number}": known["part"] for number, (_, known) in enumerate(models)}
    options = Options(method="max-product", iterations=5, restarts=6, repair=False, jitter=2.0)
    both = solve(builder.build(), evidence, options)
    single = solve(builder.build(), evidence, options, restarts=1)
    assert both.score > single.score
    parts = [score_of(graph, known, both[f"x{i}"]) for i, (graph, known) in enumerate(models)]
    assert both.score == pytest.approx(sum(parts), abs=1e-6)
