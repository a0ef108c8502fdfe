"""Writing a data set: shards of parquet, each whole or absent, so that a killed run can go on.

A folder `PATH` holds `part-00000.parquet`, ... A single file `PATH.parquet` is joined from the same
shards, which wait in `PATH.parquet.parts/` until all are there.
"""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow.fs import LocalFileSystem

from mam.core.over import Over
from mam.core.progress import Advance
from mam.core.whole_files import real_path
from mam.data.generate.make import ROW_TYPES, Recipe, chunk_records
from mam.data.outputs import check_outputs
from mam.data.schema import schema_of
from mam.data.store.names import shard_name
from mam.data.store.parquet import Damaged, open_parquet, parquet_writer
from mam.data.store.shards import Claim, claimed

RECIPE_KEY = "mam.recipe"
START_KEY = "mam.start"
_CHUNK = 16  # rows a worker makes at a time: short enough for a steady progress bar


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
    progress: Advance = lambda rows: None,
    over: Over | None = None,
) -> Path:
    """Write rows 0..count-1 of a recipe to `out` (a .parquet file, or else a folder of shards).

    What an earlier run of the same recipe left is kept. `progress` is told the number of rows
    that have become ready, those already there included. `over`: what makes the shards elsewhere,
    on machines that have the disk of `out` too.
    """
    config = config or StoreConfig()
    if count < 1:
        raise ValueError(f"count {count}: at least one row is needed")
    target = real_path(out)
    if out.suffix == ".parquet":
        _write_file(recipe, count, target, config, progress, over)
    else:
        with claimed(target, out) as claim:
            _write_shards(claim, recipe, count, config, progress, over)
    return out


class _Shard(NamedTuple):
    path: Path
    start: int
    stop: int


def _write_file(
    recipe: Recipe,
    count: int,
    out: Path,
    config: StoreConfig,
    progress: Advance,
    over: Over | None,
) -> None:
    """Write a single file, unless it is there."""
    folder = out.with_name(out.name + ".parts")
    if _is_file_done(out, recipe, count) and not folder.exists():
        progress(count)
        return
    try:
        with claimed(folder, out) as claim:
            # Another run may have finished it a moment ago, or been killed before it tidied up.
            if _is_file_done(out, recipe, count):
                claim.remove(claim.listed())
                progress(count)
                return
            check_outputs({".parquet": [out]})
            shards = _write_shards(claim, recipe, count, config, progress, over)
            _join(shards, out, recipe, config)
            claim.remove([shard.path.name for shard in shards])
    finally:
        with contextlib.suppress(OSError):
            folder.rmdir()  # where nothing of anybody is left in it


def _is_file_done(out: Path, recipe: Recipe, count: int) -> bool:
    if not out.is_file():
        return False
    try:
        _check_shard(_Shard(out, 0, count), recipe, "")
    except Damaged as error:
        raise ValueError(f"{out}: is in the way, and no parquet file ({error})") from None
    return True


def _write_shards(
    claim: Claim,
    recipe: Recipe,
    count: int,
    config: StoreConfig,
    progress: Advance,
    over: Over | None,
) -> list[_Shard]:
    """Write those shards that are not there."""
    shards = [
        _Shard(claim.folder / shard_name(number), start, min(start + config.shard_rows, count))
        for number, start in enumerate(range(0, count, config.shard_rows))
    ]
    _refuse_strangers(claim.folder, [shard.path for shard in shards])
    ours = set(claim.listed())
    missing = []
    for shard in shards:
        if _is_done(shard, recipe, shard.path.name in ours):
            progress(shard.stop - shard.start)
        else:
            missing.append(shard)
    claim.announce(recipe.describe(), [shard.path.name for shard in shards])
    if over is None:
        _write_missing(recipe, missing, config, progress)
    else:
        # Elsewhere a relative path would lead elsewhere too.
        there = [shard._replace(path=shard.path.absolute()) for shard in missing]
        for rows in over(partial(_write_elsewhere, recipe, config), there):
            progress(rows)
    return shards


def _write_elsewhere(recipe: Recipe, config: StoreConfig, shard: _Shard) -> int:
    """Write one shard in another process; the number of its rows."""
    _write_missing(recipe, [shard], replace(config, workers=1), lambda rows: None)
    return shard.stop - shard.start


def _refuse_strangers(folder: Path, expected: list[Path]) -> None:
    strangers = sorted(set(folder.glob("*.parquet")) - set(expected))
    if strangers:
        raise ValueError(
            f"{strangers[0]}: a shard of another data set is in the way (another count or shard "
            "size?); choose another --out or remove it"
        )


def _is_done(shard: _Shard, recipe: Recipe, ours: bool) -> bool:
    if not shard.path.exists():
        return False
    try:
        _check_shard(shard, recipe, f" of rows {shard.start} to {shard.stop - 1}")
    except Damaged as error:
        if not ours:
            raise ValueError(f"{shard.path}: is in the way, and no shard ({error})") from None
        return False  # it was one until something befell the disk: made again
    return True


def _check_shard(shard: _Shard, recipe: Recipe, part: str) -> None:
    """Refuse a file on disk that is not what this run would write."""
    path, start, stop = shard
    with open_parquet(LocalFileSystem(), str(path)) as file:
        footer = file.metadata
    found = footer.metadata or {}
    same = found.get(RECIPE_KEY.encode()) == recipe.describe().encode()
    if (
        not same
        or found.get(START_KEY.encode()) != str(start).encode()
        or footer.num_rows != stop - start
    ):
        raise ValueError(
            f"{path}: holds {footer.num_rows} rows of another recipe, not the {stop - start} rows"
            f"{part} asked for; choose another --out or remove it"
        )


def _schema(recipe: Recipe, start: int) -> pa.Schema:
    extra = {RECIPE_KEY: recipe.describe(), START_KEY: str(start)}
    return schema_of(ROW_TYPES[recipe.kind], extra, recipe.columns)


@contextlib.contextmanager
def _writer(path: Path, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    try:
        with parquet_writer(path, schema) as writer:
            yield writer
    except OSError as error:
        raise OSError(
            f"{error}; the shards before it are kept, run the same command again to go on"
        ) from None


def _write_missing(
    recipe: Recipe, shards: Sequence[_Shard], config: StoreConfig, progress: Advance
) -> None:
    chunks = [
        (start, min(start + _CHUNK, shard.stop))
        for shard in shards
        for start in range(shard.start, shard.stop, _CHUNK)
    ]
    with contextlib.closing(chunk_records(recipe, chunks, config.workers)) as made:
        for path, first, stop in shards:
            schema = _schema(recipe, first)
            with _writer(path, schema) as writer:
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


def _join(shards: Sequence[_Shard], out: Path, recipe: Recipe, config: StoreConfig) -> None:
    """One file from the shards, a row group at a time; each is checked, row for row."""
    schema = _schema(recipe, 0)
    with _writer(out, schema) as writer:
        for shard in shards:
            _check_shard(shard, recipe, f" of rows {shard.start} to {shard.stop - 1}")
            with open_parquet(LocalFileSystem(), str(shard.path)) as file:
                for batch in _checked_batches(file, shard.path, config.row_group):
                    table = pa.Table.from_batches([batch]).replace_schema_metadata(schema.metadata)
                    writer.write_table(table, row_group_size=config.row_group)


def _checked_batches(file: pq.ParquetFile, path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    batches = file.iter_batches(rows)
    while True:
        try:
            batch = next(batches, None)
        except (OSError, pa.ArrowException) as error:
            raise Damaged(
                f"{path}: is corrupt ({error}); remove it and run the same command again"
            ) from None
        if batch is None:
            return
        yield batch
