"""Reading parquet of the schema, in batches, from a path or a URL; memory stays at one batch."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pa_fs
import pyarrow.parquet as pq

from mam.data.schema import COLUMNS, Row, check_types, columns_in, from_record, kind_of

BATCH = 32  # rows decoded at a time: about 10 MB of a 350 x 350 set


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


def parquet_files(source: str) -> tuple[pa_fs.FileSystem, list[str]]:
    """The parquet files of a source, a file or a folder of shards, in the order of their names."""
    filesystem, path = open_filesystem(source)
    info = filesystem.get_file_info(path)
    if info.type == pa_fs.FileType.NotFound:
        raise FileNotFoundError(f"{source}: no such file or folder")
    if info.type == pa_fs.FileType.File:
        return filesystem, [path]
    inside = filesystem.get_file_info(pa_fs.FileSelector(path, recursive=False))
    names = sorted(i.path for i in inside if i.is_file and i.path.endswith(".parquet"))
    if not names:
        raise FileNotFoundError(f"{source}: the folder holds no .parquet file")
    return filesystem, names


@contextlib.contextmanager
def open_parquet(filesystem: pa_fs.FileSystem, path: str) -> Iterator[pq.ParquetFile]:
    """One open parquet file; a file that is none, or a torn one, is named in the error."""
    with filesystem.open_input_file(path) as stream:
        try:
            file = pq.ParquetFile(stream, pre_buffer=False)
        except (pa.ArrowInvalid, pa.ArrowIOError) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"{path}: not a readable parquet file, or truncated ({reason})"
            ) from None
        yield file


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
    these row numbers. Nothing is decoded that is not wanted.
    """
    filesystem, names = parquet_files(source)
    numbers = None if wanted is None else set(wanted)
    first = 0
    for name in names:
        with open_parquet(filesystem, name) as file:
            for offset, rows in _file_batches(file, name, kind, batch, first, numbers):
                if rows:
                    yield rows
                if numbers is not None and numbers and first + offset > max(numbers):
                    return
            first += file.metadata.num_rows


def _file_batches(
    file: pq.ParquetFile,
    name: str,
    kind: type | None,
    batch: int,
    first: int,
    wanted: set[int] | None,
) -> Iterator[tuple[int, list[Row]]]:
    """(rows seen so far, decoded rows) of one file; rows are numbered from `first` over files."""
    row_type = kind or kind_of(file.schema_arrow.names, name)
    kind_of([c for c in file.schema_arrow.names if c in COLUMNS[row_type]], name)
    check_types(row_type, file.schema_arrow, name)
    seen = 0
    batches = file.iter_batches(batch, columns=columns_in(row_type, file.schema_arrow))
    while True:
        try:
            records = next(batches, None)
        except (OSError, pa.ArrowException) as error:
            reason = str(error).splitlines()[0]
            raise ValueError(
                f"{name}: row {seen} or a row soon after is corrupt ({reason})"
            ) from None
        if records is None:
            return
        keep = [k for k in range(records.num_rows) if wanted is None or first + seen + k in wanted]
        rows = [
            from_record(row_type, records.slice(k, 1).to_pylist()[0], f"{name}: row {seen + k}")
            for k in keep
        ]
        seen += records.num_rows
        yield seen, rows
