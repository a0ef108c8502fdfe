"""A run's input cut into shards: runs of pictures or of rows, of about the same work each."""

import hashlib
import math
import os
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable
from urllib.parse import urlsplit, urlunsplit

from mam.data.images import SUFFIXES
from mam.data.read.readers import layout_of
from mam.data.schema import check_types, kind_of
from mam.data.store.names import shard_name
from mam.data.store.parquet import (
    BATCH,
    is_url,
    open_filesystem,
    open_parquet,
    parquet_batches,
    parquet_files,
)
from mam.scale.job import Item

# Bytes of a shard's pictures as they lie on the disk, which tell the work better than their
# number: some seconds of it, so that little is lost with a worker, and much more than a task costs.
SHARD_BYTES = 1 << 20
# Of larger inputs shards are larger: more of them than this are too many for a folder, and for one
# scheduler.
MOST_SHARDS = 100_000


class Unreadable(NamedTuple):
    """In place of a row: why it cannot be read."""

    reason: str


@runtime_checkable
class ItemSource(Protocol):
    """What items come from: a piece of files, or a partition of a bag."""

    def __len__(self) -> int:
        """How many items are known to be in it."""
        ...

    def items(self, home: str) -> Iterator[Item]:
        """Its items, read as they are asked for; ``home`` is where relative paths begin."""
        ...

    def about(self, home: str) -> str:
        """What changes when its items do."""
        ...


@dataclass(frozen=True)
class Piece:
    """A picture, or a run of rows of a parquet file."""

    source: str
    first: int = 0
    count: int | None = None  # None: the file is one picture

    def __len__(self) -> int:
        return 1 if self.count is None else self.count

    def names(self) -> list[str]:
        """What its items are called."""
        if self.count is None:
            return [self.source]
        return [f"{self.source}#{row}" for row in range(self.first, self.first + self.count)]

    def items(self, home: str) -> Iterator[Item]:
        """Its items, read as they are asked for. A row that cannot be read is an `Unreadable`."""
        where = _absolute(self.source, home)
        if self.count is None:
            yield Item(self.source, Path(where))
            return
        names, done, batch = self.names(), 0, BATCH
        while done < len(names):
            wanted = range(self.first + done, self.first + len(names))
            try:
                for row in _rows(where, wanted, batch):
                    yield Item(names[done], row)
                    done += 1
                if done < len(names):
                    raise OSError(f"{self.source}: has fewer rows than when the run began")
            except ValueError as error:
                if batch > 1:
                    batch = 1  # so that all rows before the one that cannot be read are there
                    continue
                yield Item(names[done], Unreadable(str(error)))
                done, batch = done + 1, BATCH

    def about(self, home: str) -> str:
        """Name, rows, and the size of its file and when that was written."""
        if is_url(self.source):
            filesystem, path = open_filesystem(self.source)
            info = filesystem.get_file_info(path)
            size, written = info.size, info.mtime_ns
        else:
            found = os.stat(_absolute(self.source, home))
            size, written = found.st_size, found.st_mtime_ns
        return repr((self.source, self.first, self.count, size, written))


def _rows(source: str, wanted: range, batch: int) -> Iterator[object]:
    for rows in parquet_batches(source, batch=batch, wanted=wanted):
        yield from rows


def _absolute(source: str, home: str) -> str:
    return source if is_url(source) else os.path.join(home, source)


@dataclass(frozen=True)
class Shard:
    """A task: what one worker does in one go, and writes to one file."""

    number: int
    pieces: tuple[ItemSource, ...]
    home: str = ""  # the folder that relative paths begin at; workers may be elsewhere
    counted: bool = True  # whether it is known how many items there are
    stamp: str = ""  # a digest of what it was made of when the run began

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    @property
    def file(self) -> str:
        """The name of its file."""
        return shard_name(self.number)

    def names(self) -> list[str]:
        """What its items are called, where that is known before they are read."""
        pieces = (piece for piece in self.pieces if isinstance(piece, Piece))
        return [name for piece in pieces for name in piece.names()]

    def items(self) -> Iterator[Item]:
        """Its items, in order."""
        for piece in self.pieces:
            yield from piece.items(self.home)

    def stamped(self) -> "Shard":
        """The same with a stamp, of the sizes of its files and when they were written."""
        about = [self.number, *(piece.about(self.home) for piece in self.pieces)]
        text = repr(about).encode(errors="backslashreplace")
        return replace(self, stamp=hashlib.sha256(text).hexdigest())


def plan_shards(
    sources: Sequence[str | Path],
    shard_bytes: int | None = None,
    limit: int | None = None,
    wanted: Container[int] | None = None,
) -> list[Shard]:
    """Cut pictures, parquet files and folders of them into shards, in their order.

    ``shard_bytes``: of the input of each; by default a megabyte, or more where there would be too
    many. ``limit``: so many items, from the first; ``wanted``: those with these numbers alone.
    """
    runs = list(_limited(_wanted(_runs(sources), wanted), limit))
    if shard_bytes is None:
        total = sum(len(piece) * each for piece, each in runs)
        shard_bytes = max(SHARD_BYTES, math.ceil(total / MOST_SHARDS))
    cut: list[tuple[Piece, ...]] = []
    pieces: list[Piece] = []
    size = 0.0
    for piece, each in runs:
        done = 0
        while done < len(piece):
            # At least one more, however large it is.
            room = max(1, round((shard_bytes - size) / max(each, 1.0)))
            some = min(room, len(piece) - done)
            first = piece.first + done
            pieces.append(piece if piece.count is None else Piece(piece.source, first, some))
            done, size = done + some, size + some * each
            if size >= shard_bytes:
                cut.append(tuple(pieces))
                pieces, size = [], 0.0
    if pieces:
        cut.append(tuple(pieces))
    home = os.getcwd()
    return [Shard(number, some, home) for number, some in enumerate(cut)]


def _runs(sources: Sequence[str | Path]) -> Iterator[tuple[Piece, float]]:
    """Every file as one piece, with the bytes of each of its items."""
    for source in map(str, sources):
        if Path(source).suffix.lower() in SUFFIXES:
            yield Piece(source), float(Path(source).stat().st_size)
            continue
        if (layout := layout_of(source)) != "parquet":
            raise ValueError(
                f"{source}: the layout is {layout}; runs over shards read parquet and pictures, "
                "other layouts are for one process"
            )
        filesystem, files = parquet_files(source)
        for name in files:
            with open_parquet(filesystem, name) as file:
                rows = file.metadata.num_rows
                check_types(kind_of(file.schema_arrow.names, name), file.schema_arrow, name)
            size = filesystem.get_file_info(name).size
            yield Piece(_name_of(source, name), 0, rows), size / max(rows, 1)


def _name_of(source: str, file: str) -> str:
    """What a file of a source is called: on a file system of its own, by a URL too.

    >>> _name_of("s3://bucket/set?region=x", "bucket/set/part-00001.parquet")
    's3://bucket/set/part-00001.parquet?region=x'
    """
    if not is_url(source):
        return file
    address = urlsplit(source)
    place = address.path.rstrip("/")
    last = file.rpartition("/")[2]
    path = place if place.endswith(f"/{last}") else f"{place}/{last}"
    return urlunsplit(address._replace(path=path))


def _wanted(
    runs: Iterator[tuple[Piece, float]], wanted: Container[int] | None
) -> Iterator[tuple[Piece, float]]:
    """The stretches of items whose numbers are wanted."""
    if wanted is None:
        yield from runs
        return
    before = 0
    for piece, each in runs:
        numbers = range(before, before + len(piece))
        before += len(piece)
        done = 0
        for kept, several in groupby(numbers, lambda number: number in wanted):
            first, done = done, done + len(list(several))
            if kept:
                some = Piece(piece.source, first, done - first)
                yield piece if piece.count is None else some, each


def _limited(
    runs: Iterator[tuple[Piece, float]], limit: int | None
) -> Iterator[tuple[Piece, float]]:
    left = limit
    for piece, each in runs:
        if left is not None and left <= 0:
            return
        if left is not None and len(piece) > left:
            piece = Piece(piece.source, piece.first, left)
        yield piece, each
        left = None if left is None else left - len(piece)


def digest_of(shards: Sequence[Shard]) -> str:
    """One digest of the stamps of all shards."""
    return hashlib.sha256("".join(shard.stamp for shard in shards).encode()).hexdigest()
