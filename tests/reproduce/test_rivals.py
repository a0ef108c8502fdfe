"""Rivals on a page: figures that were measured before, and none that were typed in."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mam.reproduce import run
from mam.reproduce.challenge_page import challenge
from mam.reproduce.plan import ChartLine, Measured, RivalScale
from mam.reproduce.rivals import NAMES, read_rivals
from mam.rivals.networks import NETWORKS
from tests.reproduce.test_study import COUNTING


def one_run(kind: str, images: int, right: dict[str, float], task: str = "pathfinder") -> dict:
    settings = {"network": kind, "task": task, "images": images}
    return {"settings": settings, "finished": True, "images_seen": 3 * images, "accuracy": right}


def write_runs(folder: Path, name: str, *runs: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    path.write_text(json.dumps({"runs": {str(n): one for n, one in enumerate(runs)}}))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    easy = [one_run("h-cnn", count, {"easy": 0.9, "medium": 0.625}) for count in (100, 20)]
    going = {"settings": {"network": "h-cnn", "task": "pathfinder"}, "finished": False}
    write_runs(tmp_path / "runs", "h-cnn-pathfinder-easy", *easy, going)
    write_runs(tmp_path / "runs", "td-h-cnn-pathfinder-easy", one_run("td-h-cnn", 7, {"easy": 0.5}))
    write_runs(tmp_path / "runs", "h-cnn-cabc-hard", one_run("h-cnn", 7, {"hard": 0.5}, "cabc"))
    return tmp_path / "runs"


def test_every_network_has_a_name() -> None:
    assert set(NAMES) == set(NETWORKS) and set(RivalScale(1).kinds) <= set(NAMES)


def test_what_was_measured_is_read(folder: Path) -> None:
    found = read_rivals(folder, "pathfinder")
    assert [(one.kind, one.learn, one.images) for one in found] == [
        ("h-cnn", "easy", 20),
        ("h-cnn", "easy", 100),
        ("td-h-cnn", "easy", 7),
    ]
    assert found[0].right == {"easy": 90.0, "medium": 62.5}
    assert [one.learn for one in read_rivals(folder, "cabc")] == ["hard"]


def test_figures_stand_in_the_table_and_in_the_chart(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "EXPERIMENTS", {"pathfinder": challenge(COUNTING)})
    study = run.prepare("pathfinder", "smoke", tmp_path, rivals=folder)
    page = run.reproduce(study).read_text()
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", page)
    at = cells.index("H-CNN, measured, 100")
    assert cells[at : at + 3] == ["H-CNN, measured, 100", "90.00", "62.50"]
    at = cells.index("TD+H-CNN, measured, 7")
    assert cells[at : at + 3] == ["TD+H-CNN, measured, 7", "50.00", "–"]
    assert "H-CNN, measured: easy, tested on medium: 62.5 % at 20" in page
    assert "from the files given" in page and "TD+H-CNN, measured: easy" not in page
    assert [one["images"] for one in study.summary()["rivals"]] == [20, 100, 7]
    without = run.reproduce(run.prepare("pathfinder", "smoke", tmp_path)).read_text()
    assert "none measured here" in without and "H-CNN, measured" not in without


def test_what_is_no_figure_of_a_rival_is_refused(tmp_path: Path, folder: Path) -> None:
    before = sorted(tmp_path.iterdir())
    out = tmp_path / "out"
    with pytest.raises(FileNotFoundError, match="nowhere: no such folder of rivals' figures"):
        run.prepare("pathfinder", "smoke", out, rivals=tmp_path / "nowhere")
    (tmp_path / "runs" / "h-cnn-cabc-hard.json").unlink()
    with pytest.raises(FileNotFoundError, match=r"runs: no KIND-cabc-LEVEL\.json in it; python -m"):
        run.prepare("cabc", "smoke", out, rivals=folder)
    for name in ("objects", "models"):
        with pytest.raises(ValueError, match=r"--rivals .*runs: th"):
            run.prepare(name, "smoke", out, rivals=folder)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("vit-cabc-hard", "{}", "vit is no rival; known are h-cnn"),
        ("h-cnn-cabc-hard", '{"runs": ', "no file of python -m bench.rival_runs"),
        ("h-cnn-cabc-hard", "[" * 100_000, "no file of .*100000 brackets deep"),
        ("h-cnn-cabc-hard", "[]", "no file of python -m bench.rival_runs"),
        ("h-cnn-cabc-hard", '{"runs": {"5": {"accuracy": 0.5}}}', "no file of python -m"),
        ("h-cnn-cabc-hard", one_run("h-cnn", 5, {"hard": 1.5}, "cabc"), "accuracy .*1.5"),
        ("h-cnn-cabc-hard", one_run("h-cnn", 5, {"hard": 0.5}), "says h-cnn and cabc, its sett"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, text: Any, said: str) -> None:
    path = write_runs(tmp_path, name, text) if isinstance(text, dict) else tmp_path / f"{name}.json"
    if isinstance(text, str):
        path.write_text(text)
    with pytest.raises(ValueError, match=rf"{name}\.json: .*{said}"):
        read_rivals(tmp_path, "cabc")


def test_slow_methods_have_fewer_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    methods = {**COUNTING.methods, "slow": replace(COUNTING.methods["ours"], slow=True)}
    rows = (Measured("easy"), Measured("easy", "slow"), Measured("hard"), Measured("hard", "slow"))
    scales = {"smoke": replace(COUNTING.scales["smoke"], slow=(1, 1))}
    lines = (ChartLine("easy", "hard"),)
    plan = challenge(
        replace(
            COUNTING,
            lines=lines,
            test_on=("easy", "hard"),
            rows=rows,
            methods=methods,
            scales=scales,
        )
    )
    monkeypatch.setattr(run, "EXPERIMENTS", {"pathfinder": plan})
    study = run.prepare("pathfinder", "smoke", tmp_path)
    run.reproduce(study)
    table = study.summary()["table"]
    assert list(table) == ["easy", "hard", "hard (slow)"]
    assert table["hard"] == {"easy": 70.0, "hard": 70.0} and table["hard (slow)"] == {"hard": 60.0}
