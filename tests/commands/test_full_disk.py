"""A disk that is full or read-only costs one line of error, and nothing that was there."""

import errno
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from mam import cli
from mam.data import encode_png, make_row, recipe, write_dataset
from mam.data.store.lock import locked_file

UAI = "MARKOV\n1\n2\n1\n1 0\n\n2\n 0.4 0.6\n"
# What a user types, and a file that it writes.
COMMANDS = {
    "group": ("group in.png --model curves --out out.png", "out.png"),
    "group, svg": ("group in.png --model curves --out new.png --out out.svg", "new.png"),
    "group, table": ("group in.png --model curves --out out.csv", "out.csv"),
    "group, many": ("group in.png two.png --model curves --out-dir new", "new"),
    "group, ink": ("group in.png --show ink --out out.png", "out.png"),
    "quickstart": ("quickstart --out out.png", "out.png"),
    "find, table": ("find letters.png --out out.csv", "out.csv"),
    "learn parts": (
        "learn parts dashes.parquet --images 1 --count 2 --out out.safetensors --picture out.png",
        "out.safetensors",
    ),
    "learn contours": (
        "learn contours dashes.parquet --images 1 --out out.safetensors",
        "out.safetensors",
    ),
    "learn letters": ("learn objects letters.parquet --out out.safetensors", "out.safetensors"),
    "edges": ("edges in.png --out out.png", "out.png"),
    "look": ("look in.parquet --out out.png", "out.png"),
    "learn curves": ("learn curves --count 1 --out out.safetensors", "out.safetensors"),
    "solve": ("solve in.uai --out out.MAP", "out.MAP"),
    "make": ("make curves --level easy --count 1 --out new.parquet", "new.parquet"),
    "make, shards": ("make curves --level easy --count 2 --shard-rows 1 --out new", "new"),
    "reproduce": ("reproduce models --out .", "json"),
}
SLOW = {"reproduce", "learn parts", "learn contours", "learn letters", "find, table", "quickstart"}
SHARDS = ("evaluate curves in.parquet --cluster local:1 --out answers", "answers")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_dataset(recipe("curves", "easy", 0), 1, Path("in.parquet"))
    picture = np.zeros((50, 60), np.uint8)
    picture[20:23, 10:50] = 255
    Path("in.png").write_bytes(encode_png(picture))
    Path("two.png").write_bytes(encode_png(picture[::-1]))
    write_dataset(recipe("pathfinder", "easy", 0), 1, Path("dashes.parquet"))
    write_dataset(recipe("cabc", "easy", 0), 1, Path("letters.parquet"))
    Path("letters.png").write_bytes(encode_png(make_row(recipe("cabc", "easy", 0), 0).image))
    Path("in.uai").write_text(UAI)
    for name in ("out.png", "out.svg", "out.csv", "out.safetensors", "out.MAP"):
        Path(name).write_text("from before")
    return tmp_path


def contents(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def complaint(words: str, monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    monkeypatch.setattr(sys, "argv", ["mam", *words.split()])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("mam: ") and len(said.strip().splitlines()) == 1, said
    return said


def full(folder: Path, name: str = "") -> tuple[str, Callable]:
    """What is written in the folder, or the files there that begin so, does not get to the disk."""
    sync = os.fsync

    def fails(file: int) -> None:
        path = Path(os.readlink(f"/proc/self/fd/{file}"))
        if path.is_relative_to(folder) and path.name.startswith(name):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(file)

    return "fsync", fails


def read_only(folder: Path, name: str = "") -> tuple[str, Callable]:
    """No file can be made in the folder, or none whose name begins so."""
    opened = os.open

    def fails(path: str | Path, flags: int, mode: int = 0o777, **more: int) -> int:
        place = Path(path).absolute()
        if flags & os.O_CREAT and place.is_relative_to(folder) and place.name.startswith(name):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
        return opened(path, flags, mode, **more)

    return "open", fails


@pytest.mark.parametrize("fault", [full, read_only])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in COMMANDS],
)
def test_one_line_and_nothing_damaged(
    folder: Path, name: str, fault: Callable, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    words, written = COMMANDS[name]
    before = contents(folder)
    monkeypatch.setattr(os, *fault(folder))
    said = complaint(words, monkeypatch, capsys)
    assert ("the disk is full" if fault is full else "Read-only file system") in said
    assert written in said or fault is read_only
    after = contents(folder)
    assert {path: after.get(path) for path in before} == before
    assert not [path for path in after if path.endswith(".tmp")]


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (full, "manifest.json"),
        (full, ".part-00000.parquet.journal"),
        (full, "part-00000.parquet"),
        (full, ""),
        (read_only, ".mam-run.lock"),
        (read_only, "manifest.json"),
        (read_only, "part-00000.parquet"),
    ],
)
def test_shards_on_a_full_disk(
    folder: Path,
    in_process: None,
    fault: Callable,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys,
) -> None:
    words, out = SHARDS
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(os, *fault(folder / out, name))
        said = complaint(words, monkeypatch, capsys)
    assert ("the disk is full" if fault is full else "Read-only file system") in said
    assert f"{out}/" in said and name in said
    after = contents(folder)
    assert {path: after.get(path) for path in before} == before
    assert not [path for path in set(after) - set(before) if path.endswith((".tmp", ".parquet"))]
    monkeypatch.setattr(sys, "argv", ["mam", *words.split(), "--json"])
    assert completed() == 0  # the same command goes on
    assert json.loads(capsys.readouterr().out)["n"] == 1


def completed() -> int:
    """The exit code of the program."""
    try:
        cli.main()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


def test_answers_that_another_run_is_writing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    words, out = SHARDS
    before = contents(folder)
    with locked_file(folder / out / ".mam-run.lock"):
        said = complaint(words, monkeypatch, capsys)
    assert "answers: another run is writing there; wait for its end" in said
    learn = "learn objects in.parquet --cluster local:1 --out out.safetensors"
    with locked_file(folder / "out.safetensors.shards" / ".mam-run.lock"):
        assert "another run is writing there" in complaint(learn, monkeypatch, capsys)
    after = contents(folder)
    assert {path: after[path] for path in before} == before


def test_answers_have_a_folder_of_their_own(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    words, out = SHARDS
    Path(out).write_text("a file")
    assert "answers: " in complaint(words, monkeypatch, capsys)
    assert Path(out).read_text() == "a file"
    Path("out.safetensors.shards").write_text("a file")
    learn = "learn objects in.parquet --cluster local:1 --out out.safetensors"
    assert "out.safetensors.shards" in complaint(learn, monkeypatch, capsys)
