"""``mam quickstart`` as a user runs it."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.models.draw import draw_factor_graph
from mam.models.examples import gene_network, two_lines
from mam.models.layout import layout


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["quickstart", *map(str, arguments)])
    assert result.exception is None
    return result.stdout


def test_json_holds_answers_independences_and_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "genes.png"
    text = run("--out", picture, "--json")
    assert text.count("\n") == 1
    found = json.loads(text)
    free, without_c, with_c = found["answers"]
    assert without_c["assignment"] == {"A": 1, "B": 1, "C": 0, "D": 0, "AB": 1, "AD": 0}
    assert with_c["assignment"] == {"A": 1, "B": 0, "C": 1, "D": 1, "AB": 0, "AD": 1}
    assert free["ties"] == 2 and without_c["ties"] == with_c["ties"] == 1
    for answer in found["answers"]:
        assert answer["optimal"] and answer["gap"] == pytest.approx(0, abs=1e-6)
        assert answer["score"] == pytest.approx(2) and answer["bound"] >= answer["score"] - 1e-9
    cut = [(i["x"], i["y"], i["given"]) for i in found["independences"] if i["independent"]]
    assert cut == [("A", "B", {"C": 1}), ("A", "D", {"C": 0})]
    assert found["picture"] == str(picture)
    assert [path.name for path in tmp_path.iterdir()] == ["genes.png"]
    with Image.open(picture) as image:
        assert min(image.size) > 300 and np.ptp(np.asarray(image.convert("L"))) > 200


def test_the_page_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = run()
    assert text.count("proved optimal") == 3
    assert "A and B given C = 1  yes" in text and "A and B given C = 0  no" in text
    assert "mam-quickstart.png" in text and (tmp_path / "mam-quickstart.png").exists()
    assert max(map(len, text.splitlines())) < 100


@pytest.mark.parametrize("name", ["genes.xyz", "genes", "missing/genes.png"])
def test_a_picture_that_cannot_be_written_is_refused_first(tmp_path: Path, name: str) -> None:
    result = CliRunner().invoke(app, ["quickstart", "--out", str(tmp_path / name)])
    assert isinstance(result.exception, ValueError) and "genes" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_nodes_do_not_overlap() -> None:
    graph = two_lines().graph
    links = [
        [int(variable), len(graph.states) + i]
        for i in range(10)
        for variable in graph.factors[0][1].scopes()[i]
    ]
    place = layout(len(graph.states) + 10, np.array(links))
    distance = np.linalg.norm(place[:, None] - place, axis=2)
    assert distance[~np.eye(len(place), dtype=bool)].min() > 0.55
    assert np.ptp(place[:, 0]) >= np.ptp(place[:, 1])


def test_names_are_drawn_and_large_graphs_refused() -> None:
    axes = gene_network().draw()
    shown = {text.get_text() for text in axes.texts}
    assert {"A", "AB", "corepression"} <= shown
    plt.close(axes.figure)
    many = two_lines(rows=50)
    with pytest.raises(ValueError, match="too large to draw"):
        draw_factor_graph(many.graph, many.attention.flags(len(many.graph.states)))
