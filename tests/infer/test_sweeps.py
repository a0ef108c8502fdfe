"""Sweeps along an order: exact on forests, like a slow listing elsewhere, the same in any batch."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Pairwise, Table
from mam.graph import CompiledGraph, FactorGraph, GraphBuilder, compile_graphs
from mam.infer import Options, enumerate_exactly, hard_components
from mam.infer import solve as solve_any_way
from mam.infer.stages import Stages, stages_of
from tests.infer.test_compilations import compilations
from tests.oracles import random_models
from tests.oracles.sweeps import belief, sweep

SEEDS = st.integers(0, 10_000)
solve = partial(
    solve_any_way, method="max-product", schedule="sweeps", damping=0.0, precision="double"
)


@pytest.mark.parametrize("shape", [1, 2])
@given(seed=SEEDS)
def test_forests_are_exact_after_one_sweep(shape: int, seed: int) -> None:
    graph, evidence = random_models.forest(np.random.default_rng(seed), shape)
    assert stages_of(compile_graphs(graph)).exact.all()
    exact = enumerate_exactly(graph, evidence)
    ordered = solve(graph, evidence, iterations=1, decoding="in order", repair=False)
    assert ordered.score == pytest.approx(exact.score, abs=1e-6)
    plain = solve(graph, evidence, iterations=1, repair=False)
    if len(exact.best) == 1:
        assert plain.values.tolist() == exact.best[0].tolist() == ordered.values.tolist()


def loopy(rng: np.random.Generator) -> tuple[FactorGraph, dict]:
    """Pairs and triples in loops, in one structure, with a factor of one variable."""
    builder = GraphBuilder()
    x, y = builder.variables("x", 4), builder.variables("y", 3, 3)
    ring = [[0, 1], [2, 1], [2, 3], [3, 0]]
    builder.add("ring", Pairwise.of(ring, rng.normal(size=(4, 2, 2))))
    builder.add("table", Table.of([[x[3], y[0], y[2]]], rng.normal(size=(2, 3, 3))))
    builder.add("mixed", Pairwise.of([[x[0], y[0]], [x[2], y[1]]], rng.normal(size=(2, 2, 3))))
    builder.add("same", Pairwise.of([[y[1], y[2]]], rng.normal(size=(3, 3))))
    builder.add("one", Table.of([[y[1]]], rng.normal(size=3)))
    return builder.build(), {"x": rng.normal(size=4), "y": rng.normal(size=(3, 3))}


@settings(max_examples=10)
@given(seed=SEEDS, iterations=st.integers(1, 3))
def test_sweeps_are_those_of_a_listing(seed: int, iterations: int) -> None:
    rng = np.random.default_rng(seed)
    graph, evidence = loopy(rng)
    rank = rng.permutation(7)
    scores = [np.array([0.0, value]) for value in evidence["x"]] + list(evidence["y"])
    messages = sweep(graph, scores, rank, iterations)
    known = {"order": rank * 10.0, "iterations": iterations, "noise": 0.0, "tolerance": 0.0}
    found = solve(graph, evidence, repair=False, **known)
    for v in range(7):
        slow = np.sort(belief(scores, messages, v))
        assert found.margins[v] == pytest.approx(slow[-1] - slow[-2], abs=1e-8)
    single = solve(graph, evidence, repair=False, precision="single", **known)
    np.testing.assert_allclose(single.margins, found.margins, atol=1e-3)


@pytest.mark.parametrize("decoding", ["belief", "in order"])
def test_a_batch_answers_as_its_graphs_do_one_by_one(decoding: str) -> None:
    makers = [random_models.sparsifier, random_models.gates]
    cases = [makers[i % 2](np.random.default_rng(i)) for i in range(4)]
    options = Options(
        schedule="sweeps", decoding=decoding, method="max-product", iterations=7, restarts=2
    )
    batch = solve_any_way([graph for graph, _ in cases], [known for _, known in cases], options)
    for (graph, evidence), together in zip(cases, batch, strict=True):
        alone = solve_any_way(graph, evidence, options)
        assert together.values.tolist() == alone.values.tolist()
        assert together.iterations == alone.iterations
        assert together.converged == alone.converged


def test_pairs_that_are_oriented_alike_are_told_apart_from_others() -> None:
    rng = np.random.default_rng(4)
    graph, evidence = random_models.potts(rng, 7, 3)
    rows = np.arange(49)
    alike = stages_of(compile_graphs(graph), [rows])
    assert [way.sends for way in alike.iteration] == [((False, True),), ((True, False),)]
    mixed = stages_of(compile_graphs(graph), [rng.permutation(49)])
    assert [way.sends for way in mixed.iteration] == [((None, None),)]
    # The same sweeps, whether or not the ranks are looked at.
    upside_down = [solve(graph, evidence, order=rank, iterations=3) for rank in (rows, -rows)]
    turned = GraphBuilder()
    x = turned.variables("x", (7, 7), 3)
    (_, pairs) = graph.factors[0]
    where = pairs.scopes().values.reshape(-1, 2)
    tables = pairs.potentials[pairs.row].reshape(-1, 3, 3)
    turn = rng.random(len(where)) < 0.5
    tables = np.where(turn[:, None, None], tables.swapaxes(1, 2), tables)
    turned.add("pair", Pairwise.of(np.where(turn[:, None], where[:, ::-1], where), tables))
    assert x.shape == (7, 7)
    for rank, straight in zip((rows, -rows), upside_down, strict=True):
        other = solve(turned.build(), evidence, order=rank, iterations=3)
        assert other.score == pytest.approx(straight.score, abs=1e-9)


def test_other_orders_and_evidence_compile_nothing() -> None:
    rng = np.random.default_rng(5)
    graph, evidence = loopy(rng)
    compiled = compile_graphs(graph)
    solve(compiled, evidence, order=rng.permutation(7), repair=False)
    with compilations() as names:
        solve(compiled, loopy(rng)[1], order=rng.permutation(7), repair=False, iterations=9)
    assert names == []


def test_graphs_of_many_sizes_share_few_shapes() -> None:
    rng = np.random.default_rng(6)
    with compilations() as names:
        for size in rng.integers(5, 200, 20):
            builder = GraphBuilder()
            x = builder.variables("x", int(size))
            pairs = rng.permuted(np.stack([x[:-1], x[1:]], 1), axis=1)
            builder.add("pair", Pairwise.of(pairs, rng.normal(size=(2, 2))))
            solve(builder.build(), {"x": rng.normal(size=size)}, repair=False)
    assert len([name for name in names if "sweep" in name]) <= 2


def test_components_are_swept_along_the_given_order(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def watched(compiled: CompiledGraph, order: list[np.ndarray]) -> Stages:
        seen.append([one.tolist() for one in order])
        return stages_of(compiled, order)

    monkeypatch.setattr(hard_components, "available", lambda: False)
    monkeypatch.setattr("mam.infer.restarts.stages_of", watched)
    graph, evidence = random_models.potts(np.random.default_rng(7), 3, 3)
    given_ = np.arange(9)[::-1].copy()
    found = solve(graph, evidence, method="auto", largest_table=3, order=given_)
    assert seen == [[given_.tolist()]] and found.feasible


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"order": np.zeros(6)}, "order of graph 0 has shape"),
        ({"order": np.full(7, np.nan)}, "order of graph 0"),
        ({"order": np.zeros(7), "schedule": "parallel"}, "an order is for schedule='sweeps'"),
        ({"schedule": "blocks", "decoding": "in order"}, "needs schedule='sweeps'"),
        ({"decoding": "best"}, "decoding is one of"),
    ],
)
def test_bad_settings(changes: dict, message: str) -> None:
    graph, evidence = loopy(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        solve(graph, evidence, **changes)


def test_factors_without_variables_and_graphs_without_factors() -> None:
    builder = GraphBuilder()
    builder.variables("x", 3, 4)
    found = solve(builder.build(), {"x": np.eye(3, 4)}, decoding="in order")
    assert found["x"].tolist() == [0, 1, 2] and found.score == 3.0
