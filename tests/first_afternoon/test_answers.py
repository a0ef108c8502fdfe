"""Answers: impossible evidence, the tasks of UAI, and lines to read instead of pages of arrays."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mam
from mam.cli import app

MODEL = "MARKOV\n3\n2 1 3\n2\n1 0\n2 0 2\n2\n 1 3\n6\n 2 1 1 4 1 2\n"
TABLE = np.array([1, 3])[:, None] * np.array([[2, 1, 1], [4, 1, 2]])


@pytest.mark.parametrize("method", ["auto", "exact", "max-product", "toulbar2", "quick"])
@pytest.mark.parametrize("evidence", [[np.inf, 0, -np.inf], [[0, -np.inf], [0, 0], [-np.inf, 0]]])
def test_demanded_evidence_that_is_impossible(method: str, evidence: list) -> None:
    builder = mam.GraphBuilder()
    builder.variables("x", 3)
    equal = [[0, -np.inf], [-np.inf, 0]]
    builder.add("equal", mam.Pairwise.of([[0, 1], [1, 2]], equal))
    found = mam.solve(builder.build(), {"x": evidence}, method=method, bound=True)
    assert found.score == found.bound == -np.inf and found.impossible and found.violated


def solved(folder: Path, *words: object) -> tuple[dict, str]:
    (folder / "a.uai").write_text(MODEL)
    out = folder / "a.result"
    typed = ["solve", folder / "a.uai", *words, "--json", "--out", out]
    ran = CliRunner().invoke(app, list(map(str, typed)), catch_exceptions=False)
    assert ran.exit_code == 0
    return json.loads(ran.stdout), out.read_text()


def test_map(tmp_path: Path) -> None:
    found, file = solved(tmp_path, "--task", "MAP", "--seconds", 5)
    best = max(product(range(2), range(3)), key=lambda at: TABLE[at])
    assert found["assignment"] == [best[0], 0, best[1]]
    assert file == f"MAP\n3 {best[0]} 0 {best[1]}\n"


def test_mar_and_pr(tmp_path: Path) -> None:
    found, file = solved(tmp_path, "--task", "MAR")
    total = TABLE.sum()
    expected = [TABLE.sum(1) / total, np.ones(1), TABLE.sum(0) / total]
    for one, other in zip(found["probabilities"], expected, strict=True):
        assert np.allclose(one, other)
    name, line = file.splitlines()
    numbers = [3.0, 2, *expected[0], 1, 1, 3, *expected[2]]
    assert name == "MAR" and np.allclose(list(map(float, line.split())), numbers)
    found, file = solved(tmp_path, "--task", "PR")
    assert found["exact"] and found["log10_partition"] == pytest.approx(np.log10(total))
    assert file.startswith("PR\n") and float(file[3:]) == pytest.approx(np.log10(total))


def test_an_output_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "a.uai").write_text(MODEL)
    path = str(tmp_path / "a.uai")
    ran = CliRunner().invoke(app, ["solve", path, "--out", path])
    assert "is an input" in str(ran.exception) and (tmp_path / "a.uai").read_text() == MODEL
