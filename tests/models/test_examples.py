"""The paper's worked examples."""

import itertools

import numpy as np
import pytest

from mam.infer import enumerate_exactly, log_partition, solve
from mam.models.examples import (
    ElasticGraph,
    gene_network,
    line_sets,
    line_sparsifier,
    two_lines,
    two_lines_table,
)


def test_gene_network_has_four_joint_states_of_a_and_c() -> None:
    genes = gene_network()
    graph = genes.graph
    exact = enumerate_exactly(graph)
    ids = [graph.variable(name) for name in ("A", "C", "AB", "AD")]
    joint = np.unique(exact.values[:, ids], axis=0).tolist()
    assert joint == [[0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 1, 0], [1, 1, 0, 1]]


@pytest.mark.parametrize("method", ["exact", "structural"])
def test_gene_network_is_independent_in_context(method: str) -> None:
    genes = gene_network()
    assert genes.independent("A", "B", {"C": 1}, method=method)
    assert genes.independent("A", "D", {"C": 0}, method=method)
    assert not genes.independent("A", "B", {"C": 0}, method=method)
    assert not genes.independent("A", "D", {"C": 1}, method=method)


def test_without_context_the_gene_network_is_fully_connected() -> None:
    genes = gene_network()
    for x, y in itertools.combinations("ABCD", 2):
        assert not genes.independent(x, y)


def test_summing_out_the_others_makes_a_and_b_dependent() -> None:
    assert not gene_network().independent("A", "B", {"C": 1}, others="unknown")


def test_no_two_segments_are_independent_without_attention() -> None:
    """The claim of the paper about two lines, with lines and attention variables summed out."""
    lines = two_lines()
    summed = ["part[8]", "part[9]"]
    for x, y in itertools.combinations(range(8), 2):
        assert not lines.independent(f"part[{x}]", f"part[{y}]", marginal=summed), (x, y)
    # The paper's own example: with 21 and 32 alone ON, 12 and 41 are both ON or both OFF.
    others = {"part[0]": 0, "part[3]": 0, "part[4]": 0, "part[7]": 0, "part[2]": 1, "part[5]": 1}
    assert not lines.independent("part[1]", "part[6]", others, marginal=summed)
    with pytest.raises(ValueError, match=r"part\[1\] is asked about or given, and summed out"):
        lines.independent("part[1]", "part[2]", marginal=["part[1]"])


def test_summing_out_one_variable_is_between_all_and_none() -> None:
    genes = gene_network()
    # What B tells about A by way of D is lost with D, but not what it tells directly.
    assert genes.independent("A", "B", {"C": 1})
    assert not genes.independent("A", "B", {"C": 1}, marginal=["D"])
    assert not genes.independent("A", "B", {"C": 1}, marginal=["D"], method="structural")


@pytest.mark.parametrize(("rows", "lines"), [(2, 1), (3, 2), (4, 2), (4, 3)])
def test_the_table_of_lines_lists_what_the_model_allows(rows: int, lines: int) -> None:
    segments = 2 * rows
    exact = enumerate_exactly(two_lines(rows, lines).graph)
    known = {tuple(row) for row in exact.values[:, :segments].tolist()}
    sets = line_sets(rows, lines)
    assert {tuple(row) for row in sets.tolist()} == known and len(sets) == len(known)
    values = np.random.default_rng(rows).logistic(size=segments)
    table = solve(two_lines_table(rows, lines), {"segment": values})
    model = solve(two_lines(rows, lines).graph, {"part": np.append(values, np.zeros(lines))})
    assert table.score == pytest.approx(model.score)


def two_lines_by_hand() -> set[tuple[int, ...]]:
    """Every set of ON attention variables, straight from the words of the paper."""
    rows, lines = 4, 2
    lateral = [(a, b) for a in range(rows) for b in range(rows) if abs(a - b) <= 1]
    found = set()
    for count in range(lines + 1):
        for chosen in itertools.combinations(lateral, count):
            lefts, rights = [a for a, _ in chosen], [b for _, b in chosen]
            if len(set(lefts)) < count or len(set(rights)) < count:
                continue
            for owners in itertools.combinations(range(lines), count):
                for left_order in itertools.permutations(lefts):
                    for right_order in itertools.permutations(rights):
                        on = {16 + lateral.index(pair) for pair in chosen}
                        for line, a, b in zip(owners, left_order, right_order, strict=True):
                            on |= {8 * line + 2 * a, 8 * line + 2 * b + 1}
                        found.add(tuple(sorted(on)))
    return found


def test_two_lines_are_uniform_over_the_valid_configurations() -> None:
    model = two_lines()
    exact = enumerate_exactly(model.graph)
    attention = exact.values[:, model.graph.ids("attention")]
    found = {tuple(int(i) for i in np.flatnonzero(row)) for row in attention}
    assert found == two_lines_by_hand() and len(found) == len(exact.scores)
    assert np.ptp(exact.scores) == 0
    assert exact.log_partition == pytest.approx(np.log(len(found)))
    assert log_partition(model.graph, method="exact") == pytest.approx(np.log(len(found)))
    lines = exact.values[:, model.graph.ids("part")[8:]].sum(1)
    segments = exact.values[:, model.graph.ids("part")[:8]].sum(1)
    assert lines.max() == 2 and np.array_equal(segments, 2 * lines)


def test_two_lines_explain_four_segments() -> None:
    model = two_lines()
    part = np.array([np.inf, -9, -9, np.inf, np.inf, -9, -9, np.inf, 0, 0])
    solution = solve(model.graph, {"part": part}, bound=True, restarts=4)
    assert solution.feasible and solution["part"][:8].tolist() == [1, 0, 0, 1, 1, 0, 0, 1]


def test_a_line_is_explained_by_as_few_parts_as_possible() -> None:
    for parts in range(2, 51):
        graph, evidence = line_sparsifier(parts)
        solution = solve(graph, evidence)
        assert solution["part"].sum() == parts
        assert solution.score == pytest.approx(parts * np.log(0.1), abs=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_the_literal_letter_agrees_with_windows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    letter = ElasticGraph(
        rng.normal(size=(4, 3, 3)),
        np.array([[0, 1], [1, 2], [2, 3], [0, 3]]),
        np.array([1, 1, 0, 1]),
    )
    graph, evidence = letter.windowed()
    exact = enumerate_exactly(graph, evidence)
    windowed = solve(graph, evidence, restarts=4)
    model, parts = letter.literal(absent=-50.0)
    literal = solve(model.graph, parts, restarts=4, iterations=500)
    constant = -50.0 * (4 * 9 - 4)
    assert windowed.score == pytest.approx(exact.score, abs=1e-6)
    assert literal.score - constant == pytest.approx(exact.score, abs=1e-6)
    places = literal["part"][:-1].reshape(4, 9)
    assert places.sum(1).tolist() == [1, 1, 1, 1]
    assert places.argmax(1).tolist() == windowed["shift"].tolist()
