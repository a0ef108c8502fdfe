"""Max-product, the dual bound and repair, against enumeration."""

import time
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.core import memory
from mam.factors import Or, Pairwise, Table, Window
from mam.graph import GraphBuilder, compile_graphs
from mam.infer import Options, enumerate_exactly, restarts
from mam.infer import solve as solve_any_way
from mam.infer.options import check_numbers
from mam.infer.problem import graphs_of
from mam.models.examples import gene_network
from tests.oracles import random_models

SEEDS = st.integers(0, 10_000)
# Small models are solved exactly unless messages are asked for.
solve = partial(solve_any_way, method="max-product")


@pytest.mark.parametrize("shape", [0, 1])
@given(seed=SEEDS)
def test_trees_are_solved_exactly(shape: int, seed: int) -> None:
    graph, evidence = random_models.tree(np.random.default_rng(seed), shape)
    exact = enumerate_exactly(graph, evidence)
    solution = solve(graph, evidence, damping=0.0, bound=True)
    assert solution.converged
    assert solution.score == pytest.approx(exact.score, abs=1e-6)
    assert solution.values.tolist() in exact.best.tolist()
    assert exact.score - 1e-9 <= solution.bound <= exact.score + 1e-3


@pytest.mark.parametrize("make", ["attention_model", "sparsifier", "gates"])
@pytest.mark.parametrize("total", [10, pytest.param(25, marks=pytest.mark.slow)])
def test_bound_and_score_enclose_the_optimum(
    make: str, total: int, capsys: pytest.CaptureFixture
) -> None:
    solved, certified = 0, 0
    for seed in range(total):
        model, evidence = getattr(random_models, make)(np.random.default_rng(seed))
        graph = getattr(model, "graph", model)
        exact = enumerate_exactly(graph, evidence)
        solution = solve(graph, evidence, bound=True, restarts=16, seed=seed)
        assert solution.feasible and not solution.violated
        assert solution.score <= exact.score + 1e-6
        assert solution.bound >= exact.score - 1e-6
        solved += solution.score > exact.score - 1e-6
        certified += solution.gap < 1e-3
    with capsys.disabled():
        print(f"\n{make}: {solved}/{total} optimal, {certified} certified", end=" ")
    assert solved >= 0.9 * total


def test_the_bound_only_falls() -> None:
    graph, evidence = random_models.sparsifier(np.random.default_rng(3))
    bounds = [
        solve(graph, evidence, bound=True, bound_steps=steps, bound_tolerance=0.0).bound
        for steps in (1, 2, 4, 8, 16)
    ]
    assert all(a >= b - 1e-12 for a, b in pairwise(bounds))


def test_a_batch_answers_as_its_graphs_do_one_by_one() -> None:
    makers = [random_models.sparsifier, random_models.gates]
    cases = [makers[i % 2](np.random.default_rng(i)) for i in range(64)]
    options = Options(bound=True, seed=5, bound_steps=3, iterations=60)
    batch = solve([graph for graph, _ in cases], [evidence for _, evidence in cases], options)
    # Each graph alone has a shape of its own to compile.
    for (graph, evidence), together in zip(cases[:12], batch, strict=False):
        alone = solve(graph, evidence, options)
        assert together.values.tolist() == alone.values.tolist()
        assert together.score == pytest.approx(alone.score, abs=1e-9)
        assert together.bound == pytest.approx(alone.bound, abs=1e-6)
        assert together.iterations == alone.iterations


def test_restarts_do_not_depend_on_how_many_there_are() -> None:
    graph, evidence = random_models.sparsifier(np.random.default_rng(1))
    scores = [solve(graph, evidence, restarts=n, seed=2).score for n in (1, 3, 6)]
    assert scores == sorted(scores)


def test_blocks_agree_with_all_at_once() -> None:
    graph, evidence = random_models.tree(np.random.default_rng(8))
    at_once = solve(graph, evidence)
    in_blocks = solve(graph, evidence, schedule="blocks", seed=4)
    again = solve(graph, evidence, schedule="blocks", seed=4)
    assert in_blocks.score == pytest.approx(at_once.score)
    assert in_blocks.iterations == again.iterations


def test_a_tie_is_repaired() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4)
    one_of_four = np.eye(4, dtype=int)
    builder.add("one", Table.of([x], np.zeros(4), configurations=one_of_four))
    graph = builder.build()
    raw = solve(graph, noise=0.0, repair=False)
    assert raw.violated == ("one[0]",) and raw.score == -np.inf and "violates" in raw.explain()
    repaired = solve(graph)
    assert repaired["x"].sum() == 1 and repaired.score == 0 and repaired.violated == ()


def test_a_tie_on_a_tree_is_resolved() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4, 3)
    builder.add("agree", Pairwise.of(np.stack([x[:-1], x[1:]], 1), np.eye(3)))
    solution = solve(builder.build(), bound=True)
    assert solution.score == pytest.approx(3.0) and solution.optimal


def test_partners_are_read_as_sums_are() -> None:
    """Large batches read the only other message of a variable; small graphs add them up."""
    cases = [random_models.attention_model(np.random.default_rng(i)) for i in range(320)]
    graphs = [model.graph for model, _ in cases]
    batch = compile_graphs(graphs)
    assert all(port.partner is not None for ports in batch.wiring.ports for port in ports)
    together = solve(batch, [evidence for _, evidence in cases])
    for (model, evidence), solution in zip(cases[:4], together, strict=False):
        wiring = compile_graphs(model.graph).wiring
        summed = tuple(
            tuple(replace(port, partner=None) for port in ports) for ports in wiring.ports
        )
        alone = replace(compile_graphs(model.graph), wiring=replace(wiring, ports=summed))
        assert solve(alone, evidence).values.tolist() == solution.values.tolist()


def test_a_contradiction_is_reported() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("same", Pairwise.of([x], [[0, -np.inf], [-np.inf, 0]]))
    solution = solve(builder.build(), {"x": [np.inf, -np.inf]}, bound=True)
    assert not solution.feasible and not solution.optimal
    assert solution.impossible and solution.bound == -np.inf and solution.gap is None
    assert solution.violated == ("evidence of x[0]",)
    assert "no assignment is possible" in solution.explain()


def test_a_table_without_configurations_is_impossible() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("none", Table.of([x], [], configurations=[]))
    solution = solve(builder.build(), bound=True)
    assert solution.impossible and solution.violated == ("none[0]",)


def test_an_infeasible_answer_is_not_optimal() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("same", Pairwise.of([x], [[0, -np.inf], [-np.inf, 0]]))
    solution = solve(builder.build(), {"x": [np.inf, -np.inf]})
    assert not solution.feasible and not solution.optimal and not solution.impossible
    assert solution.violated == ("evidence of x[0]",)
    assert "violates evidence of x[0]" in solution.explain()


@pytest.mark.parametrize("certain", [np.inf, -np.inf])
def test_certain_evidence_is_obeyed(certain: float) -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 5)
    chain = np.stack([x[:-1], x[1:]], 1)
    builder.add("agree", Pairwise.of(chain, [[1, -1], [-1, 1]]))
    solution = solve(builder.build(), {"x": [certain, 0, 0, 0, 0.5]})
    assert solution["x"].tolist() == [int(certain > 0)] * 5
    assert solution.score == pytest.approx(4.5 if certain > 0 else 4.0)


def test_mixed_states_and_disconnected_variables() -> None:
    builder = GraphBuilder()
    a = builder.variables("a", (), 2)
    b = builder.variables("b", (), 5)
    builder.variables("alone", 2, 3)
    builder.variables("nothing", 0)
    matrix = np.zeros((2, 5))
    matrix[1, 3] = 2.0
    builder.add("ab", Pairwise.of([[a, b]], matrix))
    solution = solve(builder.build(), {"alone": [[0, 1, 0], [0, 0, 4]]}, bound=True)
    assert int(solution["a"]) == 1 and int(solution["b"]) == 3
    assert solution["alone"].tolist() == [1, 2]
    assert solution.score == pytest.approx(7.0) and solution.optimal
    assert solution["nothing"].shape == (0,)


def test_a_graph_without_factors() -> None:
    builder = GraphBuilder()
    builder.variables("x", 3)
    solution = solve(builder.build(), {"x": [1.0, -1.0, 2.0]}, bound=True)
    assert solution["x"].tolist() == [1, 0, 1] and solution.optimal


def test_new_evidence_and_new_potentials_need_no_new_structure() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("pair", Pairwise.of([x], [[0, 0], [0, 3]]))
    compiled = compile_graphs(builder.build())
    assert solve(compiled)["x"].tolist() == [1, 1]
    assert solve(compiled, {"x": [-9, 0]})["x"].tolist()[0] == 0
    changed = compiled.with_potentials({"pair": [[0, 5], [0, 0]]})
    assert solve(changed)["x"].tolist() == [0, 1]
    for wrong, said in ((np.nan, "NaN"), (np.inf, "inf")):
        with pytest.raises(ValueError, match=f"'pair' has {said}"):
            compiled.with_potentials({"pair": [[0, wrong], [0, 0]]})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"damping": 1.0}, "damping"),
        ({"restarts": 0}, "restarts"),
        ({"schedule": "random"}, "schedule"),
        ({"precision": "half"}, "precision"),
        ({"seed": -1}, "seed is a whole number of at least 0, not -1"),
        ({"noise": np.nan}, "noise is a number"),
    ],
)
def test_bad_options(changes: dict, message: str) -> None:
    graph, evidence = random_models.gates(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        solve(graph, evidence, **changes)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("seed", "a", "seed is a whole number of at least 0, not 'a'"),
        ("iterations", 10.5, "iterations is a whole number of at least 1, not 10.5"),
        ("restarts", "8", "restarts is a whole number"),
        ("tolerance", None, "tolerance is a number of at least 0, not None"),
    ],
)
def test_settings_that_are_no_numbers(name: str, value: object, message: str) -> None:
    # Asked of the check itself: in the tests, types are refused before it is reached.
    with pytest.raises(ValueError, match=message):
        check_numbers({**vars(Options()), name: value})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (None, "a graph is wanted, not None"),
        ("model.uai", "not a str"),
        (GraphBuilder(), r"not a GraphBuilder; call build\(\) first"),
        ([GraphBuilder().build(), 3], "not a int"),
        (gene_network(), "not a MarkovAttentionModel; give its .graph"),
    ],
)
def test_what_is_no_graph_is_named(given: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        graphs_of(given)


@pytest.mark.parametrize(
    ("evidence", "message"),
    [
        ({"prat": np.zeros(8)}, "did you mean 'part'"),
        ({"part": np.zeros(3)}, "shape"),
        ({"part": np.full(8, np.nan)}, "NaN"),
        ({"part": np.full(8, 1e7)}, "double"),
        ({"part": np.full((8, 2), -np.inf)}, r"every state of part\[0\]"),
    ],
)
def test_bad_evidence(evidence: dict, message: str) -> None:
    graph, _ = random_models.sparsifier(np.random.default_rng(0))
    with pytest.raises(ValueError, match=message):
        solve(graph, evidence)


def test_large_potentials_need_double_precision() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("pair", Pairwise.of([x], [[0, 0], [0, 5e4]]))
    with pytest.raises(ValueError, match=r"'pair'.*double"):
        solve(builder.build())
    double = solve(builder.build(), precision="double")
    assert double.score == pytest.approx(5e4) == solve_any_way(builder.build()).score


@pytest.mark.parametrize("radius", [4, 10**9])
def test_a_window_may_lie_beyond_its_grid(radius: int) -> None:
    builder = GraphBuilder()
    u, v = builder.variables("u", (), 25), builder.variables("v", (), 25)
    factors = Window.of([[u, v]], grid=(5, 5), offset=(radius + 2, 0), radius=radius)
    builder.add("apart", factors)
    solution = solve(builder.build(), bound=True)
    assert solution.score == 0 and solution.optimal
    assert solution["v"] // 5 - solution["u"] // 5 >= 2


def test_a_window_out_of_reach_is_impossible() -> None:
    builder = GraphBuilder()
    u, v = builder.variables("u", (), 25), builder.variables("v", (), 25)
    builder.add("apart", Window.of([[u, v]], grid=(5, 5), offset=(9, 0), radius=4))
    assert solve(builder.build(), bound=True).impossible


def test_a_model_beyond_the_memory_is_refused_before_it_is_wired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    builder = GraphBuilder()
    builder.add("wide", Table.of([builder.variables("x", 14)], np.zeros((2,) * 14)))
    monkeypatch.setattr(memory, "free_memory", lambda: 2e7)
    with pytest.raises(ValueError, match=r"from 8 starts needs about .* GB of memory"):
        solve(builder.build(), restarts=8)
    monkeypatch.setattr(memory, "free_memory", lambda: 2e9)
    assert solve(builder.build(), restarts=8).score == 0


def test_a_variable_with_many_states_is_not_padded() -> None:
    builder = GraphBuilder()
    builder.variables("x", (), 10**6)
    compiled = compile_graphs(builder.build())
    assert compiled.wiring.class_size(0) <= 8


def test_an_or_with_many_parents() -> None:
    builder = GraphBuilder()
    parents = builder.variables("parent", 1000)
    child = builder.variables("child", 1)
    builder.add("or", Or.of([parents], child))
    evidence = {"parent": np.linspace(-2, -1, 1000), "child": [np.inf]}
    solution = solve(builder.build(), evidence, bound=True)
    assert solution["parent"].sum() == 1 and solution["parent"][-1] == 1
    assert solution.score == pytest.approx(-1.0) and solution.gap < 1e-3


@pytest.mark.parametrize("schedule", ["parallel", "blocks"])
def test_messages_in_pieces_are_the_same(schedule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Long runs look at the clock now and then; that changes nothing."""
    drawn = [random_models.medley(np.random.default_rng(seed)) for seed in (3, 4)]
    graphs, evidence = map(list, zip(*drawn, strict=True))
    settings = {"schedule": schedule, "restarts": 3, "iterations": 50, "repair": False}
    together = solve(graphs, evidence, **settings)
    monkeypatch.setattr(restarts, "_SHORT", 0)
    in_pieces = solve(graphs, evidence, **settings)
    for one, other in zip(together, in_pieces, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
        np.testing.assert_array_equal(one.margins, other.margins)
        assert one.iterations == other.iterations and one.converged == other.converged


def test_messages_keep_to_their_time() -> None:
    """A grid of spins that takes minutes by itself; the answer is that of the time given."""
    rng = np.random.default_rng(0)
    builder = GraphBuilder()
    side, states = 60, 4
    cells = builder.variables("cell", (side, side), states)
    below = np.stack([cells[:-1].ravel(), cells[1:].ravel()], 1)
    beside = np.stack([cells[:, :-1].ravel(), cells[:, 1:].ravel()], 1)
    pairs = np.concatenate([below, beside])
    builder.add("pair", Pairwise.of(pairs, rng.normal(size=(len(pairs), states, states))))
    graph = builder.build()
    settings = {"iterations": 100_000, "tolerance": 0.0, "bound": True, "restarts": 2}
    solve(graph, message_seconds=0.0, **settings)  # compiles
    start = time.perf_counter()
    found = solve(graph, message_seconds=2.0, **settings)
    assert time.perf_counter() - start < 20  # some of it is not passing messages
    assert not found.converged and found.iterations < 100_000
    assert found.score <= found.bound
