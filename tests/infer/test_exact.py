"""Components and exact answers, against enumeration; what is refused."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import And, Or, Pairwise, Pattern, Table, Window
from mam.graph import FactorGraph, GraphBuilder, GraphUnion, compile_graphs, union_scores
from mam.infer import (
    Exact,
    Solution,
    TooLarge,
    enumerate_exactly,
    log_partition,
    marginals,
    solve,
)
from mam.infer.eliminate import Eliminated, eliminate
from mam.infer.tables import maximum, pass_up
from mam.infer.toulbar import solve_with_toulbar2
from tests.infer.test_compilations import compilations
from tests.oracles import random_models

SEEDS = st.integers(0, 10**6)


def exactly(graph: FactorGraph, evidence: dict | None = None, **changes: object):
    return solve(graph, evidence, method="exact", **changes)


def check(graph: FactorGraph, evidence: dict) -> None:
    """Compare score, assignment, margins, log Z and marginals with the list of all cases."""
    listed = enumerate_exactly(graph, evidence)
    found = exactly(graph, evidence)
    assert found.values.tolist() == exactly(graph, evidence).values.tolist()
    check_best(found, listed)
    if np.isneginf(listed.score):
        assert log_partition(graph, evidence) == -np.inf
        return
    result = marginals(graph, evidence, method="exact")
    assert result.log_partition == pytest.approx(listed.log_partition, abs=1e-9)
    for group in graph.variables:
        shares = result[group.name].reshape(group.size, group.states)
        for variable, share in zip(group.ids.ravel(), shares, strict=True):
            np.testing.assert_allclose(share, listed.marginal([int(variable)]), atol=1e-9)


def check_best(found: Solution, listed: Exact) -> None:
    """Compare score, assignment and margins with the list of all cases."""
    assert found.proof == "exact"
    if np.isneginf(listed.score):
        assert found.impossible and not found.feasible and not found.optimal and found.violated
        return
    assert found.optimal and found.bound == found.score == pytest.approx(listed.score, abs=1e-9)
    assert found.values.tolist() in listed.best.tolist()
    for variable, count in enumerate(found.graph.states):
        chosen = listed.values[:, variable]
        best = [listed.scores[chosen == s].max(initial=-np.inf) for s in range(count)]
        second, first = np.sort(best)[-2:]
        assert found.margins[variable] == pytest.approx(first - second, abs=1e-9)


def grid(side: int, rng: np.random.Generator) -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", (side, side))
    across = np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1)
    down = np.stack([x[:-1].ravel(), x[1:].ravel()], 1)
    pairs = np.concatenate([across, down])
    builder.add("pair", Pairwise.of(pairs, rng.normal(size=(len(pairs), 2, 2))))
    return builder.build()


@settings(max_examples=60)
@given(seed=SEEDS)
def test_medleys_agree_with_enumeration(seed: int) -> None:
    check(*random_models.medley(np.random.default_rng(seed)))


@pytest.mark.slow
@settings(max_examples=100)
@given(seed=st.integers(0, 10**9))
def test_ten_thousand_medleys_agree_with_enumeration(seed: int) -> None:
    """A hundred of them at once, a hundred times: each as if it were alone."""
    models = [random_models.medley(np.random.default_rng([seed, i])) for i in range(100)]
    graphs, evidence = (list(part) for part in zip(*models, strict=True))
    for model, found in zip(models, exactly(graphs, evidence), strict=True):
        check_best(found, enumerate_exactly(*model))


def test_medleys_are_sometimes_impossible_and_sometimes_not() -> None:
    models = [random_models.medley(np.random.default_rng(seed)) for seed in range(60)]
    assert 3 < sum(exactly(*model).impossible for model in models) < 57


@settings(max_examples=15)
@given(seed=SEEDS)
def test_other_models_agree_with_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    check(*random_models.tree(rng, shape=seed))
    check(*random_models.sparsifier(rng))
    check(*random_models.gates(rng))
    model, evidence = random_models.attention_model(rng)
    check(model.graph, evidence)


@settings(max_examples=2)
@given(seed=SEEDS)
def test_auto_is_never_worse_than_max_product(seed: int) -> None:
    graph, evidence = random_models.medley(np.random.default_rng(seed))
    # No table may be large, so that some components are left to messages.
    found = solve(graph, evidence, largest_table=8, bound=True)
    listed = enumerate_exactly(graph, evidence)
    by_messages = solve(graph, evidence, method="max-product", bound=True)
    assert found.score >= by_messages.score - 1e-6
    assert found.score <= listed.score + 1e-9
    assert found.bound is not None and found.bound >= listed.score - 1e-6


def test_a_batch_answers_as_its_graphs_do_one_by_one() -> None:
    models = [random_models.medley(np.random.default_rng(seed)) for seed in range(40)]
    graphs, evidence = zip(*models, strict=True)
    for largest in (1 << 20, 8):
        together = solve(list(graphs), list(evidence), largest_table=largest)
        few = zip(graphs[:6], evidence[:6], strict=True)
        alone = [solve(g, e, largest_table=largest) for g, e in few]
        for one, other in zip(together, alone, strict=False):
            assert one.values.tolist() == other.values.tolist()
            assert one.score == pytest.approx(other.score)
            assert one.ways == other.ways


def test_nothing_is_compiled_for_an_exact_answer() -> None:
    with compilations() as names:
        for seed in range(20):
            solve(*random_models.medley(np.random.default_rng(seed)))
    assert names == []


def test_a_compiled_graph_keeps_its_own_potentials() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 2)
    builder.add("pair", Pairwise.of([x], [[0, 0], [0, 3]]))
    compiled = compile_graphs(builder.build()).with_potentials({"pair": [[0, 5], [0, 0]]})
    assert exactly(compiled)["x"].tolist() == [0, 1]


def test_components_and_lonely_variables_add_up() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4)
    builder.variables("alone", 2, states=5)
    builder.variables("none", 0)
    builder.add("pair", Pairwise.of([[x[0], x[1]], [x[2], x[3]]], [[0.0, 2.0], [1.0, 0.0]]))
    graph = builder.build()
    found = exactly(graph, {"alone": [[0, 0, 7, 0, 0]] * 2})
    assert (found.values.tolist(), found.score) == ([0, 1, 0, 1, 2, 2], 18.0)
    assert found.ways == {"elimination": 4}
    assert "4 components: 4 by elimination" in found.explain()
    once = np.log(2 + np.exp(1) + np.exp(2))
    assert log_partition(graph) == pytest.approx(2 * once + 2 * np.log(5))
    assert exactly(GraphBuilder().build()).score == 0


def test_equal_components_are_solved_once() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", (50, 3))
    pairs = np.concatenate([x[:, :2], x[:, 1:]])
    builder.add("differ", Pairwise.of(pairs, [[0, 1], [1, 0]]))
    scores = np.zeros((50, 3))
    scores[:, 0] = np.arange(50) % 2  # two kinds of components, in turn
    scores[7] = [0, -3, 0]
    union = GraphUnion.of(builder.build())
    found = eliminate(union, union_scores(union, {"x": scores}))
    assert found.split.twins.alone.sum() == 3
    assert sum(len(step.scopes) for step in pass_steps(found)) == 9
    answer = exactly(builder.build(), {"x": scores})
    assert answer.ways == {"elimination": 50}
    assert answer.score == 100 + 25 - 1
    alone = [exactly(*one_component(scores[i])) for i in range(50)]
    assert answer["x"].tolist() == [one["x"].tolist() for one in alone]
    np.testing.assert_allclose(answer.margin("x"), [one.margin("x") for one in alone])
    shares = marginals(builder.build(), {"x": scores})["x"]
    each = [marginals(*one_component(scores[i]))["x"] for i in range(50)]
    np.testing.assert_allclose(shares, each)
    total = sum(log_partition(*one_component(scores[i])) for i in range(50))
    assert log_partition(builder.build(), {"x": scores}) == pytest.approx(total)


def pass_steps(found: Eliminated) -> tuple:
    network = found.split.network
    return pass_up(network.tables, found.split.plan, network.states, maximum).steps


def one_component(scores: np.ndarray) -> tuple[FactorGraph, dict]:
    builder = GraphBuilder()
    x = builder.variables("x", 3)
    builder.add("differ", Pairwise.of([x[:2], x[1:]], [[0, 1], [1, 0]]))
    return builder.build(), {"x": scores}


def test_context_splits_a_factor() -> None:
    """An OR that one parent explains says nothing about the others."""
    builder = GraphBuilder()
    x = builder.variables("x", 6)
    builder.add("or", Or.of([x[:5]], [x[5]]))
    evidence = {"x": [np.inf, 1.0, -1.0, 2.0, -2.0, np.inf]}
    found = exactly(builder.build(), evidence)
    assert found["x"].tolist() == [1, 1, 0, 1, 0, 1]
    assert found.ways == {"elimination": 3}  # the third and the fourth are written as one OR


def test_contradictory_evidence_gives_a_named_infinity() -> None:
    graph, _ = random_models.gates(np.random.default_rng(0), inputs=2)
    evidence = {"bit": [np.inf, np.inf], "both": [-np.inf]}
    solution = exactly(graph, evidence)
    assert solution.score == -np.inf == solution.bound
    assert solution.gap is None and solution.impossible and not solution.optimal
    assert solution.violated
    assert "no assignment is possible" in solution.explain()
    assert log_partition(graph, evidence) == -np.inf
    with pytest.raises(ValueError, match=r"forbids every state of bit\[0\]"):
        exactly(graph, {"bit": [[-np.inf, -np.inf], [0, 0]]})


@pytest.mark.parametrize("scores", [[1e17, -0.5, 0.25], [1e308] * 3])
def test_scores_beyond_double_precision_are_refused(scores: list[float]) -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 3)
    builder.add("pair", Pairwise.of([x[:2], x[1:]], np.eye(2)))
    for answer in (exactly, log_partition, enumerate_exactly):
        with pytest.raises(ValueError, match=r"'x' has a score of magnitude"):
            answer(builder.build(), {"x": scores})
    builder.add("large", Pairwise.of([x[:2]], [[0, scores[0]], [0, 0]]))
    with pytest.raises(ValueError, match=r"'large' has a log potential of magnitude"):
        exactly(builder.build())


def test_evidence_makes_a_wide_model_narrow() -> None:
    graph = grid(40, np.random.default_rng(2))
    known = np.zeros((40, 40))
    known[::2] = np.inf
    found = exactly(graph, {"x": known})
    assert found["x"][::2].all() and found.ways == {"elimination": 20}


def test_grids_are_fast() -> None:
    graph = grid(14, np.random.default_rng(3))
    start = time.process_time()
    found = exactly(graph)
    # A front of the grid is what a table holds; min-fill alone needs more here.
    assert time.process_time() - start < 10
    assert found.score == pytest.approx(graph.factors[0][1].scores(found.values).sum())


def forest(size: int, seed: int) -> tuple[FactorGraph, dict]:
    """A deep forest of all six kinds of factors: new variables hang on random earlier ones."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder()
    bit, spot = builder.variables("bit", size), builder.variables("spot", size // 10, 9)
    # Blocks of ten bits, each block joined to one of the last blocks before it.
    block = bit.reshape(-1, 10)
    before = np.maximum(np.arange(1, len(block)) - rng.integers(1, 4, len(block) - 1), 0)
    joints = np.stack([block[before, rng.integers(0, 10, len(before))], block[1:, 0]], 1)
    builder.add("pair", Pairwise.of(joints, rng.normal(size=(len(joints), 2, 2))))
    builder.add("and", And.of(block[:, [0, 1]], block[:, 2]))
    builder.add("or", Or.of(block[:, 2:5], block[:, 5], pi01=0.1, pi10=0.2))
    sides = [[0, 0], [0, 1], [1, 0], [1, 1]]
    groups = [[[b[6]], [b[7], b[8]]] for b in block.tolist()]
    builder.add("pattern", Pattern.of(block[:, 5], groups, sides, [0, -1.6, -1.6, 0]))
    tables = rng.normal(size=(len(block), 2, 2))
    builder.add("table", Table.of(block[:, [8, 9]], tables))
    near = np.stack([spot[:-1], spot[1:]], 1)[rng.random(len(spot) - 1) < 0.9]
    builder.add("window", Window.of(near, grid=(3, 3), radius=1))
    builder.add("both", Pairwise.of(np.stack([block[:, 9], spot], 1)[:1], rng.normal(size=(2, 9))))
    evidence = {"bit": rng.normal(size=size), "spot": rng.normal(size=(size // 10, 9))}
    return builder.build(), evidence


def test_forests_of_all_kinds_are_solved_exactly() -> None:
    graph, evidence = forest(40, 0)
    listed = exactly(graph, evidence)
    assert listed.score == pytest.approx(solve_with_toulbar2(graph, evidence)[1], abs=1e-6)


@pytest.mark.slow
def test_a_large_forest_of_all_kinds_against_toulbar2() -> None:
    graph, evidence = forest(100_000, 0)
    start = time.perf_counter()
    found = exactly(graph, evidence)
    assert time.perf_counter() - start < 60
    assert found.score == pytest.approx(solve_with_toulbar2(graph, evidence)[1], abs=1e-3)


def test_time_is_linear_in_the_size_of_a_forest() -> None:
    times = []
    for size in (2_000, 20_000):
        graph, evidence = forest(size, 1)
        start = time.process_time()
        found = exactly(graph, evidence)
        times.append(time.process_time() - start)
        assert found.proof == "exact"
    # Ten times the size: a quadratic step would take a hundred times as long.
    assert times[1] < 30 * times[0]


def test_a_long_chain_takes_few_rounds() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 100_000)
    pairs = np.stack([x[:-1], x[1:]], 1)
    builder.add("differ", Pairwise.of(pairs, [[0, 1], [1, 0]]))
    union = GraphUnion.of(builder.build())
    found = eliminate(union, union_scores(union, None))
    assert len(found.split.plan.rounds) < 60
    assert (found.values[1:] != found.values[:-1]).all()


def test_a_factor_with_thousands_of_members_stays_small() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 4001)
    builder.add("pattern", Pattern.of(x[:1], [[x[1:2001], x[2001:]]], [[0, 0], [1, 1]], [0, 5]))
    evidence = {"x": np.r_[0.0, np.linspace(-3, -2, 4000)]}
    found = exactly(builder.build(), evidence)
    assert found["x"][[0, 2000, 4000]].all() and found["x"].sum() == 3
    assert found.score == pytest.approx(5 + evidence["x"][2000] + evidence["x"][4000])


def wide_graphs() -> dict[str, tuple[FactorGraph, str]]:
    wide = {"grid": (grid(26, np.random.default_rng(0)), "reaches width .* entries, above")}
    builder = GraphBuilder()
    builder.variables("x", 2, states=10000)
    builder.add("window", Window.of([[0, 1]], grid=(100, 100), radius=3))
    wide["window"] = builder.build(), "table is too large to write down"
    return wide


@pytest.mark.parametrize("kind", ["grid", "window"])
def test_what_is_too_wide_is_refused_before_it_is_allocated(kind: str) -> None:
    graph, message = wide_graphs()[kind]
    tracemalloc.start()
    try:
        with pytest.raises(TooLarge, match=f"{message}.*method='auto' would solve 1 of its comp"):
            exactly(graph)
        with pytest.raises(ValueError, match=message):
            marginals(graph, method="exact")
        assert tracemalloc.get_traced_memory()[1] < 40e6
    finally:
        tracemalloc.stop()


def test_the_limit_can_be_chosen() -> None:
    graph = grid(5, np.random.default_rng(0))
    assert exactly(graph, largest_table=128).score == exactly(graph).score
    with pytest.raises(TooLarge, match=r"width \d+ and a table of .* above 16"):
        exactly(graph, largest_table=16)


def test_what_toulbar2_cannot_prove_in_its_time_goes_to_messages() -> None:
    graph, evidence = random_models.potts(np.random.default_rng(0), 9)
    open_ = solve(graph, evidence, seconds=0.02, bound=True, bound_steps=5, iterations=20)
    assert open_.ways in ({"max-product": 1}, {"toulbar2 and max-product": 1})
    assert open_.feasible and open_.bound is not None and open_.bound >= open_.score
    proved = solve(graph, evidence, method="toulbar2", seconds=60)
    assert proved.ways == {"toulbar2": 1} and proved.proof == "exact"
    assert proved.score >= open_.score - 1e-6
    assert open_.bound >= proved.score - 1e-6


def test_one_listed_case_over_many_variables() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 30)
    builder.add("table", Table.of([x], [0.0], configurations=[[1] * 30]))
    assert exactly(builder.build())["x"].all()
    assert log_partition(builder.build(), method="exact") == 0
