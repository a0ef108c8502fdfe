"""Commands as a newcomer finds them: help, many pictures, photographs, plain words."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from skimage import data
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
    ["doctor"],
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
    Image.fromarray(data.astronaut()).resize((200, 200)).save("photo.png")
    return tmp_path


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_every_help_has_examples_and_flags_are_flags(verb: list[str]) -> None:
    said = run(*verb, "--help")
    assert f"    mam {' '.join(verb)} " in said and "<bool>" not in said
    assert "-q, --quiet" in said


def completed(**asked: str) -> str:
    """What the program, under its own name, tells a shell."""
    code = "import sys; sys.argv[:] = ['mam']; from mam.cli import main; main()"
    known = {**os.environ, **asked, "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run([sys.executable, "-c", code], env=known, capture_output=True, text=True)
    return ran.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_tab_key_can_be_set_up(shell: str) -> None:
    """The script that a shell is given, and what it is told when the key is pressed."""
    script = completed(_MAM_COMPLETE=f"source_{shell}")
    assert "_MAM_COMPLETE" in script and f"complete_{shell}" in script
    assert "--install-completion" in run("--help")


def test_the_tab_key_completes_a_verb() -> None:
    said = completed(_MAM_COMPLETE="complete_bash", COMP_WORDS="mam ev", COMP_CWORD="1")
    assert said.split() == ["evaluate"]


def test_the_doctor_looks_around(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "programs"))
    (tmp_path / "programs").mkdir()
    (tmp_path / "programs" / "one").write_bytes(bytes(3_000_000))
    found = json.loads(run("doctor", "--json", "--quiet"))
    assert found["versions"]["jax"] and found["devices"] and found["cores"] >= 1
    assert (found["cache_files"], found["cache_mb"]) == (1, 3.0)
    assert all(0 <= spent < 120 for spent in found["seconds"].values())
    page = run("doctor")
    for word in ("mam ", "jax ", "devices ", "programs ", "again"):
        assert word in page
    for extra in found["extras"]:
        lacks = None in extra["packages"].values()
        assert (f"[{extra['name']}]" in page) == lacks


def test_one_picture_can_be_looked_at(folder: Path) -> None:
    assert "1 row of" in run("look", "in/a.png", "--out", "sheet.png")


def test_folders_patterns_and_standard_input(folder: Path) -> None:
    Path("out").mkdir()
    for given in (["in"], ["in/*"], ["in/a.png", "in/b.webp", "in/c.bmp"]):
        lines = run("group", *given, "--out", "out", "--json", "--quiet").splitlines()
        found = [json.loads(line) for line in lines]
        assert [Path(one["picture"]).name for one in found] == ["a.png", "b.webp", "c.bmp"]
        assert all(len(one["curves"]) == 1 for one in found)
    kinds = sorted(path.name.partition("-curves")[2] for path in Path("out").iterdir())
    assert kinds == ["", *sorted([".json", ".png", ".svg"] * 3)]
    run("group", "in/a.png")
    assert len(run("group", "in", "--json", "--out", "out").splitlines()) == 3  # no overlay of ours
    said = run("group", "-", "--out", "s.png", given=Path("in/a.png").read_bytes())
    assert said.startswith("standard input: 1 curve of 1 strand, model curves")


def test_pictures_that_differ_in_their_ending_alone(folder: Path) -> None:
    for ending in ("bmp", "webp"):
        Image.open("in/a.png").save(f"in/a.{ending}", lossless=True)
    for _ in range(2):  # what the first made is no picture for the second
        lines = run("group", "in", "--json").splitlines()
        made = [Path(json.loads(line)["files"][0]).name for line in lines]
        short = ["b-curves.png", "c-curves.png"]
        assert made == ["a.bmp-curves.png", "a.png-curves.png", "a.webp-curves.png", *short]
    Path("other").mkdir()
    Path("out").mkdir()
    Image.open("in/a.png").save("other/a.png")
    ran = CliRunner().invoke(app, ["group", "in/a.png", "other/a.png", "--out", "out"])
    assert str(ran.exception).startswith("in/a.png and other/a.png: both would become out/a.png-")


@pytest.mark.parametrize("name", ["missing.uai", "."])
def test_a_file_that_cannot_be_read_is_named(folder: Path, name: str) -> None:
    command = [sys.executable, "-m", "mam", "solve", name]
    known = {**os.environ, "PYTHONPATH": ":".join(sys.path)}
    ran = subprocess.run(command, capture_output=True, text=True, env=known)
    assert ran.returncode == 2 and ran.stderr.startswith(f"mam: {name}: ")
    assert "Errno" not in ran.stderr and ran.stderr.count("\n") == 1


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


_WORK = """\
import sys, time
from mam.commands.progress_bars import working
with working("counting sheep", quiet=sys.argv[1] == "quiet"):
    time.sleep(float(sys.argv[2]))
"""


@pytest.mark.parametrize(
    ("how", "seconds", "told"), [("loud", 2.6, True), ("quiet", 2.6, False), ("loud", 0.1, False)]
)
def test_work_above_two_seconds_tells_of_itself(how: str, seconds: float, told: bool) -> None:
    terminal, end = pty.openpty()
    command = [sys.executable, "-c", _WORK, how, str(seconds)]
    asked = {**os.environ, "TERM": "xterm", "PYTHONPATH": ":".join(sys.path)}
    subprocess.run(command, stderr=end, env=asked, check=True)
    os.write(end, b"done")
    said = b""
    while not said.endswith(b"done"):  # a terminal hands over what fits into its buffer
        said += os.read(terminal, 100_000)
    os.close(end)
    os.close(terminal)
    assert (b"counting sheep" in said) == told
