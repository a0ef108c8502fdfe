"""Marginal MAP against a listing of all configurations."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mam.cli import app
from mam.core.memory import TooLarge
from mam.models.uai import marginal_map, read_uai, read_uai_query


def written(path: Path, states: list[int], tables: list[tuple[list[int], np.ndarray]]) -> Path:
    lines = ["MARKOV", str(len(states)), " ".join(map(str, states)), str(len(tables))]
    lines += [" ".join(map(str, [len(scope), *scope])) for scope, _ in tables]
    lines += [
        f"{values.size} {' '.join(map(repr, values.ravel().tolist()))}" for _, values in tables
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


def listed(states: list[int], tables: list, query: list[int], known: dict[int, int]) -> dict:
    """What each assignment of the queried variables weighs."""
    weight: dict[tuple[int, ...], float] = {}
    for values in product(*map(range, states)):
        if any(values[v] != state for v, state in known.items()):
            continue
        own = np.prod([table[tuple(values[v] for v in scope)] for scope, table in tables])
        key = tuple(values[v] for v in query)
        weight[key] = weight.get(key, 0.0) + float(own)
    return weight


@given(st.integers(0, 10_000))
def test_the_best_states_are_those_of_a_listing(tmp_path_factory, seed: int) -> None:
    draw = np.random.default_rng(seed)
    count = int(draw.integers(1, 6))
    states = draw.integers(1, 4, count).tolist()
    tables = []
    for _ in range(int(draw.integers(0, 6))):
        scope = draw.permutation(count)[: int(draw.integers(0, min(count, 3) + 1))].tolist()
        values = draw.integers(0, 4, [states[v] for v in scope]) / 2.0  # ties, and zeros
        tables.append((scope, np.asarray(values)))
    order = draw.permutation(count).tolist()
    query = order[: int(draw.integers(0, count + 1))]
    known = {v: int(draw.integers(states[v])) for v in order if draw.random() < 0.2}
    folder = tmp_path_factory.mktemp("mmap")
    model = read_uai(written(folder / "a.uai", states, tables))
    found = marginal_map(model, query, known, bound=True)
    weight = listed(states, tables, query, known)
    best = max(weight.values())
    with np.errstate(divide="ignore"):
        assert found.solution.score == pytest.approx(np.log(best))
    if best > 0:
        assert weight[tuple(found.assignment.tolist())] == pytest.approx(best)
        assert found.solution.proof


def test_what_grows_too_large_is_refused_with_its_width(tmp_path: Path) -> None:
    # A hidden variable beside 25 queried ones: their joint table is what its sum leaves.
    tables = [([0, v], np.ones((2, 2))) for v in range(1, 26)]
    model = read_uai(written(tmp_path / "star.uai", [2] * 26, tables))
    with pytest.raises(TooLarge, match=r"summing out reaches width 25 .* ask for fewer"):
        marginal_map(model, range(1, 26))
    assert marginal_map(model, range(1, 26), {0: 1}).solution.proof == "exact"


def test_a_long_chain_takes_no_time(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    tables = [([v, v + 1], np.exp(draw.normal(size=(2, 2)))) for v in range(2000)]
    model = read_uai(written(tmp_path / "chain.uai", [2] * 2001, tables))
    found = marginal_map(model, range(0, 2001, 3))
    assert found.solution.proof == "exact" and len(found.assignment) == 667


def test_the_command_and_its_file(tmp_path: Path) -> None:
    tables = [([0, 1], np.array([[1.0, 1, 1], [0, 0, 2.5]])), ([2], np.array([1.0, 2]))]
    path = written(tmp_path / "a.uai", [2, 3, 2], tables)
    (tmp_path / "a.uai.query").write_text("2 2 0\n")
    out = tmp_path / "a.uai.MMAP"
    typed = ["solve", path, "--task", "MMAP", "--query", f"{path}.query", "--out", out]
    ran = CliRunner().invoke(app, list(map(str, typed)), catch_exceptions=False)
    assert "score       1.791759" in ran.output and "of          2 0" in ran.output  # log 6
    assert out.read_text() == "MMAP\n2 2 1 0 0\n"  # while MAP has variable 0 in state 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("2 0", "2 variables are announced, but 1 follow"),
        ("1 7", "there is no variable 7, but 0 to 2"),
        ("2 1 1", "variable 1 is queried twice"),
    ],
)
def test_a_bad_query_is_refused(tmp_path: Path, text: str, said: str) -> None:
    model = read_uai(written(tmp_path / "a.uai", [2, 3, 2], []))
    (tmp_path / "q").write_text(text)
    with pytest.raises(ValueError, match=said):
        read_uai_query(tmp_path / "q", model)
