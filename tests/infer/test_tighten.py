"""Bounds below the linear program: frustrated cycles against exact answers."""

import numpy as np
import pytest

from mam.factors import Or, Pairwise, Table
from mam.graph import FactorGraph, GraphBuilder, compile_graphs
from mam.infer import enumerate_exactly, solve
from mam.infer.cycles import frustrated_cycles
from mam.infer.pair_clusters import PairModel, with_values
from tests.oracles import random_models

DIFFER = np.array([[0.0, 1.0], [1.0, 0.0]])


def ring(length: int, states: int = 2) -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", length, states)
    builder.add("differ", Pairwise.of(np.stack([x, np.roll(x, -1)], 1), 1 - np.eye(states)))
    return builder.build()


@pytest.mark.parametrize("length", [3, 5, 9])
def test_an_odd_ring_is_solved(length: int) -> None:
    graph, evidence = ring(length), {"x": 0.1 * np.cos(np.arange(length))}
    loose = solve(graph, evidence, method="max-product", bound=True, tighten=0)
    tight = solve(graph, evidence, method="max-product", bound=True, tighten=2)
    assert loose.gap > 0.7 and tight.optimal
    assert tight.score == pytest.approx(enumerate_exactly(graph, evidence).score)


@pytest.mark.parametrize("side", [4, 6])
def test_spin_glasses_are_proved(side: int) -> None:
    for seed in range(2):
        graph, evidence = random_models.spin_glass(np.random.default_rng(seed), side)
        best = solve(graph, evidence, method="exact").score
        loose = solve(graph, evidence, method="max-product", bound=True, tighten=0)
        tight = solve(graph, evidence, method="max-product", bound=True, tighten=4)
        assert best - 1e-6 <= tight.bound <= loose.bound and tight.score <= best + 1e-6
        assert loose.gap > 2 and tight.optimal


def test_potts_grids_get_much_closer() -> None:
    graph, evidence = random_models.potts(np.random.default_rng(0), 6, 3)
    best = solve(graph, evidence, method="exact").score
    loose = solve(graph, evidence, method="max-product", bound=True, tighten=0)
    tight = solve(graph, evidence, method="max-product", bound=True, tighten=3)
    assert best - 1e-6 <= tight.bound <= best + 0.2 * (loose.bound - best)


def test_other_factors_stay_as_they_are() -> None:
    """Hard pairs, tables over pairs, two factors on one pair, and kinds that have no pairs."""
    for seed in range(2):
        rng = np.random.default_rng(seed)
        builder = GraphBuilder()
        x = builder.variables("x", 6)
        some, spot = builder.variables("some", 1), builder.variables("spot", 1, 4)
        builder.add("ring", Pairwise.of(np.stack([x[:5], np.roll(x[:5], -1)], 1), DIFFER))
        builder.add("again", Table.of([[x[1], x[0]]], rng.normal(size=(2, 2))))
        builder.add("hard", Pairwise.of([[x[4], x[5]]], [[-np.inf, 0], [0, 0]]))
        builder.add("three", Table.of([[x[0], x[2], spot[0]]], rng.normal(size=(2, 2, 4))))
        builder.add("or", Or.of([x], some))
        graph, evidence = builder.build(), {"x": rng.normal(size=6), "some": [-1.0]}
        exact = enumerate_exactly(graph, evidence)
        found = solve(graph, evidence, method="max-product", bound=True, tighten=3)
        assert found.feasible and exact.score - 1e-6 <= found.bound
        assert found.score <= exact.score + 1e-6


def test_clusters_leave_every_score_as_it_is() -> None:
    graph = ring(4, 3)
    model = PairModel.of(graph)
    larger, pairs = model.with_clusters([(0, 1, 2, 3)])
    assert len(pairs) == 5 and len(larger.states) == 9
    rng = np.random.default_rng(0)
    for _ in range(20):
        values = rng.integers(0, 3, size=4)
        both = [
            sum(float(f.scores(v).sum()) for _, f in g.factors)
            for g, v in ((graph, values), (larger, with_values(values, pairs, graph.states)))
        ]
        assert both[0] == both[1]


def test_only_frustrated_cycles_are_found() -> None:
    agree, states = 1 - DIFFER, np.full(4, 2)
    tables = {(0, 1): agree, (1, 2): agree, (2, 3): agree, (0, 3): agree}
    assert frustrated_cycles(tables, states) == []
    [(promise, cycle)] = frustrated_cycles(tables | {(0, 3): DIFFER}, states)
    assert promise == 1 and sorted(cycle) == [0, 1, 2, 3]


def test_a_batch_with_other_potentials_is_tightened() -> None:
    compiled = compile_graphs([ring(5), ring(3)]).with_potentials({"differ": 2 * DIFFER})
    first, second = solve(compiled, method="max-product", bound=True, tighten=1)
    assert first.optimal and first.score == 8 and second.optimal and second.score == 4


def test_rounds_cannot_be_negative() -> None:
    with pytest.raises(ValueError, match="tighten"):
        solve(ring(3), tighten=-1)
