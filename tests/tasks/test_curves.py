"""The curves task: Dice, sets and columns, and the commands as a user types them."""

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from mam.cli import app
from mam.data import CurvesRow, rows_of
from mam.data.generate.curves import LEVELS, make_curves
from mam.data.schema import from_record, schema_of, to_record
from mam.tasks.curves import dice, evaluate
from mam.tasks.rows import rows_of_kind
from mam.vision.curves.strands.curve_grouper import CurveGrouper


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@given(st.integers(0, 3), st.integers(1, 4), st.integers(0, 10_000))
def test_dice_is_the_best_of_all_matches(found: int, true: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.append(rng.integers(0, true + 1, 60), np.arange(1, true + 1)))
    answer = rng.integers(0, found + 1, len(labels))
    masks = [answer == k for k in range(1, found + 1)] + [np.zeros(len(labels), bool)] * true
    best = max(
        sum(
            2 * (masks[m] & (labels == k)).sum() / (masks[m].sum() + (labels == k).sum())
            for k, m in enumerate(order, 1)
        )
        for order in permutations(range(len(masks)), true)
    )
    scores = dice(answer[None], labels[None])
    assert len(scores) == true
    assert sum(scores) == pytest.approx(best)


@pytest.fixture
def named(tmp_path: Path) -> str:
    """A file as of photographs: names with sets, and a second mask."""
    records = []
    for number, name in enumerate(["S1/a", "S2/b", "S2/c"]):
        row = make_curves(LEVELS["easy"], 5, number)
        gaps = row.mask.copy()
        gaps[:, 128] = False
        broken = to_record(CurvesRow(gaps, row.labels))["mask"]
        records.append({**to_record(row), "gaps": broken, "name": name})
    schema = schema_of(CurvesRow)
    schema = schema.append(pa.field("gaps", schema.field("mask").type))
    schema = schema.append(pa.field("name", pa.string()))
    pq.write_table(pa.Table.from_pylist(records, schema=schema), tmp_path / "named.parquet")
    return str(tmp_path / "named.parquet")


def test_sets_and_columns_of_named_rows(named: str) -> None:
    rows = list(rows_of(named))
    assert [row.name for row in rows] == ["S1/a", "S2/b", "S2/c"]
    assert not rows[0].gaps[:, 128].any() and rows[0].mask.any()
    grouper = CurveGrouper.load("curves")
    report = evaluate(named, grouper, "mask")
    found = [
        np.array(dice(one.labels, row.labels))
        for one, row in zip(grouper.predict([row.mask for row in rows]), rows, strict=True)
    ]
    expected = {"S1": found[0].mean(), "S2": np.concatenate(found[1:]).mean()}
    assert report.figures["dice"] == pytest.approx(expected) and report.n == 3
    assert report.errors == tuple(k for k in range(3) if found[k].mean() < 0.98)
    assert set(evaluate(named, grouper, "gaps", limit=1).figures["dice"]) == {"S1"}


def test_learn_and_evaluate(tmp_path: Path) -> None:
    data, model = tmp_path / "set.parquet", tmp_path / "curves.safetensors"
    run("make", "curves", "--level", "easy", "--count", 3, "--seed", 5, "--out", data)
    learned = run("learn", "curves", "--count", 3, "--out", model, "--json")
    assert json.loads(learned.stdout)["images"] == 3
    result = run("evaluate", "curves", data, "--model", model, "--limit", 2, "--json")
    report = json.loads(result.stdout)
    assert report["n"] == 2 and 0 < report["dice"]["all"] <= 1 and report["per_second"] > 0
    assert "dice: all" in run("evaluate", "curves", data, "--limit", 1).stdout
    with pytest.raises(ValueError, match="row 0 has no column 'gaps'"):
        run("evaluate", "curves", data, "--column", "gaps")


def test_other_data_is_refused(tmp_path: Path) -> None:
    data = tmp_path / "set.parquet"
    run("make", "pathfinder", "--level", "easy", "--count", 1, "--out", data)
    with pytest.raises(ValueError, match="row 0 is no image of curves"):
        run("evaluate", "curves", data)
    with pytest.raises(ValueError, match="column is one of mask, gaps"):
        evaluate(str(data), CurveGrouper.load("curves"), "labels")


def _with_masks(path: Path, masks: np.ndarray) -> str:
    """One row whose two curves are the rows of a cross, with a mask for each."""
    record = to_record(CurvesRow(masks.any(0), (masks[0] + 2 * masks[1]).astype(np.uint8) % 3))
    record["masks"] = [to_record(CurvesRow(one, one.astype(np.uint8)))["mask"] for one in masks]
    schema = schema_of(CurvesRow)
    schema = schema.append(pa.field("masks", pa.list_(schema.field("mask").type)))
    pq.write_table(pa.Table.from_pylist([record], schema=schema), path)
    return str(path)


def test_pixels_that_curves_share_are_left_out(tmp_path: Path) -> None:
    masks = np.zeros((2, 64, 64), bool)
    masks[0, 30:35, 4:60], masks[1, 4:60, 30:35] = True, True
    file = _with_masks(tmp_path / "cross.parquet", masks)
    [row] = rows_of_kind(file, CurvesRow, "image of curves")
    np.testing.assert_array_equal(row.masks, masks)  # type: ignore[arg-type]
    report = evaluate(file, CurveGrouper.load("curves"))
    assert report.figures["dice"] == {"all": 1.0} and report.figures["right"] == {"all": 1.0}


def test_rows_with_damaged_masks_are_named(tmp_path: Path) -> None:
    record = to_record(CurvesRow(np.eye(8, dtype=bool), np.eye(8, dtype=np.uint8)))
    small = to_record(CurvesRow(np.eye(4, dtype=bool), np.eye(4, dtype=np.uint8)))["mask"]
    with pytest.raises(ValueError, match="'masks': needs images of one size"):
        from_record(CurvesRow, {**record, "masks": []}, "here")
    with pytest.raises(ValueError, match=r"'masks': size .4, 4. differs from 'mask'"):
        from_record(CurvesRow, {**record, "masks": [small]}, "here")
    with pytest.raises(ValueError, match="'masks': needs images of one size"):
        from_record(CurvesRow, {**record, "masks": [small, record["mask"]]}, "here")
