"""Answers: impossible evidence, the tasks of UAI, and lines to read instead of pages of arrays."""

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import mam
from mam.cli import app
from mam.tasks.drawing import group_drawing

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
    out = folder / f"a.uai.{words[1]}"
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


def test_a_solution_and_its_graph_are_a_line_and_a_table() -> None:
    builder = mam.GraphBuilder()
    builder.variables("x", 300)
    chain = np.stack([np.arange(299), np.arange(1, 300)], 1)
    builder.add("agree <", mam.Pairwise.of(chain, [[1, 0], [0, 1]]))
    graph = builder.build()
    assert repr(graph) == "<FactorGraph: 300 variables, 299 factors: agree <>"
    assert "<td>x</td>" in graph._repr_html_() and "agree &lt;" in graph._repr_html_()
    found = mam.solve(graph)
    assert repr(found) == f"<Solution: {found.explain()}>" and "\n" not in repr(found)
    assert len(found._repr_html_()) < 1000 and "proved optimal" in found._repr_html_()


@pytest.mark.parametrize("model", ["contours", "curves"])
def test_a_grouping_is_a_line_and_a_picture(model: str) -> None:
    mask = np.zeros((48, 64), bool)
    mask[20:24, 6:58] = mask[34:38, 10:30] = True
    kind = mam.CurveGrouper if model == "curves" else mam.ContourGrouper
    [found] = kind.load(model).predict([mask])
    assert repr(found).startswith(f"<{type(found).__name__}: {len(found)} curves of ")
    assert found._repr_svg_().count("<path") == len(found)
    drawing = group_drawing(mask, model=model)
    assert repr(drawing).startswith(f"<Drawing: {len(drawing.lines)} curves of ")
    assert drawing._repr_svg_().count("<path") == len(drawing.lines)


def test_parts_and_where_they_are_placed_are_lines() -> None:
    mask = np.zeros((48, 64), bool)
    mask[20:22, 6:12] = True
    [placed] = mam.Sparsifier("pathfinder-parts").transform([mask])
    assert repr(placed).startswith("<Placements: 1 part, score ")
    grouper = mam.ContourGrouper.load("contours")
    assert repr(grouper.parts) == "<Parts: 16 types of 7 x 7 px>" and len(repr(grouper)) < 600


def test_models_and_compiled_graphs_are_lines() -> None:
    kind = mam.PartKind(mam.PatternSet.of([[0, 0], [1, 1]]), [0, 0])
    model = mam.part_attention_model([[0, 1], [1, 2]], [[1, 0], [1, 0]], kind)
    assert repr(model).startswith("<MarkovAttentionModel: 2 attention variables, <FactorGraph: ")
    assert "<td>attention</td>" in model._repr_html_()
    line = f"<CompiledGraph: 2 graphs, 10 variables, {2 * model.graph.edges} edges>"
    assert repr(mam.compile_graphs([model.graph] * 2)) == line


def test_what_is_found_and_banks_are_lines() -> None:
    bar, corner = np.zeros((64, 64), bool), np.zeros((64, 64), bool)
    bar[20:28, 10:50] = True
    corner[20:28, 10:50] = corner[20:60, 10:18] = True
    finder = mam.ObjectFinder(variants=0).fit([bar, corner], [0, 1])
    assert repr(finder.bank_).startswith("<Bank: 2 graphs of 2 categories, ")
    [found] = finder.find(corner)
    assert repr(found).startswith("<Match: graph 1 of category 1 at [") and "\n" not in repr(found)
    assert found._repr_svg_().count("<path") == len(found.edges)
