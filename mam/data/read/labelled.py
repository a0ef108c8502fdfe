"""Pictures with a yes or no: what is read of a challenge by a model that sees nothing else."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from jaxtyping import UInt8

from mam.data.images import encode_png
from mam.data.read.published import PublishedPathfinderRow
from mam.data.read.readers import AnyRow, layout_of, rows_of
from mam.data.schema import CabcRow, PathfinderRow, check_types, kind_of
from mam.data.store.parquet import Damaged, open_parquet, parquet_files

_TASKS = {PathfinderRow: "pathfinder", PublishedPathfinderRow: "pathfinder", CabcRow: "cabc"}
_BATCH = 1000  # rows read at a time


class Labelled(NamedTuple):
    """A picture with its markers, as PNG bytes, and its label."""

    png: bytes
    label: int


@dataclass(frozen=True, eq=False)
class LabelledPictures:
    """The pictures of a challenge: PNG bytes, so that a hundred thousand take less than 1 GB."""

    source: str
    task: str  # pathfinder or cabc
    pictures: Sequence[bytes]
    labels: UInt8[np.ndarray, "pictures"]

    def __len__(self) -> int:
        return len(self.pictures)

    def digest(self) -> str:
        """A fingerprint of all pictures and labels, in order."""
        found = hashlib.sha256(self.labels.tobytes())
        for png in self.pictures:
            found.update(hashlib.sha256(png).digest())
        return found.hexdigest()


def read_labelled(source: str, limit: int | None = None) -> LabelledPictures:
    """Read the pictures of a pathfinder or cABC set, or the first of them."""
    task, rows = _opened(source)
    found = list(islice(rows, limit))
    if not found:
        raise ValueError(f"{source}: no rows in it")
    labels = np.array([one.label for one in found], np.uint8)
    return LabelledPictures(source, task, [one.png for one in found], labels)


def _opened(source: str) -> tuple[str, Iterator[Labelled]]:
    """The task of a source, and its pictures."""
    if layout_of(source) == "parquet":
        filesystem, names = parquet_files(source)
        with open_parquet(filesystem, names[0]) as file:
            row_type = kind_of(file.schema_arrow.names, names[0])
        return _task(row_type, source), _from_parquet(filesystem, names, row_type)
    rows = rows_of(source)
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{source}: no rows in it")
    task = _task(type(first), source)
    return task, _from_rows(source, task)


def _task(row_type: type, source: str) -> str:
    if row_type not in _TASKS:
        raise ValueError(
            f"{source}: rows of {row_type.__name__.removesuffix('Row').lower()} have no label; "
            "give a set of pathfinder or cABC"
        )
    return _TASKS[row_type]


def _from_rows(source: str, task: str) -> Iterator[Labelled]:
    for number, row in enumerate(rows_of(source)):
        yield labelled(row, task, f"{source}: row {number}")


def labelled(row: AnyRow, task: str, name: str) -> Labelled:
    """What a model that sees nothing else is given of a row."""
    if not isinstance(row, PathfinderRow | PublishedPathfinderRow | CabcRow) or (
        _TASKS[type(row)] != task
    ):
        raise ValueError(f"{name} is not of {task}")
    return Labelled(encode_png(row.image), row.label)


def _from_parquet(filesystem: Any, names: Sequence[str], row_type: type) -> Iterator[Labelled]:
    """Only two columns are read: the others are most of a file."""
    for name in names:
        with open_parquet(filesystem, name) as file:
            if kind_of(file.schema_arrow.names, name) is not row_type:
                raise ValueError(f"{name}: its columns are not those of {Path(names[0]).name}")
            check_types(row_type, file.schema_arrow, name)
            batches, number = file.iter_batches(_BATCH, columns=["image", "label"]), 0
            while (batch := _next(batches, name)) is not None:
                pngs = batch.column("image").field("bytes").to_pylist()
                for png, label in zip(pngs, batch.column("label").to_pylist(), strict=True):
                    if not png or label not in (0, 1):
                        raise ValueError(
                            f"{name}: row {number}: a picture and a label of 0 or 1 are needed"
                        )
                    yield Labelled(png, label)
                    number += 1


def _next(batches: Iterator[pa.RecordBatch], name: str) -> pa.RecordBatch | None:
    try:
        return next(batches, None)
    except (OSError, pa.ArrowException) as error:
        raise Damaged(f"{name}: is corrupt ({str(error).splitlines()[0]})") from None
