"""`mam group`, `mam learn contours` and `mam evaluate pathfinder` as a user types them."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.data import PathfinderRow, make_row, recipe
from mam.show.drawing_files import FILES


def run(*arguments: object) -> str:
    found = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def strokes(path: Path) -> PathfinderRow:
    row = make_row(recipe("pathfinder", "easy", 4), 0)
    assert isinstance(row, PathfinderRow)
    # Dark on light and enlarged: the command finds polarity and scale.
    Image.fromarray(255 - row.clean).resize((600, 600), Image.Resampling.LANCZOS).save(path)
    return row


def cross(path: Path) -> None:
    picture = np.full((120, 160), 235, np.uint8)
    picture[57:63, 10:150] = picture[10:110, 77:83] = 40
    Image.fromarray(picture).save(path)


def test_short_strokes_of_a_users_picture(tmp_path: Path) -> None:
    row = strokes(tmp_path / "dashes.png")
    at = " ".join(f"{r},{c}" for r, c in (row.markers * 2).tolist())
    text = run("group", tmp_path / "dashes.png", "--markers", at, "--json")
    assert text.count("\n") == 1
    found = json.loads(text)
    assert found["model"] == "contours" and "dark on light" in found["assumed"]
    assert found["markers"]["same"] == bool(row.label)
    long = [curve for curve in found["curves"] if curve["length"] > 80]
    assert len(long) == 2 and not any(curve["closed"] for curve in found["curves"])
    ends = [np.array(long[k]["points"])[[0, -1]] for k in (0, 1)]
    tips = np.array([(s[0].row, s[0].col) for s in row.segments[:2]]) * 2
    nearest = np.linalg.norm(np.concatenate(ends)[:, None] - tips, axis=2).min(0)
    assert (nearest < 6).all()
    assert (tmp_path / "dashes-curves.png").exists()


def test_lines_that_cross(tmp_path: Path) -> None:
    cross(tmp_path / "cross.png")
    out, svg = tmp_path / "o.png", tmp_path / "v.svg"
    options = ["--out", out, "--out", svg, "--bound"]
    found = json.loads(run("group", tmp_path / "cross.png", *options, "--json"))
    assert found["model"] == "curves" and len(found["curves"]) == 2
    assert found["bound"] >= found["score"] - 1e-6 and found["markers"] is None
    spans = [np.ptp(np.array(curve["points"]), axis=0) for curve in found["curves"]]
    assert spans[0][1] > 120 and spans[0][0] < 10 and spans[1][0] > 85 and spans[1][1] < 10
    lines = ElementTree.parse(svg).getroot().iter("{http://www.w3.org/2000/svg}path")
    found = [(line.get("id"), float(line.get("stroke-width", 0))) for line in lines]
    assert found == [("curve-1", pytest.approx(6, abs=1)), ("curve-2", pytest.approx(6, abs=1))]
    with Image.open(out) as overlay:
        assert overlay.size == (960, 720)
    text = run("group", tmp_path / "cross.png", *options, "--markers", "60,20 60,140")
    assert "the same curve" in text and "2 curves" in text
    text = run("group", tmp_path / "cross.png", *options, "--markers", "60,20 20,80")
    assert "different curves" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--markers", "5,5"], "two points"),
        (["--markers", "5,5 900,5"], r"marker 2 \(900, 5\) lies outside the picture of 120 x 160"),
        (["--markers", "5,5 60,100"], "on no curve"),
        (["--model", "nothing"], "no bundled model"),
        (["--out", "missing/a.png"], "no such folder"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, options: list[str], message: str) -> None:
    cross(tmp_path / "cross.png")
    with pytest.raises((ValueError, OSError), match=message):
        run("group", tmp_path / "cross.png", *options)


def test_pictures_without_curves(tmp_path: Path) -> None:
    Image.fromarray(np.full((50, 50), 9, np.uint8)).save(tmp_path / "plain.png")
    with pytest.raises(ValueError, match="one grey value"):
        run("group", tmp_path / "plain.png")
    speck = np.zeros((50, 50), np.uint8)
    speck[20, 20] = 255
    Image.fromarray(speck).save(tmp_path / "speck.png")
    with pytest.raises(ValueError, match="nothing but specks"):
        run("group", tmp_path / "speck.png")
    with pytest.raises(ValueError, match="pixels"):
        Image.new("1", (10_000, 10_000)).save(tmp_path / "scan.png")
        run("group", tmp_path / "scan.png")


def test_learn_and_evaluate(tmp_path: Path) -> None:
    data, model = tmp_path / "set.parquet", tmp_path / "contours.safetensors"
    run("make", "pathfinder", "--level", "easy", "--count", 6, "--seed", 5, "--out", data)
    learned = json.loads(run("learn", "contours", data, "--images", 4, "--out", model, "--json"))
    assert learned["images"] == 4 and learned["neighbours"] > 60
    for input in ("clean", "image"):
        text = run("evaluate", "pathfinder", data, "--model", model, "--input", input, "--json")
        found = json.loads(text)
        assert found["n"] == 6 and found["accuracy"] == 1 - len(found["errors"]) / 6
        assert found["accuracy"] >= 5 / 6 and found["per_second"] > 0
    text = run("evaluate", "pathfinder", data, "--model", model, "--limit", 2)
    assert "2 rows" in text
    with pytest.raises(ValueError, match="a model of contours, where one of parts"):
        run("learn", "contours", data, "--parts", model, "--out", tmp_path / "x.safetensors")


def test_every_ending_and_links_that_are_known(tmp_path: Path) -> None:
    picture = tmp_path / "cross.png"
    cross(picture)
    files = [tmp_path / f"a{ending}" for ending in FILES]
    said = run("group", picture, *(word for path in files for word in ("--out", path)))
    assert all(f"{path}: " in said and path.stat().st_size for path in files)
    about = json.loads((tmp_path / "a.json").read_text())
    assert [curve["crossings"] for curve in about["curves"]] == [1, 1]
    assert [curve["width"] for curve in about["curves"]] == pytest.approx([6, 6], abs=1)
    features = json.loads((tmp_path / "a.geojson").read_text())["features"]
    table = (tmp_path / "a.points.csv").read_text().splitlines()
    assert len(table) == 1 + sum(len(one["geometry"]["coordinates"]) for one in features)
    number, point, row, column = table[1].split(",")
    assert (number, point) == ("1", "1")
    assert features[0]["geometry"]["coordinates"][0] == [float(column), float(row)]
    # The horizontal line is cut at the crossing, and joined to the vertical one.
    west, east, north = "60,72", "60,88", "52,80"
    cut = ["--json", "--forbid", f"{west} {east}"]
    ends = ["--markers", "60,20 60,140"]
    assert json.loads(run("group", picture, *ends, *cut))["markers"]["same"] is False
    turned = ["--json", "--demand", f"{west} {north}", "--markers", "60,20 20,80"]
    assert json.loads(run("group", picture, *turned))["markers"]["same"] is True
    with pytest.raises(ValueError, match="demanded and forbidden at once"):
        run("group", picture, *cut, "--demand", f"{east} {west}")
    with pytest.raises(ValueError, match="--forbid '7': give two points"):
        run("group", picture, "--forbid", "7")


def test_names_steer_no_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    evil = "a\x1b]0;owned\x07[b].png"
    for name in (evil, "plain.png"):
        cross(Path(name))
    ran = CliRunner().invoke(app, ["group", evil, "plain.png"], color=True)
    assert ran.exit_code == 0 and r"a\x1b]0;owned\x07[b].png" in ran.stdout
    assert "\x1b" not in ran.output and "\x07" not in ran.output
    Path(evil).write_text("no picture")
    ran = CliRunner().invoke(app, ["group", evil, "plain.png"], color=True)
    assert ran.exit_code == 2 and r"a\x1b]0;owned" in ran.stderr and "\x07" not in ran.output
