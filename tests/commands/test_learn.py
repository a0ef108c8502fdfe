"""`mam learn parts` as a user types it."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.vision.parts import part_learning
from mam.vision.parts.masks import CABC, PATHFINDER, Parts
from mam.vision.parts.training import training_images


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few and small windows: the command is tested here, not what it learns."""

    def config(count: int, side: int, round: bool | None) -> part_learning.PartLearningConfig:
        small = {"windows": 6, "iterations": 20, "discoveries": 1, "rounds": 1, "proposals": 2}
        return _CONFIG(count=count, side=side, round=round, surround=2, **small)

    monkeypatch.setattr(part_learning, "PartLearningConfig", config)


_CONFIG = part_learning.PartLearningConfig


def test_learn_parts(tmp_path: Path, quick: None) -> None:
    data, out = tmp_path / "set.parquet", tmp_path / "parts.safetensors"
    run("make", "pathfinder", "--level", "easy", "--count", 2, "--out", data)
    options = ["--count", 4, "--size", 7, "--images", 1, "--seed", 2, "--prior", -15, "--out", out]
    result = run("learn", "parts", data, *options, "--json")
    assert result.exit_code == 0
    report = json.loads(result.stdout)
    parts = Parts.load(out)
    assert report["parts"] == len(parts) and report["images"] == 1
    assert sum(report["usage"]) > 0 and report["history"] == sorted(report["history"])
    assert parts.noise == replace(PATHFINDER, prior=-15.0)
    assert parts.provenance["data"] == "set.parquet"
    with Image.open(tmp_path / "parts.png") as picture:
        assert np.asarray(picture).max() == 255
    assert len(list(tmp_path.iterdir())) == 3


def test_letters_are_cut_from_cabc(tmp_path: Path) -> None:
    run("make", "cabc", "--level", "easy", "--count", 2, "--out", tmp_path / "set.parquet")
    masks, noise = training_images(str(tmp_path / "set.parquet"), 3)
    assert [mask.shape for mask in masks] == [(256, 256)] * 3 and noise == CABC
    assert all(200 < mask.sum() < 20000 for mask in masks)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--out", "{}/no/x.safetensors"], "no such folder"),
        (["--out", "{}/x.safetensors", "--picture", "{}/no/x.png"], "no such folder"),
        (["--out", "{}/x.safetensors", "--images", "0"], "at least one image"),
        (["--out", "{}/x.safetensors", "--size", "6"], "odd and at least 3, not 6"),
        (["--out", "{}/x.safetensors", "--count", "0"], "count must be at least 1"),
        (["--out", "{}/x.safetensors"], "nothing: no such file"),
    ],
    ids=["folder", "picture", "images", "size", "count", "data"],
)
def test_mistakes_end_in_one_line(
    tmp_path: Path,
    options: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from mam import cli

    arguments = ["mam", "learn", "parts", str(tmp_path / "nothing")]
    monkeypatch.setattr(sys, "argv", [*arguments, *(a.format(tmp_path) for a in options)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert words in error and len(error.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_an_image_smaller_than_a_part(tmp_path: Path) -> None:
    data = tmp_path / "set.parquet"
    run("make", "curves", "--size", 64, "--number", 2, "--count", 1, "--out", data)
    with pytest.raises(ValueError, match="smaller than a part of side 65"):
        run("learn", "parts", data, "--size", 65, "--out", tmp_path / "x.safetensors")


def test_data_of_another_task_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*arguments: object, **named: object) -> None:
        raise AssertionError("parts are learned from a set that cannot be used")

    monkeypatch.setattr("mam.commands.learn.groupers.learned_parts", never)
    letters, strokes = tmp_path / "letters.parquet", tmp_path / "strokes.parquet"
    run("make", "cabc", "--level", "easy", "--count", 1, "--out", letters)
    run("make", "pathfinder", "--level", "easy", "--count", 1, "--out", strokes)
    out = tmp_path / "model.safetensors"
    for preset in ("paper", "best"):
        with pytest.raises(ValueError, match=r"letters\.parquet: row 0 is no pathfinder image"):
            run("learn", "contours", letters, "--preset", preset, "--out", out)
        with pytest.raises(ValueError, match=r"strokes\.parquet: "):
            run("learn", "objects", strokes, "--preset", preset, "--out", out)
    assert not out.exists()
