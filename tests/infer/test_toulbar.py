"""toulbar2 must find what brute force finds, for every kind of factor."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Or, Pairwise, Pattern, PatternSet, Table
from mam.factors.network import Network, Tables
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly
from mam.infer.toulbar import (
    available,
    network_of,
    solve_in_process,
    solve_many,
    solve_with_toulbar2,
    to_toulbar2,
)
from tests.infer.toulbar_answers import in_order
from tests.models.graphs import (
    all_scores,
    every_assignment,
    structured_graph,
    table_evidence,
    table_graph,
)
from tests.oracles import random_models

pytest.importorskip("pytoulbar2")


def check(graph: FactorGraph, evidence: dict | None) -> float:
    values, score = solve_with_toulbar2(graph, evidence, timeout=60)
    scores = all_scores(graph, evidence)
    assert score == pytest.approx(scores.max(), abs=1e-6)
    if np.isfinite(score):
        place = np.flatnonzero((every_assignment(graph.states) == values).all(1))
        assert scores[place[0]] == pytest.approx(score, abs=1e-6)
    else:
        assert np.all(values == -1)
    return score


@pytest.mark.parametrize("kind", ["table", "or", "and", "pattern", "window", "choice"])
def test_every_kind_against_brute_force(kind: str) -> None:
    graph = structured_graph(kind)
    assert np.isfinite(check(graph, None))
    for seed in range(8):
        check(graph, table_evidence(graph, seed))


def test_a_long_choice_is_joined_two_by_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mam.factors.choice._LONG", 3)
    graph = structured_graph("choice")
    for seed in range(8):
        check(graph, table_evidence(graph, seed))


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_random_tables_against_brute_force(seed: int) -> None:
    graph = table_graph(seed)
    check(graph, table_evidence(graph, seed))


def test_medleys_in_one_process_against_enumeration() -> None:
    cases = [random_models.medley(np.random.default_rng(seed)) for seed in range(120)]
    answers = in_order(solve_many([network_of(*case) for case in cases], 60))
    for (graph, evidence), answer in zip(cases, answers, strict=True):
        exact = enumerate_exactly(graph, evidence)
        assert answer.proved and answer.resolution < 1e-10
        assert answer.impossible == np.isneginf(exact.score)
        if answer.values is not None:
            assert answer.values[: len(graph.states)].tolist() in exact.best.tolist()
            assert answer.score == pytest.approx(exact.score, abs=1e-12)
            assert exact.score <= answer.bound <= exact.score + 2 * answer.resolution
    assert 10 < sum(answer.impossible for answer in answers) < 110


def network(states: list[int], *tables: tuple[list[int], object]) -> Network:
    """A network of single tables, each with its scope."""
    found = [Tables(np.array([scope], np.int64), np.array(v, float)[None]) for scope, v in tables]
    return Network(np.array(states, np.int64), tuple(found))


def test_networks_at_the_edge() -> None:
    partly = [[-np.inf, 1.0]]
    networks = [network([]), network([3, 2], ([], 1.5)), network([1, 2], ([0, 1], partly))]
    nothing = network([2], ([0], [-np.inf, -np.inf]))
    empty, free, single, impossible = in_order(solve_many([*networks, nothing]))
    assert empty.proved and empty.values is not None and empty.values.shape == (0,)
    assert free.proved and free.score == 1.5
    assert single.values is not None and single.values.tolist() == [0, 1]
    assert impossible.impossible and impossible.bound == -np.inf
    assert in_order(solve_many([])) == []


def test_the_resolution_is_that_of_the_digits() -> None:
    fine, coarse = network([2], ([0], [0.0, 1.0])), network([2], ([0], [0.0, 1e8]))
    small, large = in_order(solve_many([fine, coarse]))
    assert small.resolution < 1e-11 < 1e-9 < large.resolution < 1e-6
    assert large.bound >= 1e8 and large.score == 1e8


def test_scores_of_wide_tables_are_those_of_the_values() -> None:
    rng = np.random.default_rng(0)
    states = np.array([2, 3, 2, 2])
    scopes = [[3, 1, 0, 2], [1], [0, 1, 2, 3]]
    tables = [rng.normal(size=states[scope]) for scope in scopes]
    for table in tables:
        table.flat[::3] = -np.inf
    answer = solve_in_process(network(states.tolist(), *zip(scopes, tables, strict=True)))
    values = every_assignment(states)
    scores = sum(t[tuple(values[:, s].T)] for t, s in zip(tables, scopes, strict=True))
    assert np.isfinite(answer.score)
    assert answer.score == pytest.approx(np.max(scores), abs=1e-12)
    assert values[np.argmax(scores)].tolist() == np.asarray(answer.values).tolist()


def test_differences_in_evidence_and_demands(capfd: pytest.CaptureFixture) -> None:
    graph = structured_graph("and")
    values, score = solve_with_toulbar2(graph, {"x": [0.5, np.inf, 0, 0, -np.inf, 0, 0, 0, -1]})
    assert values[1] == 1
    assert values[4] == values[2] == 0
    assert score == pytest.approx(0.5)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("logs", [[-np.inf, -np.inf], [-np.inf, 0.0]])
def test_an_impossible_graph_scores_minus_infinity(logs: list) -> None:
    builder = GraphBuilder()
    builder.variables("x", 1)
    builder.add("f", Table.of([[0]], logs))
    values, score = solve_with_toulbar2(builder.build(), {"x": [-np.inf]})
    assert score == -np.inf
    assert values.tolist() == [-1]


def impossible() -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", 3)
    differ = np.where(np.eye(2), -np.inf, 0.0)
    builder.add("differ", Pairwise.of([x[:2], x[1:], x[[0, 2]]], differ))
    return builder.build()


def random_pairs(variables: int, pairs: int) -> FactorGraph:
    rng = np.random.default_rng(0)
    builder = GraphBuilder()
    x = builder.variables("x", variables, states=3)
    scopes = np.array([rng.choice(x, 2, replace=False) for _ in range(pairs)])
    builder.add("f", Pairwise.of(scopes, rng.random((pairs, 3, 3)) * 10))
    return builder.build()


def test_an_impossibility_that_needs_search() -> None:
    assert solve_with_toulbar2(impossible())[1] == -np.inf


def test_an_impossible_graph_spoils_no_later_proof() -> None:
    graph = random_pairs(70, 230)
    before = solve_with_toulbar2(graph, timeout=60)[1]
    solve_with_toulbar2(impossible())
    assert solve_with_toulbar2(graph, timeout=60)[1] == before


def test_wide_factors_need_no_list() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 81)
    builder.add("o", Or.of([x[:40]], [x[80]], pi10=0.01))
    builder.add("p", Pattern.of([x[0]], [[x[40:60], x[60:80]]], PatternSet.of([[0, 0], [1, 1]])))
    evidence = np.full(81, -1.0)
    evidence[80], evidence[45], evidence[70] = 3.0, 0.5, 0.25
    values, score = solve_with_toulbar2(builder.build(), {"x": evidence})
    assert np.flatnonzero(values).tolist() == [0, 45, 70, 80]
    assert score == pytest.approx(-1 + 0.5 + 0.25 + 3)


def test_no_proof_in_time_is_an_error() -> None:
    graph = random_pairs(200, 1000)
    with pytest.raises(TimeoutError, match="longer timeout"):
        solve_with_toulbar2(graph, timeout=1)
    with pytest.raises(ValueError, match="timeout is a positive"):
        solve_with_toulbar2(graph, timeout=0)
    with pytest.raises(ValueError, match="positive number of seconds, not nan"):
        solve_in_process(network_of(graph), np.nan)


def test_names_and_the_way_back() -> None:
    graph = structured_graph("pattern")
    cfn, decode = to_toulbar2(graph)
    assert cfn.VariableIndices["x[3]"] == 3
    assert decode(range(100)).tolist() == list(range(9))
    cost = cfn.Solve()[1]
    assert decode.score(cost) == pytest.approx(all_scores(graph).max())
    assert to_toulbar2(impossible())[0].Solve() is None


def test_costs_that_do_not_fit_are_refused() -> None:
    builder = GraphBuilder()
    builder.variables("x", 1)
    builder.add("f", Table.of([[0]], [0.0, 1e12]))
    with pytest.raises(ValueError, match="-inf for what is impossible"):
        solve_with_toulbar2(builder.build())


def test_a_missing_package_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    assert available()
    monkeypatch.setitem(sys.modules, "pytoulbar2", None)
    assert not available()
    with pytest.raises(ValueError, match=r"pip install markov-attention\[interchange\]"):
        to_toulbar2(structured_graph("and"))
    with pytest.raises(ValueError, match="not installed"):
        solve_with_toulbar2(structured_graph("and"))
