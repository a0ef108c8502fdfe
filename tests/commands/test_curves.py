"""`mam evaluate curves` and `mam learn curves` with files that know masks and pictures."""

import json
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from mam.cli import app
from mam.data import CurvesRow
from mam.data.generate.charts import ChartsConfig, make_chart
from mam.data.images import encode_png
from mam.data.schema import schema_of, to_record
from mam.vision.curves.strands.curve_grouper import CurveGrouper

SMALL = ChartsConfig(rows=(160, 160), cols=(240, 240), points=(6, 12), curves=(3, 3))


def told(*words: object) -> dict:
    result = CliRunner().invoke(
        app, [*map(str, words), "--json", "--quiet"], catch_exceptions=False
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture, *words: object) -> str:
    """What is said of a command that ends with an error, as one line."""
    from mam import cli

    monkeypatch.setattr(sys, "argv", ["mam", *map(str, words)])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert end.value.code not in (0, None)
    error = capsys.readouterr().err
    assert "Traceback" not in error
    return " ".join(error.replace("│", " ").split())


def written(path: Path, rows: list[CurvesRow], *columns: str) -> Path:
    """A file of rows with some of the optional columns ``masks`` and ``image``."""
    schema = schema_of(CurvesRow)
    picture = schema.field("mask").type
    kinds = {"masks": pa.list_(picture), "image": picture}
    for name in columns:
        schema = schema.append(pa.field(name, kinds[name]))
    records = []
    for row in rows:
        record = to_record(row)
        if "masks" in columns:
            assert row.masks is not None
            record["masks"] = [
                to_record(CurvesRow(one, one.astype(np.uint8)))["mask"] for one in row.masks
            ]
        if "image" in columns:
            assert row.image is not None
            record["image"] = {"bytes": encode_png(row.image), "path": None}
        records.append(record)
    pq.write_table(pa.Table.from_pylist(records, schema=schema), path)
    return path


def touching() -> CurvesRow:
    """Two lines that lie on top of each other: from the mask nothing tells who leaves where."""
    masks = np.zeros((2, 121, 121), bool)
    for col in range(5, 116):
        away = max(abs(col - 60) - 30, 0)
        sign = 1 if col < 60 else -1
        masks[0, 59 - sign * away : 62 - sign * away, col] = True
        masks[1, 59 + sign * away : 62 + sign * away, col] = True
    image = np.full((121, 121, 3), 255, np.uint8)
    image[masks[0]], image[masks[1]] = (220, 20, 20), (20, 40, 220)
    labels = np.where(masks.sum(0) == 1, masks[0] + 2 * masks[1], 0).astype(np.uint8)
    return CurvesRow(np.asarray(masks.any(0)), labels, masks=masks, image=image)


def charts(count: int) -> list[CurvesRow]:
    return [make_chart(SMALL, 2, row)[0] for row in range(count)]


def test_pictures_tell_lines_apart(tmp_path: Path) -> None:
    data = written(tmp_path / "touch.parquet", [touching()], "masks", "image")
    blind = told("evaluate", "curves", data)
    seen = told("evaluate", "curves", data, "--appearance")
    assert blind["dice"]["all"] < 0.7
    assert seen["dice"]["all"] > 0.98 and seen["right"]["all"] == 1


def test_a_file_without_pictures_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "masks.parquet", [touching()], "masks")
    said = refused(monkeypatch, capsys, "evaluate", "curves", data, "--appearance")
    assert "masks.parquet: row 0 has no column 'image'; leave appearance out" in said


def test_learning_from_files_uses_masks_and_pictures(tmp_path: Path) -> None:
    rows = charts(5)
    blind = written(tmp_path / "blind.parquet", rows[:2], "masks")
    seen = written(tmp_path / "seen.parquet", rows[2:], "masks", "image")
    learn = ("learn", "curves", blind, seen, "--count", 0)
    about = told(*learn, "--out", tmp_path / "both.safetensors")
    assert about["images"] == 5 and about["pictures"] == 3 and about["neighbours"] > 0
    told(*learn, "--out", tmp_path / "again.safetensors")
    one, two = (CurveGrouper.load(tmp_path / f"{name}.safetensors") for name in ("both", "again"))
    for name, values in vars(one.continuation_).items():
        np.testing.assert_array_equal(values, getattr(two.continuation_, name))
    assert one.continuation_.appearance.any()
    assert told("evaluate", "curves", seen, "--model", tmp_path / "both.safetensors")["dice"]


def test_learning_refuses_what_it_cannot_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = written(tmp_path / "bare.parquet", charts(1))
    out = tmp_path / "model.safetensors"
    for words, wanted in (
        ((bare, "--count", 0), "bare.parquet: row 0 has no column 'masks', one for each curve"),
        ((tmp_path / "no.parquet",), "no.parquet: no such file"),
        (("--count", 0), "curves are learned from at least one image"),
        ((bare, "--cluster", "local:1"), "No such option: --cluster"),
    ):
        said = refused(monkeypatch, capsys, "learn", "curves", *words, "--out", out)
        assert wanted in said
    assert not out.exists() and bare.exists()


def test_learning_never_writes_over_what_it_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = written(tmp_path / "rows.parquet", charts(1), "masks")
    before = data.read_bytes()
    assert refused(monkeypatch, capsys, "learn", "curves", data, "--out", data)
    assert data.read_bytes() == before
