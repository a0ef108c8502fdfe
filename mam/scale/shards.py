"""A run's input cut into shards: runs of pictures or of rows, of about the same work each."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from mam.data.images import SUFFIXES
from mam.data.store.parquet import open_filesystem, open_parquet, parquet_batches, parquet_files
from mam.data.store.shards import shard_name
from mam.scale.job import Item

# Bytes of a shard's pictures as they lie on the disk, which tell the work better than their
# number: some seconds of it, so that little is lost with a worker, and much more than a task costs.
SHARD_BYTES = 1 << 20


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

    def items(self) -> Iterator[Item]:
        """Its items, read as they are asked for."""
        if self.count is None:
            yield Item(self.source, Path(self.source))
            return
        wanted = range(self.first, self.first + self.count)
        batches = parquet_batches(self.source, wanted=wanted)
        rows = (row for batch in batches for row in batch)
        yield from map(Item, self.names(), rows)


@dataclass(frozen=True)
class Shard:
    """A task: what one worker does in one go, and writes to one file."""

    number: int
    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    @property
    def file(self) -> str:
        """The name of its file."""
        return shard_name(self.number)

    def names(self) -> list[str]:
        """What its items are called."""
        return [name for piece in self.pieces for name in piece.names()]

    def items(self) -> Iterator[Item]:
        """Its items, in order."""
        for piece in self.pieces:
            yield from piece.items()


def plan_shards(
    sources: Sequence[str | Path], shard_bytes: int = SHARD_BYTES, limit: int | None = None
) -> list[Shard]:
    """Cut pictures, parquet files and folders of them into shards, in their order.

    ``limit``: so many items, from the first.
    """
    shards: list[Shard] = []
    pieces: list[Piece] = []
    size = 0.0
    for piece, each in _limited(_runs(sources), limit):
        done = 0
        while done < len(piece):
            # At least one more, however large it is.
            room = max(1, round((shard_bytes - size) / max(each, 1.0)))
            some = min(room, len(piece) - done)
            pieces.append(piece if piece.count is None else Piece(piece.source, done, some))
            done, size = done + some, size + some * each
            if size >= shard_bytes:
                shards.append(Shard(len(shards), tuple(pieces)))
                pieces, size = [], 0.0
    if pieces:
        shards.append(Shard(len(shards), tuple(pieces)))
    return shards


def _runs(sources: Sequence[str | Path]) -> Iterator[tuple[Piece, float]]:
    """Every file as one piece, with the bytes of each of its items."""
    for source in map(str, sources):
        if Path(source).suffix.lower() in SUFFIXES:
            yield Piece(source), float(Path(source).stat().st_size)
            continue
        filesystem, files = parquet_files(source)
        for name in files:
            with open_parquet(filesystem, name) as file:
                rows = file.metadata.num_rows
            size = filesystem.get_file_info(name).size
            yield Piece(name, 0, rows), size / max(rows, 1)


def _limited(
    runs: Iterator[tuple[Piece, float]], limit: int | None
) -> Iterator[tuple[Piece, float]]:
    left = limit
    for piece, each in runs:
        if left is not None and left <= 0:
            return
        if left is not None and len(piece) > left:
            piece = Piece(piece.source, 0, left)
        yield piece, each
        left = None if left is None else left - len(piece)


def digest_of(shards: Sequence[Shard]) -> str:
    """A digest of what the shards are made of: names, rows, and when their files were written."""
    found = hashlib.sha256()
    for shard in shards:
        for piece in shard.pieces:
            filesystem, path = open_filesystem(piece.source)
            info = filesystem.get_file_info(path)
            about = (piece.source, piece.first, piece.count, info.size, str(info.mtime))
            found.update(repr((shard.number, *about)).encode())
    return found.hexdigest()
