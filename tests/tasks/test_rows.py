"""Rows that a task reads: of its kind, and some at all."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mam import ContourGrouper, CurveGrouper
from mam.data import CurvesRow, PathfinderRow, StoreConfig, recipe, write_dataset
from mam.tasks import curves, pathfinder
from mam.tasks.rows import rows_of_kind


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_dataset(
        recipe("pathfinder", "easy", 1), 1, tmp_path / "one.parquet", StoreConfig()
    )


def emptied(source: Path) -> str:
    """The same file without its rows."""
    table = pq.read_table(source)
    out = source.with_name("none.parquet")
    pq.write_table(pa.table(table.slice(0, 0)), out)
    return str(out)


def test_rows_of_another_kind_are_named(one: Path) -> None:
    assert len(list(rows_of_kind(str(one), PathfinderRow, "pathfinder image"))) == 1
    with pytest.raises(ValueError, match=r"one\.parquet: row 0 is no image of curves"):
        list(rows_of_kind(str(one), CurvesRow, "image of curves"))


def test_nothing_is_measured_without_rows(one: Path) -> None:
    none = emptied(one)
    with pytest.raises(ValueError, match=r"none\.parquet: no rows in it"):
        pathfinder.evaluate(none, ContourGrouper.load("contours"))
    with pytest.raises(ValueError, match=r"none\.parquet: no rows in it"):
        curves.evaluate(none, CurveGrouper.load("curves"))
    with pytest.raises(ValueError, match=r"none\.parquet: no rows in it"):
        pathfinder.fit(none, ContourGrouper(), 5)
