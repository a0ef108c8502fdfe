"""Tables that are whole parquet, but no rows: refused by file, column and row."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mam.data import CurvesConfig, Recipe, make_row, recipe, rows_of
from mam.data.schema import COLUMNS, to_record
from mam.scale import plan_shards
from tests.data.made_layouts import published_pathfinder, write_parquet

KINDS = {name: recipe(name, "easy", 0) for name in ("pathfinder", "cabc", "objects")}
KINDS["curves"] = Recipe("curves", CurvesConfig(rows=64, cols=64), 0)
ROWS = {name: make_row(made, 0) for name, made in KINDS.items()}


def table_of(name: str, folder: Path) -> pa.Table:
    return pq.read_table(write_parquet(folder / "whole.parquet", [ROWS[name]]))


def changed(table: pa.Table, column: str, values: pa.Array) -> pa.Table:
    return table.set_column(table.schema.names.index(column), column, values)


def refused(table: pa.Table, folder: Path, said: str) -> None:
    """By every reader that looks at the columns, and by name."""
    path = folder / "mad.parquet"
    pq.write_table(table, path)
    with pytest.raises(ValueError, match=rf"mad\.parquet: {said}"):
        list(rows_of(str(path)))


@pytest.mark.parametrize("kind", KINDS)
def test_a_column_that_is_there_twice(kind: str, tmp_path: Path) -> None:
    table = table_of(kind, tmp_path)
    for name in COLUMNS[type(ROWS[kind])]:
        twice = table.append_column(name, table.column(name))
        refused(twice, tmp_path, f"column '{name}' is there twice")
        with pytest.raises(ValueError, match=rf"mad\.parquet: column '{name}' is there twice"):
            plan_shards([tmp_path / "mad.parquet"])


def test_an_optional_column_that_is_there_twice(tmp_path: Path) -> None:
    table = table_of("curves", tmp_path)
    for _ in range(2):
        table = table.append_column("name", pa.array(["a"]))
    refused(table, tmp_path, "column 'name' is there twice")


def picture_with(**fields: pa.Array) -> Callable[[pa.Array], pa.Array]:
    """A column of pictures with other fields beside their bytes."""
    arrays = [*fields.values()]
    return lambda content: pa.StructArray.from_arrays(
        [content, *arrays], names=["bytes", *(name.rstrip("_") for name in fields)]
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (picture_with(path=pa.array(["a"]), path_=pa.array(["b"])), "column 'image' has type"),
        (picture_with(bytes_=pa.array([b""])), "column 'image' has type"),
        (picture_with(path=pa.array([1 << 62], pa.timestamp("us"))), "row 0: is corrupt"),
        (
            picture_with(path=pa.StructArray.from_arrays([pa.array([1])] * 2, names=["a", "a"])),
            "row 0: is corrupt",
        ),
    ],
)
def test_pictures_with_strange_fields(
    change: Callable[[pa.Array], pa.Array], said: str, tmp_path: Path
) -> None:
    table = table_of("cabc", tmp_path)
    content = pa.array([to_record(ROWS["cabc"])["image"]["bytes"]], pa.binary())
    refused(changed(table, "image", change(content)), tmp_path, said)


@pytest.mark.parametrize(
    ("kind", "column", "value", "said"),
    [
        ("pathfinder", "label", 7, "7 is no number from 0 to 1"),
        ("pathfinder", "label", -1, "-1 is no number from 0 to 1"),
        ("cabc", "label", 1 << 62, f"{1 << 62} is no number from 0 to 1"),
        ("cabc", "categories", [0, 26], "26 is no number from 0 to 25"),
        ("cabc", "categories", [-3, 0], "-3 is no number from 0 to 25"),
    ],
)
def test_answers_that_nobody_gives(
    kind: str, column: str, value: object, said: str, tmp_path: Path
) -> None:
    table = table_of(kind, tmp_path)
    values = pa.array([value], table.schema.field(column).type)
    refused(changed(table, column, values), tmp_path, f"row 0, column '{column}': {said}")


def test_numbers_beyond_64_bits(tmp_path: Path) -> None:
    markers = pa.array([[[1 << 63, 1], [1, 1]]], pa.list_(pa.list_(pa.uint64())))
    table = changed(table_of("pathfinder", tmp_path), "markers", markers)
    refused(table, tmp_path, "row 0, column 'markers': needs whole numbers")


def test_a_published_label_without_end(tmp_path: Path) -> None:
    root = published_pathfinder(tmp_path / "set", 1)
    entries = np.load(root / "metadata" / "1.npy")
    entries[0, 3] = "inf"
    np.save(root / "metadata" / "1.npy", entries)
    with pytest.raises(ValueError, match=r"1\.npy: row 0, label: a number from 0 to 1 .*'inf'"):
        list(rows_of(str(root)))
