"""``mam solve`` as a user runs it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from mam.cli import app

MODEL = """MARKOV
4
2 1 2 2
6
1 0
2 0 2
2 2 3
1 1
0
1 3
2 1 3
4 2 1 1 2
4 2 0 0 2
1 0.5
1 6
2 1 1
"""
BEST = np.log(3 * 2 * 2 * 0.5 * 6)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "model.uai"
    path.write_text(MODEL)
    return path


def answer(*arguments: object) -> dict:
    result = CliRunner().invoke(app, ["solve", *map(str, arguments), "--json"])
    assert result.exception is None
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


def test_json_has_the_score_with_all_constants(model: Path) -> None:
    found = answer(model, "--bound")
    assert set(found) == {
        "score",
        "bound",
        "gap",
        "proof",
        "feasible",
        "violated",
        "converged",
        "iterations",
        "assignment",
        "method",
    }
    assert found["assignment"] == [1, 0, 1, 1]
    assert found["score"] == pytest.approx(BEST)
    assert found["bound"] == pytest.approx(BEST)
    assert found["gap"] == pytest.approx(0, abs=1e-9)
    assert found["converged"] is True


def test_without_bound_it_is_null(model: Path) -> None:
    found = answer(model, "--restarts", 8, "--seed", 3, "--method", "max-product")
    assert found["score"] == pytest.approx(BEST)
    assert found["bound"] is None
    assert found["gap"] is None


@pytest.mark.parametrize("method", ["auto", "exact", "max-product"])
def test_every_method_finds_the_best(model: Path, method: str) -> None:
    found = answer(model, "--bound", "--method", method)
    assert found["method"] == ("max-product" if method == "max-product" else "elimination")
    assert found["assignment"] == [1, 0, 1, 1]
    assert found["score"] == pytest.approx(BEST)
    assert found["gap"] == pytest.approx(0, abs=1e-9)


def test_elimination_needs_no_iterations_and_bounds_unasked(model: Path) -> None:
    found = answer(model)
    assert found["method"] == "elimination"
    assert found["iterations"] == 0
    assert found["bound"] == found["score"]
    assert found["gap"] == 0


def complete(folder: Path, variables: int) -> Path:
    """A model that joins all its variables, so that one table would hold all of them."""
    pairs = [(i, j) for i in range(variables) for j in range(i)]
    lines = ["MARKOV", str(variables), " ".join(["2"] * variables), str(len(pairs))]
    lines += [f"2 {i} {j}" for i, j in pairs] + ["4 1 2 3 4"] * len(pairs)
    path = folder / "complete.uai"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_variable_with_a_million_states_takes_little(tmp_path: Path) -> None:
    path = tmp_path / "large.uai"
    path.write_text("MARKOV 1 1000000 0")
    found = answer(path)
    assert found["score"] == 0 and found["proof"] == "exact"


def test_one_large_table_is_looked_up(tmp_path: Path) -> None:
    """Larger than what elimination may make, but it is there already."""
    path = tmp_path / "table.uai"
    potentials = np.ones(1 << 21, int)
    potentials[77_777] = 2
    numbers = " ".join(map(str, potentials))
    scope = " ".join(map(str, range(21)))
    path.write_text(f"MARKOV 21 {' '.join(['2'] * 21)} 1 21 {scope} {1 << 21} {numbers}")
    found = answer(path)
    assert found["score"] == pytest.approx(np.log(2)) and found["proof"] == "exact"
    assert int("".join(map(str, found["assignment"])), 2) == 77_777


def test_a_wide_model_goes_to_other_solvers(tmp_path: Path) -> None:
    path = complete(tmp_path, 24)
    found = answer(path, "--bound")
    assert found["method"] == "toulbar2" and found["proof"] == "exact"
    assert found["score"] == pytest.approx(24 * 23 / 2 * np.log(4))
    found = answer(path, "--restarts", 1, "--iterations", 5, "--method", "max-product")
    assert found["method"] == "max-product"
    assert found["score"] == pytest.approx(24 * 23 / 2 * np.log(4))
    result = CliRunner().invoke(app, ["solve", str(path), "--method", "exact"])
    assert "reaches width 23" in str(result.exception)
    assert "1 of its components by max-product" in str(result.exception)
    assert isinstance(result.exception, ValueError)


def test_evidence_is_applied(model: Path) -> None:
    path = model.with_name("some.evid")
    path.write_text("2 3 0 1 0")
    found = answer(model, "--evidence", path, "--bound")
    assert found["assignment"] in ([1, 0, 0, 0], [0, 0, 0, 0])
    assert found["score"] == pytest.approx(np.log(3 * 1 * 2 * 0.5 * 6))


def test_impossible_evidence_is_null(model: Path) -> None:
    path = model.with_name("some.evid")
    path.write_text("2 3 0 2 1")
    for method in ("auto", "max-product"):
        command = ["solve", str(model), "--evidence", str(path), "--method", method, "--bound"]
        result = CliRunner().invoke(app, [*command, "--json"])
        found = json.loads(result.stdout)
        assert result.exit_code == 3
        assert found["score"] is None and found["gap"] is None
        assert found["feasible"] is False and found["violated"]
        assert found["assignment"][2:] == [1, 0]
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 3
        assert "no assignment is possible" in result.stdout


def test_the_summary_can_be_read_and_evidence_beside_is_not_used(model: Path) -> None:
    model.with_name("model.uai.evid").write_text("1 3 0")
    result = CliRunner().invoke(app, ["solve", str(model), "--bound"])
    assert result.exit_code == 0
    assert f"{BEST:.6f}" in result.stdout
    assert "proved optimal" in result.stdout
    assert "--evidence" in result.stderr
    assert "--evidence" not in result.stdout


def test_a_model_of_constants_only(tmp_path: Path) -> None:
    path = tmp_path / "constant.uai"
    path.write_text("MARKOV\n2\n1 1\n1\n2 0 1\n1 2.5\n")
    found = answer(path, "--bound")
    assert found["assignment"] == [0, 0]
    assert found["score"] == pytest.approx(np.log(2.5))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MARKOV\n1\n2\n1\n1 0\n2 1 x\n", "line 6: 'x' is not a number"),
        (None, "No such file"),
    ],
)
def test_a_broken_file_ends_in_one_line(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "broken.uai"
    if text is not None:
        path.write_text(text)
    command = [sys.executable, "-m", "mam", "solve", str(path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
