"""One item that fails in whatever way has a reason in its row; the others have their answers."""

import errno
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mam.core.faults import befell_the_machine
from mam.data import encode_png, read_picture, recipe, write_dataset
from mam.scale import EstimatorJob, Item, ItemAnswer, answers_in, map_shards, plan_shards
from mam.scale.job import AnswerItems
from mam.scale.shard_run import _in_time


def raises(error: BaseException) -> Any:
    raise error


FAULTS: dict[str, Callable[[], Any]] = {
    "key": lambda: {}["nothing"],
    "memory": lambda: raises(MemoryError("4 TB")),
    "nan": lambda: float("nan"),
    "object": lambda: object(),
    "missing": lambda: raises(FileNotFoundError(errno.ENOENT, "No such file")),
}


@dataclass(frozen=True)
class FaultyJob:
    """Answers with the size of a file; some names are faults."""

    batch: int = 4
    models: tuple[str, ...] = ()

    def settings(self) -> Mapping[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "batch"}

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        return lambda items: [self._one(item) for item in items]

    def _one(self, item: Item) -> ItemAnswer:
        fault = FAULTS.get(Path(item.name).stem)
        value = item.value.stat().st_size if fault is None else fault()
        return ItemAnswer({"bytes": value})


@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_costs_its_item_alone(tmp_path: Path, fault: str, batch: int) -> None:
    paths = [tmp_path / f"{name}.png" for name in ("a", "b", fault, "c", "d")]
    for path in paths:
        path.write_bytes(b"x" * 7)
    found = map_shards(FaultyJob(batch), paths, tmp_path / "out")
    answers = dict(answers_in(tmp_path / "out"))
    assert [answers[str(path)].value for path in paths if path.stem != fault] == [{"bytes": 7}] * 4
    assert answers[str(paths[2])].value is None
    aside = fault in ("key", "memory")
    assert (found.errors, len(found.set_aside)) == (int(not aside), int(aside))
    if aside:
        assert found.set_aside[str(paths[2])].endswith(", twice")


@pytest.mark.parametrize(
    ("batch", "seconds", "said"),
    [(0, 1.0, "batch of the job is 0"), (1, 0, "item_seconds is 0"), (1, float("nan"), "is nan")],
)
def test_settings_that_make_no_sense(tmp_path: Path, batch: int, seconds: float, said: str) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(ValueError, match=said):
        map_shards(FaultyJob(batch), [tmp_path / "a.png"], tmp_path / "out", item_seconds=seconds)
    assert not (tmp_path / "out").exists()


def test_one_file_and_all_the_time_in_the_world(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    [shard] = plan_shards([tmp_path / "a.png"])
    found = map_shards(FaultyJob(), tmp_path / "a.png", tmp_path / "out")
    assert found.items == len(shard) == 1 and found.errors == 0
    with _in_time(float("inf"), tmp_path / "late"):
        pass


def test_what_befalls_a_machine_is_no_fault_of_an_item(tmp_path: Path) -> None:
    assert befell_the_machine(OSError(errno.ESTALE, "stale"))
    assert not befell_the_machine(ValueError("no"))
    path = tmp_path / "full.png"
    path.write_bytes(b"x")

    class Full(FaultyJob):
        def open(self, models: Mapping[str, Path]) -> AnswerItems:
            return lambda items: raises(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))

    with pytest.raises(OSError, match="No space left"):
        map_shards(Full(), [path], tmp_path / "out")


def test_an_error_of_reading_says_what_befell(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as found:
        read_picture(tmp_path / "none.png")
    assert found.value.errno == errno.ENOENT
    assert str(found.value) == f"{tmp_path / 'none.png'}: No such file or directory"


def mean(pictures: Sequence[np.ndarray]) -> list[float]:
    return [float(one.mean()) for one in pictures]


class Mean:
    """An estimator of the smallest kind."""

    def __init__(self, scale: float) -> None:
        self.scale = scale

    def predict(self, pictures: Sequence[np.ndarray]) -> list[float]:
        return [self.scale * value for value in mean(pictures)]


def as_value(value: float) -> dict[str, float]:
    return {"mean": value}


def image_of(row: Any) -> np.ndarray:
    return row.image


def damaged_rows(path: Path, rows: int, broken: list[int]) -> None:
    """A data set some of whose pictures are torn."""
    write_dataset(recipe("pathfinder", "easy", 3), rows, path)
    table = pq.read_table(path)
    images = table.column("image").to_pylist()
    for row in broken:
        images[row]["bytes"] = images[row]["bytes"][:100]
    column = pa.array(images, table.schema.field("image").type)
    pq.write_table(table.set_column(0, "image", column), path)


def test_rows_that_cannot_be_read_have_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    damaged_rows(path, 6, [0, 3, 4])
    job = EstimatorJob(Mean(1.0), as_value, image_of, batch=4)
    found = map_shards(job, [path], tmp_path / "out")
    assert (found.items, found.errors, found.set_aside) == (6, 3, {})
    answers = [answer for _, answer in answers_in(tmp_path / "out")]
    assert [answer.error is None for answer in answers] == [False, True, True, False, False, True]
    assert "row 3" in str(answers[3].error) and "truncated" in str(answers[3].error)


def test_tables_that_are_no_rows_are_refused_at_once(tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=r"other.parquet: missing column"):
        plan_shards([tmp_path / "other.parquet"])


@pytest.mark.skipif(os.name == "nt", reason="names are Unicode there")
def test_a_name_that_is_no_unicode(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff<b>.png")
    picture = np.zeros((4, 4), np.uint8)
    Path(name).write_bytes(encode_png(picture))
    job = EstimatorJob(Mean(1.0), as_value, read_picture)
    map_shards(job, [name], tmp_path / "out")
    [(told, answer)] = answers_in(tmp_path / "out")
    assert told == f"{tmp_path}/\\udcff<b>.png" and answer.value == {"mean": 0.0}
    assert map_shards(job, [name], tmp_path / "out").kept == 1
