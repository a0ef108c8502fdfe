"""The data sets of an experiment: the user's own files, or generated ones."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mam.core.progress import Advance
from mam.core.workers import cores
from mam.data import AnyRow, Recipe, StoreConfig, count_rows, select_rows, write_dataset
from mam.data.read.scenes import scenes_in
from mam.reproduce.steps import Step, StepFolder

_CHUNK = 256  # rows in memory at a time, where one pass over them is enough


@dataclass(frozen=True, eq=False)
class DataSet:
    """Rows to learn from, or to test on."""

    path: Path
    rows: int
    settings: Mapping[str, Any]  # what its content depends on
    step: Step | None = None  # that makes it

    @property
    def needs(self) -> tuple[Step, ...]:
        """What a step that reads it builds on."""
        return () if self.step is None else (self.step,)

    def block(self, count: int, run: int) -> list[int]:
        """The rows of one of several runs: one block after another, round the end of the file.

        >>> DataSet(Path("a.parquet"), 5, {}).block(3, 1)
        [3, 4, 0]
        """
        if not 1 <= count <= self.rows:
            raise ValueError(f"{self.path}: has {self.rows} rows, not the {count} asked for")
        return [(run * count + number) % self.rows for number in range(count)]

    def read(self, numbers: list[int]) -> Iterator[AnyRow]:
        """Rows by their numbers, a few in memory at a time."""
        for start in range(0, len(numbers), _CHUNK):
            yield from select_rows(str(self.path), numbers[start : start + _CHUNK])


def given_set(path: Path, hint: str) -> DataSet:
    """A user's own file; the hint says in the error which files there should be."""
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file; {hint}")
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return DataSet(path, count_rows(str(path)), {"file": path.name, "sha256": digest})


def given_scenes(root: Path, hint: str) -> DataSet:
    """A user's own folder of scenes, as published; its rows are about as many as its frames.

    Names and sizes of the files stand for their content, of which there may be gigabytes.
    """
    scenes = scenes_in(root)
    if not scenes:
        raise FileNotFoundError(f"{root}: no scenes in it, and no objects.parquet; {hint}")
    files = sorted(path for scene in scenes for path in scene.rglob("*") if path.is_file())
    listed = [f"{path.relative_to(root).as_posix()} {path.stat().st_size}" for path in files]
    digest = hashlib.sha256("\n".join(listed).encode()).hexdigest()
    frames = sum(path.name.endswith(".color.png") for path in files)
    if frames < 2:
        raise ValueError(f"{root}: one frame alone; some are learned from, others tested on")
    return DataSet(root, frames, {"scenes": len(scenes), "sha256": digest})


def generated_set(store: StepFolder, name: str, made: Recipe, count: int) -> DataSet:
    """The first rows of a recipe, written by a step."""
    settings = {"recipe": json.loads(made.describe()), "rows": count}
    step = Step(
        name,
        settings,
        lambda path, advance: _write(made, count, path, advance),
        count,
        _MAKING,
        ".parquet",
    )
    return DataSet(store.file(step), count, settings, step)


_MANY = 1000
_MAKING = 0.02  # seconds a row, on one core


def _write(made: Recipe, count: int, path: Path, advance: Advance) -> int:
    # A worker takes a second to start, and makes some hundred rows in that time.
    workers = cores() if count >= _MANY else 1
    write_dataset(made, count, path, StoreConfig(workers), advance)
    return count
