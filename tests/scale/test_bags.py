"""An estimator goes over files and over a bag of Dask by the same call, here and on a cluster."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mam import CurveGrouper
from mam.data import encode_png, read_picture
from mam.scale import EstimatorJob, answers_in, map_shards
from mam.scale.gpus import count_gpus
from mam.scale.spread import spread_over
from tests.scale.test_items import Mean, as_value

bags = pytest.importorskip("dask.bag")


def pictures(folder: Path, count: int) -> list[str]:
    for number in range(count):
        picture = np.full((6, 8), 10 * number, np.uint8)
        (folder / f"{number}.png").write_bytes(encode_png(picture))
    return [f"{number}.png" for number in range(count)]


def curves_of(grouping: Any) -> dict[str, Any]:
    return {"curves": len(grouping.polylines), "proof": grouping.proof}


def values(out: Path) -> list[Any]:
    return [answer.value for _, answer in answers_in(out)]


def test_a_bag_and_a_list_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = pictures(tmp_path, 7)
    job = EstimatorJob(Mean(2.0), as_value, read_picture)
    map_shards(job, names, "files")
    bag = bags.from_sequence(names, npartitions=3)
    found = map_shards(job, bag, "bag")
    assert (found.items, found.kept) == (7, 0)
    assert list(answers_in("bag")) == list(answers_in("files"))
    assert values(tmp_path / "bag") == [{"mean": 20.0 * number} for number in range(7)]
    assert map_shards(job, bags.from_sequence(names, npartitions=3), "bag").kept == 7
    other = bags.from_sequence(names[1:], npartitions=3)
    with pytest.raises(ValueError, match="the input is another"):
        map_shards(job, other, "bag")
    with pytest.raises(ValueError, match="a bag is taken whole"):
        map_shards(job, bag, "bag", limit=3)


def test_a_bag_of_arrays_is_computed_by_the_workers(tmp_path: Path) -> None:
    """What the elements are made of, and by whom, is Dask's own."""
    bag = bags.from_sequence(range(9), npartitions=4).filter(lambda number: number != 4)
    bag = bag.map(lambda number: np.full((3, 3), number, np.uint8))
    job = EstimatorJob(Mean(1.0), as_value, read_picture)
    here, there = tmp_path / "here", tmp_path / "there"
    assert map_shards(job, bag, here).items == 8
    assert map_shards(job, bag, there, cluster="local:2").items == 8
    assert list(answers_in(here)) == list(answers_in(there))
    assert [name for name, _ in answers_in(here)][:4] == [
        "partition-00000#0",
        "partition-00000#1",
        "partition-00000#2",
        "partition-00001#0",
    ]


def test_a_grouper_on_a_cluster(tmp_path: Path) -> None:
    line = np.zeros((40, 60), np.uint8)
    line[18:21, 5:55] = 255
    for number in range(3):
        (tmp_path / f"{number}.png").write_bytes(encode_png(np.roll(line, number, 0)))
    paths = sorted(tmp_path.glob("*.png"))
    job = EstimatorJob(CurveGrouper.load("curves"), curves_of, read_picture)
    map_shards(job, paths, tmp_path / "here")
    map_shards(job, paths, tmp_path / "there", cluster="local:1", shard_bytes=1)
    assert values(tmp_path / "here") == values(tmp_path / "there")
    assert values(tmp_path / "here") == [{"curves": 1, "proof": "exact"}] * 3


class Counting:
    """A function that leaves a mark each time that it arrives in a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        (self.folder / f"{os.getpid()}-{os.urandom(4).hex()}").touch()

    def __call__(self, task: int) -> tuple[int, str | None]:
        return task, os.environ.get("CUDA_VISIBLE_DEVICES")


def test_a_function_is_sent_once_to_each_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mam.scale.spread.count_gpus", lambda: 2)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with spread_over("local:2") as spread:
        found = list(spread(Counting(tmp_path), range(40)))
    assert sorted(task for task, _ in found) == list(range(40))
    arrivals = [path.name.split("-")[0] for path in tmp_path.iterdir()]
    workers = [process for process in arrivals if process != str(os.getpid())]
    assert len(workers) == len(set(workers)) == 2
    assert {gpu for _, gpu in found} == {"0", "1"}  # each worker has its own


def test_gpus_are_counted_without_waking_them(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"):
        (tmp_path / name).touch()
    assert count_gpus(tmp_path) == 2


def test_workers_keep_the_memory_that_they_freed() -> None:
    names = ["MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_"]
    with spread_over("local:1") as spread:
        assert [next(spread(os.getenv, [name])) for name in names] == ["1", None]


class Elsewhere:
    """A function that other processes cannot import."""

    def __setstate__(self, state: object) -> None:
        raise ModuleNotFoundError("No module named 'elsewhere'")

    def __getstate__(self) -> dict[str, int]:
        return {"a": 1}

    def __call__(self, task: int) -> int:
        return task


def test_what_workers_cannot_import_is_told_in_a_line() -> None:
    said = r"a worker cannot load the job \(.*No module named .*: mam .* on every machine"
    with pytest.raises(ValueError, match=said), spread_over("local:1") as spread:
        list(spread(Elsewhere(), [1]))


def test_a_worker_of_another_version_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mam.scale.sent.__version__", "0.0.1")
    with (
        pytest.raises(ValueError, match=r"has mam .*, and this run is of mam 0.0.1: install"),
        spread_over("local:1") as spread,
    ):
        list(spread(abs, [1]))
