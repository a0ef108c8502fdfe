"""The answers of a run: one parquet file a shard, one row an item."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from pyarrow.fs import LocalFileSystem

from mam.core.json_text import parse_json
from mam.core.limits import ANSWER_CHARACTERS
from mam.data.store.names import shard_order
from mam.data.store.parquet import Damaged, open_parquet, parquet_writer
from mam.scale.job import ItemAnswer
from mam.scale.shards import Shard

_RUN_KEY, _STAMP_KEY, _TOLD_KEY = b"mam.run", b"mam.input", b"mam.told"
_COLUMNS = pa.schema([("item", pa.string()), ("answer", pa.string()), ("error", pa.string())])
_BATCH = 1024
_ASIDE = "set aside: "  # how the error of an item begins that must not be tried again


class ShardTold(NamedTuple):
    """What became of a shard, as its file says."""

    items: int
    errors: int  # items with an error, without those set aside
    set_aside: dict[str, str]  # item: reason


def aside(reason: str) -> ItemAnswer:
    """The answer to an item that is set aside."""
    return ItemAnswer(None, f"{_ASIDE}{reason}")


def is_aside(error: str | None) -> bool:
    """Whether this error is of an item that is set aside."""
    return error is not None and error.startswith(_ASIDE)


def printable(text: str) -> str:
    r"""A text that every reader takes: bytes of a file's name that are no UTF-8 are spelled out.

    >>> printable("a\udcff.png")
    'a\\udcff.png'
    """
    return text.encode(errors="backslashreplace").decode()


def write_answers(
    path: Path, run: str, names: Sequence[str], answers: Sequence[ItemAnswer], stamp: str = ""
) -> ShardTold:
    """Write the file of a shard, whole or not at all; ``stamp`` is of its input."""
    values = [
        None if one.value is None else json.dumps(one.value, allow_nan=False) for one in answers
    ]
    known = [printable(name) for name in names]
    errors = [None if one.error is None else printable(one.error) for one in answers]
    told = _told(known, errors)
    about = {_RUN_KEY: run, _STAMP_KEY: stamp, _TOLD_KEY: json.dumps(told._asdict())}
    schema = _COLUMNS.with_metadata(about)
    columns = [pa.array(one, pa.string()) for one in (known, values, errors)]
    with parquet_writer(path, schema) as writer:
        writer.write_table(pa.table(columns, schema=schema))
    return told


def _told(names: Sequence[str], errors: Sequence[str | None]) -> ShardTold:
    set_aside = {
        name: error.removeprefix(_ASIDE)
        for name, error in zip(names, errors, strict=True)
        if error is not None and is_aside(error)
    }
    wrong = sum(error is not None and not is_aside(error) for error in errors)
    return ShardTold(len(names), wrong, set_aside)


def told_in(folder: Path, shard: Shard, run: str) -> ShardTold | None:
    """What the file of a shard tells; None where it is not there, not whole or of another run."""
    found = _footer(folder / shard.file)
    if found is None or found[0].get(_RUN_KEY) != run.encode():
        return None
    about, rows = found
    if _TOLD_KEY not in about or (shard.counted and rows != len(shard)):
        return None
    try:
        told = ShardTold(**parse_json(about[_TOLD_KEY]))
        aside = {str(item): str(why) for item, why in told.set_aside.items()}
        return ShardTold(int(told.items), int(told.errors), aside)
    except (ValueError, TypeError, AttributeError, OverflowError):
        return None


def stamp_in(folder: Path, file: str) -> str | None:
    """The stamp of what a shard was made of; None where its file is not there or not whole."""
    found = _footer(folder / file)
    return None if found is None else found[0].get(_STAMP_KEY, b"").decode()


def _footer(path: Path) -> tuple[dict[bytes, bytes], int] | None:
    try:
        with open_parquet(LocalFileSystem(), str(path)) as file:
            return file.metadata.metadata or {}, file.metadata.num_rows
    except (FileNotFoundError, Damaged):
        return None


def answers_in(folder: str | Path) -> Iterator[tuple[str, ItemAnswer]]:
    """The name of each item with its answer, in the order of the input."""
    paths = map(str, Path(folder).glob("part-*.parquet"))
    for path in sorted(paths, key=shard_order):
        yield from answers_of(Path(path))


def answers_of(path: Path) -> Iterator[tuple[str, ItemAnswer]]:
    """The same of one shard; a file that is none, or a torn one, is named."""
    with open_parquet(LocalFileSystem(), str(path)) as file:
        if not file.schema_arrow.equals(_COLUMNS):
            raise Damaged(f"{path}: holds no answers, but {', '.join(file.schema_arrow.names)}")
        try:
            for batch in file.iter_batches(_BATCH):
                for name, value, error in zip(*batch.to_pydict().values(), strict=True):
                    yield name, ItemAnswer(None if value is None else _parsed(value), error)
        except (OSError, pa.ArrowException, ValueError) as error:
            raise Damaged(f"{path}: is corrupt ({error})") from None


def _parsed(text: str) -> Any:
    return parse_json(text, ANSWER_CHARACTERS)


def as_json(answer: ItemAnswer) -> ItemAnswer:
    """An answer as it will be read again; one that JSON cannot hold is refused."""
    if answer.value is None:
        return answer
    try:
        value: Any = _parsed(json.dumps(answer.value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"its answer is no JSON ({error})") from None
    return ItemAnswer(value, answer.error)
