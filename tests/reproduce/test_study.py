"""A study whose learning is a count of rows: its table, curves, page and what is kept."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mam.cli import app
from mam.core.progress import Advance
from mam.data import StoreConfig, recipe, write_dataset
from mam.reproduce import run
from mam.reproduce.challenge_page import challenge
from mam.reproduce.data_sets import DataSet
from mam.reproduce.plan import (
    OURS,
    Challenge,
    ChartLine,
    Measured,
    Method,
    PaperPoints,
    Quoted,
    Sample,
    Scale,
    Study,
)
from mam.reproduce.steps import Step
from mam.reproduce.study import evaluation
from mam.tasks.report import Report
from mam.vision.parts.masks import Noise

WORK: list[str] = []


def learn(study: Study, sample: Sample) -> Step:
    """Learn how many rows there are."""
    data = study.train[sample.level]

    def work(path: Path, advance: Advance) -> Any:
        WORK.append("learn")
        path.write_text(str(len(list(data.read(data.block(sample.count, sample.run))))))

    settings = {"count": sample.count, "run": sample.run, "data": data.settings}
    return Step(f"learn {sample.count} run {sample.run}", settings, work, suffix=".txt")


def evaluate(study: Study, model: Step, level: str) -> Step:
    """Be right as often as it has seen rows."""

    def measure(count: int, advance: Advance) -> Report:
        WORK.append("test")
        seen = int(study.store.file(model).read_text())
        return Report({"accuracy": 0.5 + 0.1 * seen + 0.1 * model.settings["run"]}, count, 1.0)

    return evaluation(study, model, level, 1.0, measure)


COUNTING = Challenge(
    kind="pathfinder",
    title="Counting",
    about="A test.",
    test_on=("easy", "medium"),
    decoded=(),
    methods={OURS: Method(learn, evaluate)},
    rows=(
        Measured("easy"),
        Quoted("easy", "paper", 5, (70.0, 60.0)),
        Quoted("easy", "Net", 9, (50.0, 40.0), rival=True),
    ),
    lines=(ChartLine("easy", "medium"),),
    known=(PaperPoints("paper", (5,), (60.0,)),),
    scales={"smoke": Scale(train=2, test=3, counts=(1, 2), runs=2, parts=0)},
    drawings=lambda study: {"Drawn": Step("drawn", {}, lambda path, advance: "<p>by hand</p>")},
    notes=lambda study: {"note": "x < y"},
    settings={OURS: {"noise": Noise(pi01=0.125)}},
)


def worse(study: Study, sample: Sample) -> Step:
    """Learn a model that is half as sure, for a second method."""
    return replace(learn(study, sample._replace(count=1)), name=f"worse {sample.count}")


@pytest.fixture(autouse=True)
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    WORK.clear()
    monkeypatch.setattr(run, "EXPERIMENTS", {"pathfinder": challenge(COUNTING)})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sets")
    for level, use, rows in (("easy", "train", 1), ("easy", "test", 2), ("medium", "test", 2)):
        out = folder / f"{level}-{use}.parquet"
        write_dataset(recipe("pathfinder", level, 5), rows, out, StoreConfig())
    return folder


def command(*arguments: object):
    words = ["reproduce", "pathfinder", *map(str, arguments)]
    return CliRunner().invoke(app, words, catch_exceptions=False)


def test_a_second_run_does_nothing_again(tmp_path: Path) -> None:
    first = json.loads(command("--out", tmp_path / "out", "--json").stdout)
    assert first["table"] == {"easy": {"easy": 70.0, "medium": 70.0}}
    [curve] = first["curves"]
    assert curve["images"] == [1, 2] and curve["mean"] == [65.0, 75.0]
    assert curve["deviation"] == [7.07, 7.07]
    # The table's model is the first run of the curve's last point: it is learned once.
    assert WORK.count("learn") == 4 and WORK.count("test") == 5
    WORK.clear()
    assert command("--out", tmp_path / "out").stdout.split() == [first["page"]]
    assert WORK == []


def test_an_interrupted_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = run.prepare("pathfinder", "smoke", tmp_path)
    steps = study.steps
    run.run_steps(study.store, steps[:-3])
    done = len(WORK)
    page = run.reproduce(run.prepare("pathfinder", "smoke", tmp_path))
    assert page == tmp_path / "pathfinder.html"
    assert 0 < done < len(WORK) == 9


def test_the_page_says_all_of_it(tmp_path: Path) -> None:
    page = run.reproduce(run.prepare("pathfinder", "smoke", tmp_path)).read_text()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    row = cells.index("ours, 2")
    assert cells[row : row + 9] == [
        *("ours, 2", "70.00", "70.00"),
        *("paper, 5", "70.00", "60.00"),
        *("Net, 9", "50.00", "40.00"),
    ]
    assert "65.00 ± 7.07" in cells and "x &lt; y" in cells
    assert "<p>by hand</p>" in page and "seed 101" in page
    assert "mam reproduce pathfinder --scale smoke" in page
    assert "<th>noise: pi01</th><td>0.125</td>" in page
    assert not re.search(r"""(src|href)=["'](?!data:)""", page) and "http" not in page


def test_a_row_of_another_method_is_data_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = (*COUNTING.rows, Measured("easy", "worse"))
    methods = {**COUNTING.methods, "worse": Method(worse, evaluate)}
    plan = challenge(replace(COUNTING, rows=rows, methods=methods))
    monkeypatch.setattr(run, "EXPERIMENTS", {"pathfinder": plan})
    study = run.prepare("pathfinder", "smoke", tmp_path)
    page = run.reproduce(study).read_text()
    assert study.summary()["table"] == {
        "easy": {"easy": 70.0, "medium": 70.0},
        "easy (worse)": {"easy": 60.0, "medium": 60.0},
    }
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    assert cells[(row := cells.index("worse, 2")) : row + 3] == ["worse, 2", "60.00", "60.00"]


def test_other_data_are_other_steps(tmp_path: Path, files: Path) -> None:
    run.reproduce(run.prepare("pathfinder", "smoke", tmp_path))
    WORK.clear()
    given = run.prepare("pathfinder", "smoke", tmp_path, files)
    page = run.reproduce(given)
    # The file has a single row, so there is no model of two.
    assert WORK.count("learn") == 2 and given.summary()["curves"][0]["images"] == [1]
    assert given.summary()["table"]["easy"]["easy"] == 60.0
    assert "easy-train.parquet, 1 rows" in page.read_text()


def test_what_is_missing_is_refused_before_work(tmp_path: Path, files: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"easy-train\.parquet: no such file; a folder"):
        run.prepare("pathfinder", "smoke", tmp_path / "out", tmp_path)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        run.prepare("pathfinder", "smoke", tmp_path / "a" / "b")
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file; --out is a folder"):
        run.prepare("pathfinder", "smoke", tmp_path / "file")
    assert not (tmp_path / "out").exists()


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 4))
def test_blocks_share_rows_only_where_they_must(rows: int, count: int, runs: int) -> None:
    data = DataSet(Path("a.parquet"), rows, {})
    if count > rows:
        with pytest.raises(ValueError, match=f"has {rows} rows"):
            data.block(count, 0)
        return
    blocks = [data.block(count, run) for run in range(runs)]
    assert all(len(set(block)) == count and max(block) < rows for block in blocks)
    if count * runs <= rows:
        assert len({number for block in blocks for number in block}) == count * runs
