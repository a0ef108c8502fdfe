"""Writing a data set: shards of parquet, each whole or absent, so that a killed run can go on.

A folder `PATH` holds `part-00000.parquet`, ... A single file `PATH.parquet` is joined from the same
shards, which wait in `PATH.parquet.parts/` until all are there.
"""

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from mam.data.make import ROW_TYPES, Recipe, make_records
from mam.data.schema import schema_of

RECIPE_KEY = "mam.recipe"
START_KEY = "mam.start"
_CHUNK = 16  # rows a worker makes at a time: short enough for a steady progress bar

Progress = Callable[[int], None]


@dataclass(frozen=True)
class StoreConfig:
    """How a data set is written."""

    workers: int = 1  # processes; the content does not depend on it
    shard_rows: int = 1000  # rows per shard, about 20 MB of a 350 x 350 set
    row_group: int = 100  # rows per parquet row group: what a reader holds at least

    def __post_init__(self) -> None:
        for name in ("workers", "shard_rows", "row_group"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} {getattr(self, name)}: it must be at least 1")


def write_dataset(
    recipe: Recipe,
    count: int,
    out: Path,
    config: StoreConfig | None = None,
    progress: Progress = lambda rows: None,
) -> Path:
    """Write rows 0..count-1 of a recipe to `out` (a .parquet file, or else a folder of shards).

    What an earlier run of the same recipe left is kept. `progress` is told the number of rows
    that have become ready, those already there included.
    """
    config = config or StoreConfig()
    if count < 1:
        raise ValueError(f"count {count}: at least one row is needed")
    single = out.suffix == ".parquet"
    if single and out.is_file():
        try:
            _check_shard(out, recipe, 0, count, "")
        except pa.ArrowException as error:
            raise ValueError(f"{out}: is in the way, and no parquet file ({error})") from None
        progress(count)
        return out
    folder = out.with_name(out.name + ".parts") if single else out
    _open_folder(folder)
    shards = [
        (folder / f"part-{number:05d}.parquet", start, min(start + config.shard_rows, count))
        for number, start in enumerate(range(0, count, config.shard_rows))
    ]
    _refuse_strangers(folder, [path for path, _, _ in shards])
    missing = []
    for path, start, stop in shards:
        if _is_done(path, recipe, start, stop):
            progress(stop - start)
        else:
            missing.append((path, start, stop))
    _write_missing(recipe, missing, config, progress)
    if single:
        _join([path for path, _, _ in shards], out, recipe, config)
        shutil.rmtree(folder)
    return out


def _open_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f".writable-{os.getpid()}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"{folder}: cannot be written to ({reason})") from None
    for torn in folder.glob("*.tmp"):
        torn.unlink()


def _refuse_strangers(folder: Path, expected: list[Path]) -> None:
    strangers = sorted(set(folder.glob("*.parquet")) - set(expected))
    if strangers:
        raise ValueError(
            f"{strangers[0]}: a shard of another data set is in the way (another count or shard "
            "size?); choose another --out or remove it"
        )


def _is_done(path: Path, recipe: Recipe, start: int, stop: int) -> bool:
    if not path.exists():
        return False
    try:
        _check_shard(path, recipe, start, stop, f" of rows {start} to {stop - 1}")
    except pa.ArrowException:
        return False  # torn by a crash of the machine itself: made again
    return True


def _check_shard(path: Path, recipe: Recipe, start: int, stop: int, part: str) -> None:
    """Whether a file on disk is what this run would write."""
    footer = pq.read_metadata(path)
    found = footer.metadata or {}
    same = found.get(RECIPE_KEY.encode()) == recipe.describe().encode()
    if (
        not same
        or int(found.get(START_KEY.encode(), b"-1")) != start
        or (footer.num_rows != stop - start)
    ):
        raise ValueError(
            f"{path}: holds {footer.num_rows} rows of another recipe, not the {stop - start} rows"
            f"{part} asked for; choose another --out or remove it"
        )


def _schema(recipe: Recipe, start: int) -> pa.Schema:
    extra = {RECIPE_KEY: recipe.describe(), START_KEY: str(start)}
    return schema_of(ROW_TYPES[recipe.kind], extra)


@contextlib.contextmanager
def _atomic(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """A parquet writer whose file appears under its name only when it is whole."""
    torn = path.with_name(path.name + ".tmp")
    try:
        # PNG bytes do not compress again; only the small columns would, and they are small.
        with pq.ParquetWriter(torn, schema, compression="none", use_dictionary=False) as writer:
            yield writer
        with torn.open("rb+") as file:
            os.fsync(file.fileno())
        torn.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            torn.unlink()
        full = error.errno == errno.ENOSPC or "No space left" in str(error)
        reason = "the disk is full" if full else error.strerror or str(error)
        raise OSError(
            f"{path}: cannot be written ({reason}); the shards before it are kept, run the same "
            "command again to go on"
        ) from None
    except BaseException:
        with contextlib.suppress(OSError):
            torn.unlink()
        raise


def _write_missing(
    recipe: Recipe, shards: list[tuple[Path, int, int]], config: StoreConfig, progress: Progress
) -> None:
    chunks = [
        (start, min(start + _CHUNK, stop))
        for _, first, stop in shards
        for start in range(first, stop, _CHUNK)
    ]
    with contextlib.closing(_records(recipe, chunks, config.workers)) as made:
        for path, first, stop in shards:
            schema = _schema(recipe, first)
            with _atomic(path, schema) as writer:
                waiting: list[dict[str, Any]] = []
                for _ in range(first, stop, _CHUNK):
                    fresh = next(made)
                    waiting += fresh
                    while len(waiting) >= config.row_group:
                        _flush(writer, waiting[: config.row_group], schema)
                        waiting = waiting[config.row_group :]
                    progress(len(fresh))
                if waiting:
                    _flush(writer, waiting, schema)


def _flush(writer: pq.ParquetWriter, records: list[dict[str, Any]], schema: pa.Schema) -> None:
    writer.write_table(pa.Table.from_pylist(records, schema=schema), row_group_size=len(records))


def _records(
    recipe: Recipe, chunks: list[tuple[int, int]], workers: int
) -> Generator[list[dict[str, Any]], None, None]:
    """The chunks' records in order, made here or by worker processes a little ahead."""
    if workers == 1 or len(chunks) <= 1:
        for start, stop in chunks:
            yield make_records(recipe, start, stop)
        return
    # Spawned, not forked: a fork of a process with threads may hang.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        left = iter(chunks)
        ahead: list[Future] = [
            pool.submit(make_records, recipe, *chunk) for chunk in islice(left, 2 * workers)
        ]
        try:
            while ahead:
                yield ahead.pop(0).result()
                ahead += [pool.submit(make_records, recipe, *chunk) for chunk in islice(left, 1)]
        finally:
            for future in ahead:
                future.cancel()


def _join(shards: list[Path], out: Path, recipe: Recipe, config: StoreConfig) -> None:
    """One file from the shards, a row group at a time."""
    schema = _schema(recipe, 0)
    with _atomic(out, schema) as writer:
        for path in shards:
            with pq.ParquetFile(path) as shard:
                for batch in shard.iter_batches(config.row_group):
                    table = pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata)
                    writer.write_table(table, row_group_size=config.row_group)
