"""`mam group` on a folder: one table, errors by file, nothing done twice."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

import mam.tasks.drawing
from mam.cli import app


def run(*words: object, code: int = 0) -> str:
    ran = CliRunner().invoke(app, list(map(str, words)))
    assert ran.exit_code == code, (ran.output, ran.exception)
    return ran.output


def bars(rows: list[int], path: str) -> None:
    picture = np.full((60, 80), 255, np.uint8)
    for row in rows:
        picture[row : row + 4, 8:70] = 0
    Image.fromarray(picture).save(path)


@pytest.fixture
def grouped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of pictures that are grouped, in order."""
    monkeypatch.chdir(tmp_path)
    Path("in").mkdir()
    bars([20], "in/a.png")
    bars([10, 40], "in/b.png")
    names: list[str] = []
    real = mam.tasks.drawing.group_drawing

    def counted(picture: Path, **known: object) -> object:
        names.append(Path(picture).name)
        return real(picture, **known)  # type: ignore[arg-type]

    monkeypatch.setattr(mam.tasks.drawing, "group_drawing", counted)
    return names


def table(name: str = "out/curves.csv") -> list[dict[str, str]]:
    with open(name, newline="") as file:
        return list(csv.DictReader(file))


def test_nothing_is_done_twice(grouped: list[str]) -> None:
    command = ["group", "in/*.png", "--out-dir", "out", "--out", ".svg", "--out", ".tif", "-q"]
    first = run(*command, "--json")
    assert grouped == ["a.png", "b.png"]
    made = {path.name for path in Path("out").iterdir()}
    each = {f"{name}-curves.{end}" for name in "ab" for end in ("svg", "tif", "json")}
    assert made == each | {"curves.csv"}
    assert [(row["picture"], row["curve"]) for row in table()] == [
        ("in/a.png", "1"),
        ("in/b.png", "1"),
        ("in/b.png", "2"),
    ]
    before = {path: path.read_bytes() for path in Path("out").iterdir()}
    assert run(*command, "--json") == first and grouped == ["a.png", "b.png"]
    assert {path: path.read_bytes() for path in Path("out").iterdir()} == before
    assert "in/b.png: 2 curves, from before" in run(*command)
    bars([30], "in/b.png")  # another picture
    bars([30], "in/c.png")  # a new one
    Path("out/a-curves.svg").unlink()  # a file that is gone
    run(*command)
    assert grouped[2:] == ["a.png", "b.png", "c.png"] and len(table()) == 3
    run(*command, "--bridging", "2")  # another setting
    assert grouped[5:] == ["a.png", "b.png", "c.png"]


def test_errors_are_listed_by_file_and_tried_again(grouped: list[str]) -> None:
    Path("in/bad.png").write_bytes(b"junk")
    Image.new("L", (30, 30), 7).save("in/flat.png")
    said = run("group", "in", "--out-dir", "deep/out", code=2)
    assert "2 of 4 pictures failed" in said and len(table("deep/out/curves.csv")) == 3
    errors = table("deep/out/errors.csv")
    assert [row["picture"] for row in errors] == ["in/bad.png", "in/flat.png"]
    assert "not a picture" in errors[0]["error"] and "one grey value" in errors[1]["error"]
    bars([5], "in/bad.png")
    bars([5], "in/flat.png")
    run("group", "in", "--out-dir", "deep/out")
    assert grouped[-2:] == ["bad.png", "flat.png"] and len(grouped) == 6
    assert not Path("deep/out/errors.csv").exists() and len(table("deep/out/curves.csv")) == 5


@pytest.mark.parametrize(
    ("name", "content"),
    [("errors.csv", "mine,too\n1,2\n"), ("curves.csv", "picture,price\na.png,3\n")],
)
def test_tables_of_others_are_kept(grouped: list[str], name: str, content: str) -> None:
    Path("out").mkdir()
    Path("out", name).write_text(content)
    with pytest.raises(ValueError, match=rf"out/{name}: is no table of `mam group`.*--out-dir"):
        CliRunner().invoke(app, ["group", "in", "--out-dir", "out"], catch_exceptions=False)
    assert grouped == [] and [path.name for path in Path("out").iterdir()] == [name]
    assert Path("out", name).read_text() == content


def test_an_answer_of_others_is_not_removed(grouped: list[str]) -> None:
    Path("out").mkdir()
    Path("out/bad-curves.json").write_text('{"mine": 1}')
    Path("in/bad.png").write_bytes(b"junk")
    run("group", "in/bad.png", "in/a.png", "--out-dir", "out", code=2)
    assert Path("out/bad-curves.json").read_text() == '{"mine": 1}'


def test_one_picture_and_its_pixel_size(grouped: list[str]) -> None:
    pixels = np.asarray(Image.open("in/a.png"))
    known = {"axes": "YX", "PhysicalSizeX": 0.5, "PhysicalSizeY": 0.5, "PhysicalSizeXUnit": "µm"}
    tifffile.imwrite("scan.tif", pixels, ome=True, metadata=known)
    run("group", "scan.tif", "--out-dir", "out")
    [row] = table()
    assert row["unit"] == "um" and float(row["length"]) == pytest.approx(0.5 * 60, abs=2)
    run("group", "scan.tif", "--out-dir", "out", "--pixel-size", "2mm")
    [row] = table()
    assert row["unit"] == "mm" and float(row["length"]) == pytest.approx(2 * 60, abs=8)
    about = json.loads(Path("out/scan-curves.json").read_text())
    assert about["pixel_size"] == {"length": 2.0, "unit": "mm"}


@pytest.mark.parametrize(
    ("words", "say"),
    [
        (["in", "--out", "a.csv"], "--out .csv, and --out-dir FOLDER"),
        (["in/a.png", "--out-dir", "o", "--out", "a.svg"], "--out .svg, and --out-dir"),
        (["in", "--out-dir", "a.png"], "would be a folder"),
        (["in/a.png", "--out", "a.jpg"], r"a.jpg: would hold PNG, SVG, .*let its name end in .png"),
        (["in/a.png", "--pixel-size", "2"], "a length and its unit"),
        (["in/a.png", "--axes", "x"], "two ticks an axis"),
        (["in/a.png", "--box", "1,2"], "--box '1,2': give two points"),
        (["in/a.png", "--ink", "red"], "auto, dark, light or a colour"),
        (["in/a.png", "--show", "ink", "--out", "a.svg"], "would hold PNG"),
        (["in", "--cluster", "local", "--out", "a", "--out-dir", "b"], "give one folder"),
        (["in", "--cluster", "local", "--out", "a", "--show", "ink"], "are for one picture"),
    ],
)
def test_mistakes_are_named_before_any_work(grouped: list[str], words: list, say: str) -> None:
    ran = CliRunner().invoke(app, ["group", *words])
    assert isinstance(ran.exception, ValueError) and re.search(say, str(ran.exception))
    assert grouped == []
