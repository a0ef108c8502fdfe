"""No command overwrites what it reads, or starts work whose outcome it could not write."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from mam import cli
from mam.core.model_files import bundled_file
from mam.data import encode_png, recipe, write_dataset
from mam.vision.parts.masks import Parts

MODEL = "m.safetensors"
COMMANDS = {  # what a user types; IN is read and OUT written
    "look": ["look", "IN.parquet", "--out", "OUT"],
    "learn parts": ["learn", "parts", "IN.parquet", "--picture", "p.png", "--out", "OUT"],
    "learn parts, picture": [
        "learn",
        "parts",
        "IN.parquet",
        "--out",
        MODEL,
        "--picture",
        "OUT",
    ],
    "learn contours": ["learn", "contours", "IN.parquet", "--out", "OUT"],
    "learn contours, parts": [
        *["learn", "contours", "other.parquet", "--parts", "IN.safetensors", "--out", "OUT"]
    ],
    "learn objects": ["learn", "objects", "IN.parquet", "--out", "OUT"],
    "group": ["group", "IN.png", "--out", "OUT"],
    "group, another": ["group", "IN.png", "--out", "new.svg", "--out", "OUT"],
    "group, model": ["group", "other.png", "--model", "IN.safetensors", "--out", "OUT"],
    "find": ["find", "IN.png", "--out", "OUT"],
    "find, masks": ["find", "IN.png", "--masks", "OUT"],
    "find, depth": ["find", "other.png", "--depth", "IN.png", "--out", "OUT"],
    "find, model": ["find", "other.png", "--model", "IN.safetensors", "--out", "OUT"],
    "edges": ["edges", "IN.png", "--out", "OUT"],
    "edges, depth": ["edges", "other.png", "--depth", "IN.png", "--out", "OUT"],
}
FROM_NOTHING = {
    "learn curves": ["learn", "curves", "--out", "OUT"],
    "quickstart": ["quickstart", "--out", "OUT"],
}
TWICE = {
    "learn parts": ["learn", "parts", "IN.parquet", "--out", "OUT", "--picture", "OUT"],
    "learn parts, beside": ["learn", "parts", "IN.parquet", "--out", "OUT.png"],
    "group": ["group", "IN.png", "--out", "OUT.svg", "--out", "OUT.svg"],
    "find": ["find", "IN.png", "--out", "OUT", "--masks", "OUT"],
}


@pytest.fixture
def inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("IN", "other"):
        write_dataset(recipe("pathfinder", "easy", 0), 2, Path(f"{name}.parquet"))
        Path(f"{name}.png").write_bytes(encode_png(np.eye(40, dtype=np.uint8) * 255))
        Parts(np.ones((1, 3, 3), bool)).save(f"{name}.safetensors")
    return tmp_path


def complaint(words: list[str], monkeypatch: pytest.MonkeyPatch, capsys) -> str:
    monkeypatch.setattr(sys, "argv", ["mam", *words])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert said.startswith("mam: ") and len(said.strip().splitlines()) == 1
    return said


def contents() -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in Path().rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("way", ["same", "soft", "hard"])
def test_an_output_is_no_input(inputs: Path, name: str, way: str, monkeypatch, capsys) -> None:
    [read] = [word for word in COMMANDS[name] if word.startswith("IN")]
    written = f"./{read}" if way == "same" else "a-link"
    if way == "soft":
        Path(written).symlink_to(read)
    elif way == "hard":
        os.link(read, written)
    before = contents()
    words = [written if word == "OUT" else word for word in COMMANDS[name]]
    assert "is an input" in complaint(words, monkeypatch, capsys)
    assert contents() == before


@pytest.mark.parametrize("name", TWICE)
def test_two_outputs_are_two_files(inputs: Path, name: str, monkeypatch, capsys) -> None:
    before = contents()
    assert "two outputs of one command" in complaint(TWICE[name], monkeypatch, capsys)
    assert contents() == before


@pytest.mark.parametrize("name", [*COMMANDS, *FROM_NOTHING])
@pytest.mark.parametrize(
    ("target", "words"),
    [("none/x.png", "no such folder"), ("there.png", "it is a folder"), ("dev.png", "no regular")],
)
def test_an_impossible_output_is_refused_before_the_work(
    inputs: Path, name: str, target: str, words: str, monkeypatch, capsys
) -> None:
    Path("there.png").mkdir()
    Path("dev.png").symlink_to("/dev/null")
    typed = {**COMMANDS, **FROM_NOTHING}[name]
    # Whoever starts to work on this finds out that it is no picture, no rows and no model.
    for read in Path().glob("IN.*"):
        read.write_bytes(b"nothing")
    said = complaint([target if word == "OUT" else word for word in typed], monkeypatch, capsys)
    assert words in said and target in said


def test_quickstart_keeps_its_own_picture(tmp_path: Path, monkeypatch, capsys) -> None:
    picture = tmp_path / "a.png"
    picture.symlink_to(bundled_file("hard.png"))
    before = picture.read_bytes()
    said = complaint(["quickstart", "--out", str(picture)], monkeypatch, capsys)
    assert "is an input" in said and picture.read_bytes() == before


@pytest.mark.parametrize("name", ["font.ttf", "font.parquet"])
def test_make_keeps_its_font(tmp_path: Path, name: str, monkeypatch, capsys) -> None:
    monkeypatch.setattr("mam.data.generate.letters.load_faces", lambda fonts: None)
    font = tmp_path / name
    font.write_bytes(b"outlines")
    words = ["make", "cabc", "--count", "1", "--font", str(font), "--out", str(font)]
    assert str(font) in complaint(words, monkeypatch, capsys)
    assert font.read_bytes() == b"outlines" and [p.name for p in tmp_path.iterdir()] == [name]


def test_reproduce_keeps_its_data_and_needs_room_for_its_page(
    tmp_path: Path, monkeypatch, capsys
) -> None:
    data, out = tmp_path / "data", tmp_path / "out"
    data.mkdir()
    write_dataset(recipe("objects", "easy", 0), 2, data / "objects.parquet")
    out.mkdir()
    (out / "objects.html").symlink_to(data / "objects.parquet")
    words = ["reproduce", "objects", "--data", str(data), "--out", str(out)]
    before = (data / "objects.parquet").read_bytes()
    assert "is an input" in complaint(words, monkeypatch, capsys)
    assert (data / "objects.parquet").read_bytes() == before
    (out / "objects.html").unlink()
    (out / "objects.html").mkdir()
    assert "it is a folder" in complaint(words, monkeypatch, capsys)
