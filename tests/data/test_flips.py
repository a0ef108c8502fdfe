"""A flipped bit in a data set is refused by name, or changes nothing."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mam.data import StoreConfig, recipe, rows_of, schema_of, select_rows, write_dataset
from mam.data.generate.make import make_records
from mam.data.schema import CurvesRow, PathfinderRow, to_record
from mam.data.store.parquet import count_rows
from tests.oracles.flips import outcomes


def read(path: Path) -> list[list[Any]]:
    """All that a reader gets of a file, as plain values."""
    return [
        [value.tolist() if isinstance(value, np.ndarray) else value for value in vars(row).values()]
        for row in rows_of(str(path))
    ]


@pytest.mark.parametrize("count", [150, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_flipped_bit_changes_rows_silently(tmp_path: Path, count: int) -> None:
    out = tmp_path / "set.parquet"
    write_dataset(recipe("pathfinder", "easy", 0), 3, out, StoreConfig(row_group=2))
    found = outcomes(out, count, lambda: (count_rows(str(out)), read(out)), seed=count)
    print(found)
    assert set(found) <= {"refused", "harmless"}
    # The first word of the file, and the name of the digest itself, are all that may be hit.
    assert found["refused"] > 0.95 * count


def test_the_row_is_named(tmp_path: Path) -> None:
    out = tmp_path / "set.parquet"
    write_dataset(recipe("pathfinder", "easy", 0), 3, out, StoreConfig(row_group=1))
    with pq.ParquetFile(out) as file:
        place = file.metadata.row_group(1).column(0).data_page_offset + 500
    content = bytearray(out.read_bytes())
    content[place] ^= 1
    out.write_bytes(content)
    # Rows come in batches, over row groups: the error can only say where the batch begins.
    with pytest.raises(ValueError, match=r"set\.parquet: row 0 or a row soon after.*CRC"):
        read(out)
    assert [row.label for row in select_rows(str(out), [0])] in ([0], [1])
    with pytest.raises(ValueError, match=r"set\.parquet: row 1 or a row soon after.*CRC"):
        select_rows(str(out), [1])


def test_text_that_is_none_is_named(tmp_path: Path) -> None:
    """Other writers' files may have no checksums."""
    broken = pa.array([b"[[[1, 2, \xff]]]"]).view(pa.string())
    names = schema_of(PathfinderRow).names
    made = pa.Table.from_pylist(
        make_records(recipe("pathfinder", "easy", 0), 0, 1), schema=schema_of(PathfinderRow)
    )
    table = made.set_column(names.index("segments"), "segments", broken)
    pq.write_table(table, tmp_path / "a.parquet", write_statistics=False)
    with pytest.raises(ValueError, match=r"a\.parquet: row 0: is corrupt .*utf-8"):
        read(tmp_path / "a.parquet")


def test_files_of_other_writers_need_no_checksums(tmp_path: Path) -> None:
    row = CurvesRow(np.eye(4, dtype=bool), np.eye(4, dtype=np.uint8))
    schema = schema_of(CurvesRow)
    pq.write_table(pa.Table.from_pylist([to_record(row)], schema=schema), tmp_path / "a.parquet")
    assert read(tmp_path / "a.parquet")[0][1] == np.eye(4).tolist()
