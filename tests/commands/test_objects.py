"""`mam learn objects`, `mam find`, `mam evaluate objects` and `mam edges` on photographs."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.data import ObjectsConfig, encode_png, make_objects
from tests.infer.test_compilations import compilations

FIND_PROGRAMS = 9  # that are compiled where none has been: each costs a second or more
PLAIN = ObjectsConfig(rows=160, cols=192, objects=1, frames=4, clutter=(2, 4), turn=4.0)


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plain folder of pictures and masks."""
    root = tmp_path_factory.mktemp("mugs")
    for name in ("images", "masks"):
        (root / name).mkdir()
    for number in range(4):
        row = make_objects(PLAIN, 2, number)
        (root / "images" / f"{number}.png").write_bytes(encode_png(row.image))
        mask = row.mask.astype(np.uint8) * 255
        (root / "masks" / f"{number}.png").write_bytes(encode_png(mask))
    return root


def test_learn_find_evaluate(folder: Path, tmp_path: Path) -> None:
    model, drawn, masks = (tmp_path / name for name in ("mug.safetensors", "f.png", "m.png"))
    few = ("--graphs", 16, "--json")
    learned = json.loads(
        run("learn", "objects", folder, "--name", "mug", "--out", model, *few).stdout
    )
    assert learned["objects"] == ["mug"] and learned["graphs"] == 4
    picture = folder / "images/1.png"
    options = ("--model", model, "--out", drawn, "--masks", masks)
    with compilations() as names:
        found = json.loads(run("find", picture, *options, *few).stdout)
    assert len(names) <= FIND_PROGRAMS, names
    [one] = found["objects"]
    assert one["there"] and one["score"] > one["threshold"]
    truth = np.asarray(Image.open(folder / "masks/1.png")) > 0
    labels = np.asarray(Image.open(masks)) == 1
    assert (labels & truth).sum() > 0.7 * (labels | truth).sum()
    with Image.open(drawn) as shown:
        assert shown.size == (192, 160)
    box, rows = one["box"], np.flatnonzero(labels.any(1))
    assert (box[0], box[2]) == (rows[0], rows[-1]) and len(one["outline"]) == 64
    assert "mug, rows" in run("find", picture, "--model", model, "--graphs", 16).stdout
    blank = tmp_path / "blank.png"
    blank.write_bytes(encode_png(np.full((160, 192), 70, np.uint8)))
    assert "mug is not there" in run("find", blank, "--model", model, "--graphs", 16).stdout
    report = json.loads(run("evaluate", "objects", folder, "--model", model, *few).stdout)
    assert report["n"] == 4 and report["median_iou"] > 0.7 and list(report["iou"]) == ["mug"]
    assert {"per_second", "errors", "skipped", "median_iou_hull", "there"} <= set(report)


def test_larger_objects_and_tables(folder: Path, tmp_path: Path) -> None:
    model, large = tmp_path / "mug.safetensors", tmp_path / "large.png"
    run("learn", "objects", folder, "--name", "mug", "--out", model, "--graphs", 16)
    with Image.open(folder / "images/1.png") as picture:
        picture.resize((288, 240)).save(large)
    blank = tmp_path / "blank.png"
    blank.write_bytes(encode_png(np.full((160, 192), 70, np.uint8)))
    few = ("--model", model, "--graphs", 16)
    assert "mug is not there" in run("find", large, *few, "--scales", "1,1").stdout
    tables = tmp_path / "found.json", tmp_path / "found.csv"
    said = run("find", large, blank, *few, "--out", tables[0], "--out", tables[1]).stdout
    assert f"{large}: mug, rows" in said and f"{blank}: mug is not there" in said
    one, none = json.loads(tables[0].read_text())
    [found], [missed] = one["objects"], none["objects"]
    with tables[1].open() as file:
        first, second = csv.DictReader(file)
    for row, told in ((first, found), (second, missed)):
        assert (row["name"], int(row["there"])) == ("mug", told["there"])
        assert float(row["score"]) == told["score"]
    assert [int(first[side]) for side in ("top", "left", "bottom", "right")] == found["box"]
    points = [[float(number) for number in point.split(",")] for point in first["outline"].split()]
    assert points == found["outline"] and 1.2 < found["scale"] <= 1.6
    with pytest.raises(ValueError, match=r"--scales 2,1: .* the smaller first"):
        run("find", large, *few, "--scales", "2,1")
    with pytest.raises(ValueError, match=r"let its name end in .png, .json or .csv"):
        run("find", large, *few, "--out", tmp_path / "found")
    with pytest.raises(ValueError, match=r"one drawing, one \.json and one"):
        run("find", large, *few, "--out", tables[0], "--out", tmp_path / "other.json")


def test_edges_are_drawn(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "edges.png"
    assert "px of edges" in run("edges", folder / "images/0.png", "--out", out).stdout
    with Image.open(out) as drawn:
        assert drawn.size == (192, 160) and np.asarray(drawn).any()


def test_bad_input_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="either --model FILE, or --leave-out"):
        run("evaluate", "objects", folder)
    with pytest.raises(FileNotFoundError, match="no such folder"):
        run("learn", "objects", folder, "--out", tmp_path / "none" / "m.safetensors")
    (tmp_path / "a.png").write_bytes(encode_png(np.zeros((20, 20), np.uint8)))
    (tmp_path / "a_mask.png").write_bytes(encode_png(np.zeros((20, 20), np.uint8)))
    with pytest.raises(ValueError, match=r"row 0 \(a.png\): its mask is empty"):
        run("learn", "objects", tmp_path, "--out", tmp_path / "m.safetensors")
