"""Rows that are evaluated shard by shard make the report of an evaluation in one go."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import mam.scale
from mam.cli import app
from mam.core.limits import ITEM_SECONDS
from mam.data import recipe, write_dataset
from mam.rivals.predict import Rival
from mam.scale import map_shards
from mam.scale.evaluation import EvaluateJob, report_of
from mam.tasks import cabc, curves, rivals
from mam.tasks.report import Report
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.elastic.letters.finder import ObjectFinder
from tests.fuzz.kinds import write_all
from tests.rivals.tiny import tiny, write_set

__all__ = ["tiny"]


def by_shards(folder: Path, data: Path, task: str, model: str, **known: Any) -> Report:
    job = EvaluateJob(task, model, tuple(known.items()))
    map_shards(job, [data], folder / "answers", shard_bytes=data.stat().st_size // 2)
    assert len(list((folder / "answers").glob("part-*.parquet"))) > 1
    return report_of(task, folder / "answers", 1.0)


def timeless(report: Report) -> tuple:
    return report.figures, report.n, report.errors, report.skipped


@pytest.mark.parametrize(("level", "appearance"), [("easy", False), ("wild", True)])
def test_curves(tmp_path: Path, level: str, appearance: bool) -> None:
    data = write_dataset(recipe("curves", level, 3), 4, tmp_path / "rows.parquet")
    known = {"column": "mask", "branches": False, "appearance": appearance}
    found = by_shards(tmp_path, data, "curves", "curves", **known)
    grouper = CurveGrouper.load("curves")
    assert timeless(found) == timeless(
        curves.evaluate(str(data), grouper, "mask", appearance=appearance)
    )


def test_rows_without_an_answer_are_told_with_the_reason(tmp_path: Path) -> None:
    data = write_dataset(recipe("curves", "easy", 3), 4, tmp_path / "rows.parquet")
    known = {"column": "mask", "branches": False, "appearance": True}
    found = by_shards(tmp_path, data, "curves", "curves", **known)
    assert found.n == 0 and set(found.skipped) == {0, 1, 2, 3}
    assert all("has no column 'image'" in why for why in found.skipped.values())


@pytest.mark.slow
def test_letters(tmp_path: Path) -> None:
    data = write_dataset(recipe("cabc", "easy", 3), 4, tmp_path / "rows.parquet")
    found = by_shards(tmp_path, data, "cabc", "letters", preset="best", bound=False)
    assert timeless(found) == timeless(cabc.evaluate(str(data), ObjectFinder.load("letters")))


def test_rivals(tmp_path: Path, tiny: None) -> None:
    data, model = write_set(tmp_path / "rows.parquet", 6), write_all(tmp_path)["rival"]
    found = by_shards(tmp_path, data, "rival", str(model), of="pathfinder")
    alone = rivals.evaluate(str(data), Rival.load(model), "pathfinder")
    assert found.n == 6 and timeless(found) == timeless(alone)
    with pytest.raises(ValueError, match="a rival that learned pathfinder, not cabc"):
        EvaluateJob("rival", str(model), (("of", "cabc"),)).open({str(model): model})


@pytest.mark.parametrize(
    ("words", "job"),
    [
        ("evaluate pathfinder rows.parquet", "EvaluateJob pathfinder contours"),
        ("evaluate pathfinder rows.parquet --model rival.safetensors", "EvaluateJob rival "),
        ("evaluate cabc letters.parquet", "EvaluateJob cabc letters"),
        ("find letters.parquet", "FindJob letters"),
        ("group letters.parquet --model curves", "GroupJob curves"),
    ],
)
def test_a_command_hands_on_its_cluster_and_its_limits(
    tmp_path: Path, tiny: None, words: str, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[str, Any]] = []

    def held_run(job: Any, shards: Any, folder: Path, **known: Any) -> None:
        about = filter(None, [type(job).__name__, getattr(job, "task", None), *job.models])
        asked.append({"job": " ".join(about), "folder": folder, **known})
        raise ValueError("enough")

    monkeypatch.setattr(mam.scale, "held_run", held_run)
    monkeypatch.chdir(tmp_path)
    write_set(tmp_path / "rows.parquet", 6)
    write_dataset(recipe("cabc", "easy", 3), 1, tmp_path / "letters.parquet")
    if "rival" in words:
        write_all(tmp_path)
    more = ["--cluster", "local:1", "--out", "answers", "--item-seconds", "7"]
    with pytest.raises(ValueError, match="enough"):
        CliRunner().invoke(app, [*words.split(), *more], catch_exceptions=False)
    assert asked[0]["job"].startswith(job) and asked[0]["folder"] == Path("answers")
    assert (asked[0]["cluster"], asked[0]["item_seconds"]) == ("local:1", 7)
    less = more[:-2]
    with pytest.raises(ValueError, match="enough"):
        CliRunner().invoke(app, [*words.split(), *less], catch_exceptions=False)
    assert asked[1]["item_seconds"] == ITEM_SECONDS
