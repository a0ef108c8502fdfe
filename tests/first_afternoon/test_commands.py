"""Commands as a newcomer finds them: help, many pictures, photographs, plain words."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app

VERBS = [
    ["group"],
    ["find"],
    ["look"],
    ["edges"],
    ["solve"],
    ["reproduce"],
    ["quickstart"],
    *(["make", kind] for kind in ("pathfinder", "cabc", "curves", "objects")),
    *(["learn", kind] for kind in ("parts", "contours", "curves", "objects", "rival")),
    *(["evaluate", kind] for kind in ("pathfinder", "cabc", "curves", "objects")),
]


def run(*words: object, code: int = 0, given: bytes | None = None) -> str:
    ran = CliRunner().invoke(app, list(map(str, words)), input=given)
    assert ran.exit_code == code, (ran.output, ran.exception)
    return ran.output


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    line = np.full((40, 60), 255, np.uint8)
    line[18:22, 5:55] = 0
    Path("in").mkdir()
    for name in ("a.png", "b.webp", "c.bmp"):
        Image.fromarray(line).save(Path("in") / name, lossless=True)
    smooth = np.random.default_rng(0).normal(size=(9, 9)).cumsum(0).cumsum(1)
    smooth = 255 * (smooth - smooth.min()) / np.ptp(smooth)
    Image.fromarray(smooth.astype(np.uint8)).resize((90, 90)).save("photo.png")
    return tmp_path


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_help_has_examples_and_flags_are_flags(verb: list[str]) -> None:
    said = run(*verb, "--help")
    assert f"    mam {' '.join(verb)} " in said and "<bool>" not in said


def test_the_tab_key_can_be_set_up() -> None:
    assert "--install-completion" in run("--help")


def test_one_picture_can_be_looked_at(folder: Path) -> None:
    assert "1 row of" in run("look", "in/a.png", "--out", "sheet.png")


def test_folders_patterns_and_standard_input(folder: Path) -> None:
    Path("out").mkdir()
    for given in (["in"], ["in/*"], ["in/a.png", "in/b.webp", "in/c.bmp"]):
        lines = run("group", *given, "--out", "out", "--json", "--quiet").splitlines()
        found = [json.loads(line) for line in lines]
        assert [Path(one["picture"]).name for one in found] == ["a.png", "b.webp", "c.bmp"]
        assert all(len(one["curves"]) == 1 for one in found)
    assert len(list(Path("out").iterdir())) == 6
    run("group", "in/a.png")
    assert len(run("group", "in", "--json", "--out", "out").splitlines()) == 3  # no overlay of ours
    said = run("group", "-", "--out", "s.png", given=Path("in/a.png").read_bytes())
    assert said.startswith("standard input: 1 curve of 1 strand, model curves")


def test_of_several_pictures_one_that_fails_does_not_stop_the_others(folder: Path) -> None:
    Path("in/bad.png").write_bytes(b"junk")
    Path("out").mkdir()
    said = run("group", "in", "--out", "out", code=2)
    assert "in/bad.png: not a picture" in said and "1 of 4 pictures failed" in said
    assert said.count("1 curve of 1 strand") == 3


def test_photographs_are_told_from_drawings(folder: Path) -> None:
    ran = CliRunner().invoke(app, ["find", "photo.png"])
    assert "photo.png: looks like a photograph" in str(ran.exception)
    assert "looks like a photograph" in run("group", "photo.png", "--model", "curves")
    assert "photograph" not in run("group", "in/a.png")


def test_a_model_that_is_named_has_no_other_look(folder: Path) -> None:
    said = run("group", "in/a.png", "--model", "curves")
    assert "short strokes" not in said and "continuous lines" not in said
