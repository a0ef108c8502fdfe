"""Parquet of the schema: read in batches, from a path or a URL, and written with checksums.

Memory stays at one batch.
"""

import contextlib
import glob
import itertools
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq

from mam.core.whole_files import whole_file
from mam.data.schema import COLUMNS, Row, check_types, columns_in, from_record, kind_of
from mam.data.store.footer import UNSEALED, is_intact, seal
from mam.data.store.names import shard_order

# How our own files are written. PNG bytes do not compress again; only the small columns would, and
# they are small. The least and greatest picture of a column, its statistics, are of use to nobody.
WRITING = {
    "compression": "none",
    "use_dictionary": False,
    "write_statistics": False,
    "write_page_checksum": True,
}
BATCH = 32  # rows decoded at a time: about 10 MB of a 350 x 350 set


class Damaged(ValueError):
    """A file that cannot be read, or is not what was written."""


def is_url(source: str) -> bool:
    """Whether a source names a file system beyond the local one.

    >>> is_url("s3://bucket/hard.parquet"), is_url("hard.parquet")
    (True, False)
    """
    return "://" in source


def open_filesystem(source: str) -> tuple[pa_fs.FileSystem, str]:
    """The file system of a path or URL, and the path within it.

    Schemes that pyarrow does not know are looked up in fsspec, if that is installed.
    """
    if not is_url(source):
        return pa_fs.LocalFileSystem(), str(Path(source))
    try:
        return pa_fs.FileSystem.from_uri(source)
    except OSError as error:
        raise OSError(f"{source}: cannot be reached ({error})") from None
    except pa.ArrowInvalid:
        try:
            import fsspec  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise ValueError(f"{source}: this kind of URL needs `pip install fsspec`") from None
        found, path = fsspec.core.url_to_fs(source)
        return pa_fs.PyFileSystem(pa_fs.FSSpecHandler(found)), path


def files_matching(pattern: str) -> list[str]:
    """The parquet files of a pattern, `shards/*.parquet`, in order; none where it is no pattern."""
    if is_url(pattern) or not glob.has_magic(pattern) or os.path.lexists(pattern):
        return []
    found = (name for name in glob.glob(pattern, recursive=True) if name.endswith(".parquet"))
    return sorted(filter(os.path.isfile, found), key=shard_order)


def parquet_files(source: str) -> tuple[pa_fs.FileSystem, list[str]]:
    """The parquet files of a source, a file, a folder of shards or a pattern (`shard_order`)."""
    if found := files_matching(source):
        return pa_fs.LocalFileSystem(), found
    filesystem, path = open_filesystem(source)
    info = filesystem.get_file_info(path)
    if info.type == pa_fs.FileType.NotFound:
        raise FileNotFoundError(f"{source}: no such file or folder")
    if info.type == pa_fs.FileType.File:
        return filesystem, [path]
    inside = filesystem.get_file_info(pa_fs.FileSelector(path, recursive=False))
    names = [i.path for i in inside if i.is_file and i.path.endswith(".parquet")]
    names.sort(key=shard_order)
    if not names:
        raise FileNotFoundError(f"{source}: the folder holds no .parquet file")
    return filesystem, names


@contextlib.contextmanager
def open_parquet(filesystem: pa_fs.FileSystem, path: str) -> Iterator[pq.ParquetFile]:
    """One open parquet file; a file that is none, or a torn one, is named in the error."""
    with filesystem.open_input_file(path) as stream:
        if not is_intact(stream):
            raise Damaged(f"{path}: the footer is corrupt (its digest is another)")
        try:
            file = pq.ParquetFile(stream, pre_buffer=False, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            reason = str(error).splitlines()[0]
            raise Damaged(f"{path}: not a readable parquet file, or truncated ({reason})") from None
        yield file


@contextlib.contextmanager
def parquet_writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A writer of a parquet file that is whole or absent, with checksums of all that it holds."""
    with whole_file(path) as fresh:
        with pq.ParquetWriter(fresh, schema, **WRITING) as writer:
            writer.add_key_value_metadata(UNSEALED)
            yield writer
        seal(fresh)


def count_rows(source: str) -> int:
    """The number of rows of a parquet file or folder, from the footers alone."""
    filesystem, names = parquet_files(source)
    total = 0
    for name in names:
        with open_parquet(filesystem, name) as file:
            total += file.metadata.num_rows
    return total


def parquet_batches(
    source: str, kind: type | None = None, batch: int = BATCH, wanted: Sequence[int] | None = None
) -> Iterator[list[Row]]:
    """The rows of a parquet file or folder of shards, decoded `batch` at a time.

    `kind` is the class of row to read (told from the columns when not given); `wanted` keeps only
    these row numbers. Row groups without any are not read, and only wanted rows decoded.
    """
    filesystem, names = parquet_files(source)
    first = 0
    for name in names:
        if wanted is not None and first > max(wanted, default=-1):
            return
        with open_parquet(filesystem, name) as file:
            rows = file.metadata.num_rows
            own = (
                None if wanted is None else {n - first for n in wanted if first <= n < first + rows}
            )
            yield from _file_batches(file, name, kind, batch, own)
        first += rows


def _file_batches(
    file: pq.ParquetFile, name: str, kind: type | None, batch: int, wanted: set[int] | None
) -> Iterator[list[Row]]:
    """The decoded rows of one file, or those of its rows that are wanted."""
    row_type = kind or kind_of(file.schema_arrow.names, name)
    kind_of([c for c in file.schema_arrow.names if c in COLUMNS[row_type]], name)
    check_types(row_type, file.schema_arrow, name)
    groups = _groups_with(file, wanted)
    numbers = itertools.chain.from_iterable(groups.values())
    number = min(wanted or {0})
    batches = file.iter_batches(
        batch, row_groups=list(groups), columns=columns_in(row_type, file.schema_arrow)
    )
    while True:
        try:
            records = next(batches, None)
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0]
            raise Damaged(
                f"{name}: row {number} or a row soon after is corrupt ({reason})"
            ) from None
        if records is None:
            return
        rows = []
        for place, number in zip(range(records.num_rows), numbers, strict=False):
            if wanted is None or number in wanted:
                record = _record(records.slice(place, 1), f"{name}: row {number}")
                rows.append(from_record(row_type, record, f"{name}: row {number}"))
        if rows:
            yield rows


def _record(row: pa.RecordBatch, where: str) -> dict[str, Any]:
    try:
        return row.to_pylist()[0]
    except (ValueError, OverflowError) as error:  # text that is none, dates that are none
        raise Damaged(f"{where}: is corrupt ({error})") from None


def _groups_with(file: pq.ParquetFile, wanted: set[int] | None) -> dict[int, range]:
    """The row groups with wanted rows in them, and the rows of each; the others stay unread."""
    sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
    ends = list(itertools.accumulate(sizes))
    rows = [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return {
        group: own for group, own in enumerate(rows) if wanted is None or not wanted.isdisjoint(own)
    }
