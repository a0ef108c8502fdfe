"""Wild curves by the command: a kind is made, measured by its name, and grouped."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from bench.curves import main, read_lines
from mam.cli import app
from mam.data.generate.wild_ink import all_drawn


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("wild") / "shared.parquet"
    made = ("make", "curves", "--level", "wild", "--kind", "shared", "--count", 2)
    assert run(*made, "--seed", 4, "--out", file).exit_code == 0
    return file


def test_figures_come_by_kind(shared: Path) -> None:
    told = run("evaluate", "curves", shared, "--appearance", "--branches", "--json")
    assert set(json.loads(told.stdout)["dice"]) == {"shared"}
    ink = json.loads(run("evaluate", "curves", shared, "--column", "image", "--json").stdout)
    assert ink["n"] == 2 and ink["explained"] > 0.98


def test_what_the_level_has_not_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "none.parquet"
    told = run("make", "curves", "--level", "wild", "--breaks", 2, "--out", out)
    assert told.exit_code != 0 and not out.exists()
    with pytest.raises(ValueError, match="kind 'lace'"):
        run("make", "curves", "--level", "wild", "--kind", "lace", "--out", out)


def test_a_rival_is_measured_as_we_are(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(shared), "--write", str(tmp_path)])
    assert len(read_lines(tmp_path, "shared-0")) >= 2
    main([str(shared), "--rival", str(tmp_path)])
    *_, row = capsys.readouterr().out.splitlines()
    own, rival = (float(cell) for cell in row.split("|")[3:5])
    assert own == pytest.approx(rival, abs=0.02)
    (tmp_path / "shared-0.json").unlink()
    table = "curve,row,column\n1,3,4\n1,3,9\n2,5,5\n"
    (tmp_path / "shared-0.points.csv").write_text(table)
    assert [len(line) for line in read_lines(tmp_path, "shared-0")] == [2, 1]


def test_a_drawn_tree_becomes_one(tmp_path: Path) -> None:
    trunk = np.stack([np.full(121, 50.0), 20.0 + 2 * np.arange(121)], 1)
    branch = np.stack([50.0 - np.arange(40), 140.0 + np.arange(40)], 1)
    ink = all_drawn([trunk, branch], 4.0, (100, 300))
    picture = tmp_path / "tree.png"
    Image.fromarray((255 - 255 * ink).astype(np.uint8)).save(picture)
    run("group", picture, "--branches", "--out", tmp_path / "tree.swc")
    nodes = [line.split() for line in (tmp_path / "tree.swc").read_text().splitlines()[2:]]
    assert [node[-1] for node in nodes].count("-1") == 1
    with pytest.raises(ValueError, match="do not branch"):
        run("group", picture, "--branches", "--model", "contours")
