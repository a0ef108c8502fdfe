"""The answers of a run: one parquet file a shard, one row an item."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyarrow.fs import LocalFileSystem

from mam.data.store.parquet import Damaged, open_parquet, parquet_writer
from mam.scale.job import ItemAnswer
from mam.scale.shards import Shard

RUN_KEY = "mam.run"
_COLUMNS = pa.schema([("item", pa.string()), ("answer", pa.string()), ("error", pa.string())])
_BATCH = 1024


def write_answers(
    path: Path, run: str, names: Sequence[str], answers: Sequence[ItemAnswer]
) -> None:
    """Write the file of a shard, whole or not at all."""
    values = [
        None if one.value is None else json.dumps(one.value, allow_nan=False) for one in answers
    ]
    schema = _COLUMNS.with_metadata({RUN_KEY: run})
    columns = [list(names), values, [one.error for one in answers]]
    with parquet_writer(path, schema) as writer:
        writer.write_table(pa.table([pa.array(c, pa.string()) for c in columns], schema=schema))


def is_done(folder: Path, shard: Shard, run: str) -> bool:
    """Whether the file of a shard is there, whole and of this run."""
    path = folder / shard.file
    try:
        with open_parquet(LocalFileSystem(), str(path)) as file:
            found = (file.metadata.metadata or {}).get(RUN_KEY.encode())
            return found == run.encode() and file.metadata.num_rows == len(shard)
    except (FileNotFoundError, Damaged):
        return False


def answers_in(folder: str | Path) -> Iterator[tuple[str, ItemAnswer]]:
    """The name of each item with its answer, in the order of the input."""
    for path in sorted(Path(folder).glob("part-*.parquet")):
        yield from answers_of(path)


def answers_of(path: Path) -> Iterator[tuple[str, ItemAnswer]]:
    """The same of one shard."""
    with open_parquet(LocalFileSystem(), str(path)) as file:
        for batch in file.iter_batches(_BATCH):
            for name, value, error in zip(*batch.to_pydict().values(), strict=True):
                yield name, ItemAnswer(None if value is None else json.loads(value), error)
