"""UAI files: round trips, and files that want to do harm."""

import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.factors import Or, Table
from mam.graph import GraphBuilder
from mam.models.uai import (
    UaiModel,
    read_uai,
    read_uai_evidence,
    write_uai,
    write_uai_evidence,
)
from tests.models.graphs import all_scores, every_assignment, table_evidence, table_graph

SMALL = """MARKOV
3
2 1 3
4
2 2 0
1 1
0
2 0 2

6
 0.5 0 1
 2 3 4
1 0.5
1 8
6 1 1 1 1 1 1e-3
"""


def written(folder: Path, text: str | bytes, name: str = "model.uai") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def scores_in_file_order(model: UaiModel) -> np.ndarray:
    """Score of every assignment of the file's variables, the last changing fastest."""
    by_graph = dict(
        zip(map(tuple, every_assignment(model.graph.states)), all_scores(model.graph), strict=True)
    )
    result = []
    for values in every_assignment(model.states):
        inside = np.zeros(len(model.graph.states), np.int64)
        known = model.position >= 0
        inside[model.position[known]] = values[known]
        result.append(by_graph[tuple(inside)] + model.constant)
    return np.array(result)


def test_a_small_file_scores_as_written(tmp_path: Path) -> None:
    model = read_uai(written(tmp_path, SMALL))
    assert model.states.tolist() == [2, 1, 3]
    first = np.array([[0.5, 0, 1], [2, 3, 4]]).reshape(3, 2).T  # its scope is (2, 0)
    second = np.array([[1, 1, 1], [1, 1, 1e-3]])
    with np.errstate(divide="ignore"):
        expected = np.log(first * second * 0.5 * 8).ravel()
    np.testing.assert_allclose(scores_in_file_order(model), expected)


def test_answers_of_a_model_have_its_constant(tmp_path: Path) -> None:
    model = read_uai(written(tmp_path, SMALL))
    scores = scores_in_file_order(model)
    answer = model.solve()
    assert answer.solution.score == pytest.approx(scores.max())
    assert answer.solution.bound == answer.solution.score
    assert every_assignment(model.states)[scores.argmax()].tolist() == answer.assignment.tolist()
    assert model.log_partition() == pytest.approx(np.log(np.exp(scores).sum()))
    zeros = every_assignment(model.states)[:, 0] == 0
    assert model.solve({0: 0}).solution.score == pytest.approx(scores[zeros].max())
    assert model.log_partition({0: 0}) == pytest.approx(np.log(np.exp(scores[zeros]).sum()))
    with pytest.raises(ValueError, match="one of auto, exact, quick"):
        model.solve(method="guess")


def test_bayes_is_a_product_of_tables(tmp_path: Path) -> None:
    text = "BAYES\n2\n2 2\n2\n1 0\n2 0 1\n2 0.25 0.75\n4 0.9 0.1 0.2 0.8\n"
    expected = np.log([0.25 * 0.9, 0.25 * 0.1, 0.75 * 0.2, 0.75 * 0.8])
    model = read_uai(written(tmp_path, text))
    np.testing.assert_allclose(scores_in_file_order(model), expected)


@given(st.integers(0, 10**6), st.booleans())
def test_graphs_survive_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, seed: int, observed: bool
) -> None:
    graph = table_graph(seed)
    evidence = table_evidence(graph, seed) if observed else None
    path = tmp_path_factory.mktemp("uai") / "graph.uai"
    write_uai(graph, path, evidence)
    model = read_uai(path)
    expected = all_scores(graph, evidence)
    np.testing.assert_allclose(scores_in_file_order(model), expected, atol=1e-12)
    write_uai(model, path)
    again = read_uai(path)
    assert again.states.tolist() == model.states.tolist()
    np.testing.assert_allclose(scores_in_file_order(again), expected, atol=1e-12)


def test_a_model_keeps_its_one_state_variables_and_constants(tmp_path: Path) -> None:
    model = read_uai(written(tmp_path, SMALL))
    write_uai(model, tmp_path / "again.uai")
    again = read_uai(tmp_path / "again.uai")
    assert again.states.tolist() == [2, 1, 3]
    np.testing.assert_allclose(scores_in_file_order(again), scores_in_file_order(model))


def test_potentials_beyond_a_double_are_split(tmp_path: Path) -> None:
    builder = GraphBuilder()
    builder.variables("x", 1)
    builder.add("f", Table.of([[0]], [-2000.0, 3000.0]))
    write_uai(builder.build(), tmp_path / "far.uai")
    model = read_uai(tmp_path / "far.uai")
    np.testing.assert_allclose(scores_in_file_order(model), [-2000.0, 3000.0])


def test_a_structured_factor_that_is_too_large_is_named(tmp_path: Path) -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 41)
    builder.add("wide", Or.of([x[:40]], [x[40]]))
    with pytest.raises(ValueError, match=r"wide\[0\].*to_toulbar2"):
        write_uai(builder.build(), tmp_path / "wide.uai")


HOSTILE = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "binary": (b"\x00\xff\xfe\x89PNG\r\n" * 9, "line 1.*MARKOV or BAYES"),
    "other format": (b"p cnf 3 2\n1 -3 0\n", "line 1.*MARKOV or BAYES"),
    "header only": (b"MARKOV\n", "line 1.*ends"),
    "binary after the header": (b"MARKOV\n2\n\x00\x01 2\n", "line 3.*not a number"),
    "non-number": (b"MARKOV\n1\n2\n1\n1 0\n2 0.5 half\n", "line 6.*'half' is not a number"),
    "underscores": (b"MARKOV\n1\n2\n1\n1 0\n2 0.5 1_0\n", "line 6.*'1_0' is not a number"),
    "negative variables": (b"MARKOV\n-3\n2\n", "line 2.*negative: -3"),
    "10^12 variables": (b"MARKOV\n1000000000000\n2 2\n", "line 2: 1000000000000 variables"),
    "infinitely many variables": (b"MARKOV\ninf\n2 2\n", "line 2.*whole number"),
    "no states": (b"MARKOV\n2\n2 0\n0\n", "line 3.*variable 1 has 0 states"),
    "negative states": (b"MARKOV\n2\n2 -2\n0\n", "line 3.*variable 1 has -2 states"),
    "half a state": (b"MARKOV\n2\n2 2.5\n0\n", "line 3.*whole number, not 2.5"),
    "free variable": (b"MARKOV\n1\n1000000000000\n0\n", "line 3.*variable 0.*no factor"),
    "many free variables": (b"MARKOV\n4\n9 9 600000 600000\n0\n", "line 3.*variable 3"),
    "no factors line": (b"MARKOV\n2\n2 2\n", "line 3.*ends here"),
    "10^12 factors": (b"MARKOV\n2\n2 2\n1000000000000\n1 0\n", "line 4: 1000000000000 factors"),
    "negative factors": (b"MARKOV\n2\n2 2\n-1\n1 0\n", "line 4.*negative"),
    "long scope": (b"MARKOV\n2\n2 2\n1\n1000000000000 0\n", "line 5: 1000000000000 variables"),
    "negative scope": (b"MARKOV\n2\n2 2\n1\n-2 0\n", "line 5.*negative"),
    "missing scope": (b"MARKOV\n2\n2 2\n2\n1 0\n", "line 5.*ends here"),
    "missing variable": (b"MARKOV\n2\n2 2\n1\n1 2\n2 1 1\n", "line 5.*variable 2.*0 to 1"),
    "negative variable": (b"MARKOV\n2\n2 2\n1\n1 -1\n2 1 1\n", "line 5.*variable -1"),
    "variable twice": (b"MARKOV\n2\n2 2\n1\n2 1 1\n4 1 1 1 1\n", "line 5.*variable 1 twice"),
    "wrong size": (b"MARKOV\n2\n2 2\n1\n2 0 1\n3 1 1 1\n", "line 6.*announces 3.*multiply to 4"),
    "10^12 potentials": (
        b"MARKOV\n2\n1000000 1000000\n1\n2 0 1\n1000000000000 1 1\n",
        "line 6.*needs? .*more numbers",
    ),
    "overflowing scope": (
        b"MARKOV\n40\n"
        + b"1000000000 " * 40
        + b"\n1\n40 "
        + b" ".join(b"%d" % i for i in range(40))
        + b"\n1 1\n",
        "line 6.*announces 1 potentials",
    ),
    "truncated table": (b"MARKOV\n1\n2\n1\n1 0\n2 1\n", "line 6.*1 more number"),
    "missing table": (b"MARKOV\n1\n2\n2\n1 0\n1 0\n2 1 1\n", "line 7.*3 more numbers"),
    "extra numbers": (b"MARKOV\n1\n2\n1\n1 0\n2 1 1\n\n7\n", "line 8.*nothing may follow"),
    "negative potential": (b"MARKOV\n1\n2\n1\n1 0\n2 1 -1\n", "line 6.*factor 0.*-1"),
    "nan": (b"MARKOV\n1\n2\n2\n1 0\n1 0\n2 1 1\n2 nan 1\n", "line 8.*factor 1.*nan"),
    "inf": (b"MARKOV\n1\n2\n1\n1 0\n2 1 inf\n", "line 6.*factor 0.*inf"),
    "beyond a double": (b"MARKOV\n1\n2\n1\n1 0\n2 1 1e400\n", "line 6.*factor 0.*inf"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused_with_their_line(tmp_path: Path, case: str) -> None:
    text, message = HOSTILE[case]
    start = time.process_time()
    with pytest.raises(ValueError, match=f"model.uai.*{message}"):
        read_uai(written(tmp_path, text))
    assert time.process_time() - start < 5.0


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="nothing"):
        read_uai(tmp_path / "nothing.uai")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", {}),
        ("0\n", {}),
        ("1\n0\n", {}),
        ("2 0 1 2 2", {0: 1, 2: 2}),
        ("1\n2 0 1 2 2\n", {0: 1, 2: 2}),
        ("1 2 0", {2: 0}),
        ("1 1 2 0", {2: 0}),
    ],
)
def test_both_forms_of_evidence(tmp_path: Path, text: str, expected: dict) -> None:
    model = read_uai(written(tmp_path, SMALL))
    assert read_uai_evidence(written(tmp_path, text, "some.evid"), model) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty.*single 0"),
        ("2 0 1", "line 1.*2 observed"),
        ("-1 0", "line 1.*-1 observed"),
        ("1000000000000 0 1", "line 1.*1000000000000|1e\\+12 observed"),
        ("1 0 1 2", "line 1.*observed"),
        ("1\n3 7 0", "line 1.*observed|line 2.*observed"),
        ("1 0 2", "line 1.*state 2.*2 states"),
        ("2\n0 1\n2 3", "line 3.*state 3.*3 states"),
        ("1 3 0", "line 1.*variable 3.*has 3"),
        ("1 -1 0", "line 1.*count from 0"),
        ("2 0 1 0 1", "line 1.*variable 0 is observed twice"),
        ("1 0 x", "line 1.*'x' is not a number"),
        ("1 0 0.5", "line 1.*whole number"),
        ("3\n1 0 1\n1 0 0\n1 2 1", "line 1.*3 samples"),
    ],
)
def test_bad_evidence_is_refused_with_its_line(tmp_path: Path, text: str, message: str) -> None:
    model = read_uai(written(tmp_path, SMALL))
    with pytest.raises(ValueError, match=f"bad.evid.*({message})"):
        read_uai_evidence(written(tmp_path, text, "bad.evid"), model)


@given(st.dictionaries(st.integers(0, 99), st.integers(0, 9)))
def test_evidence_survives_a_round_trip(
    tmp_path_factory: pytest.TempPathFactory, observed: dict[int, int]
) -> None:
    path = tmp_path_factory.mktemp("uai") / "some.evid"
    write_uai_evidence(observed, path)
    assert read_uai_evidence(path) == observed


def test_evidence_forbids_the_other_states(tmp_path: Path) -> None:
    model = read_uai(written(tmp_path, SMALL))
    evidence = model.evidence({0: 1, 1: 0, 2: 2})
    assert np.isneginf(evidence["x2"]).tolist() == [[True, False]]
    assert np.isneginf(evidence["x3"]).tolist() == [[True, True, False]]
    with pytest.raises(ValueError, match="variable 7"):
        model.evidence({7: 0})


def test_a_million_numbers_take_about_a_second(tmp_path: Path) -> None:
    count = 100_000
    rng = np.random.default_rng(0)
    scopes = np.stack([np.full(count, 2), np.arange(count), (np.arange(count) + 1) % count], 1)
    tables = np.column_stack([np.full(count, 4), rng.random((count, 4))])
    lines = ["MARKOV", str(count), " ".join(["2"] * count), str(count)]
    lines += [" ".join(map(str, row)) for row in scopes.tolist()]
    lines += ["4 " + " ".join(map(str, row[1:])) for row in tables.tolist()]
    path = written(tmp_path, "\n".join(lines))
    start = time.process_time()
    model = read_uai(path)
    # A second on a quiet core; the tests share theirs.
    assert time.process_time() - start < 4.0
    assert [(name, len(factors)) for name, factors in model.graph.factors] == [("f2x2", count)]
