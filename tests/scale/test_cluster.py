"""Real schedulers and workers, and what may befall them: the answers stay those of one process."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from mam.scale import Outcome, answers_in, clusters, map_shards, spread
from tests.scale.jobs import SizeJob

pytest.importorskip("distributed")

ROOT = Path(__file__).parents[2]


def soon(condition: Callable[[], object], seconds: float = 40) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(condition())


class Machines:
    """A scheduler and workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.processes = folder, []
        self.scheduler = self.start("scheduler", "--port", "0", "--scheduler-file", "where.json")
        assert soon((folder / "where.json").exists)
        self.address = self._address()

    def _address(self) -> str:
        return json.loads((self.folder / "where.json").read_text())["address"]

    def start(self, what: str, *options: str) -> subprocess.Popen:
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "8",
            "DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": "5s",
            "DASK_DISTRIBUTED__ADMIN__TICK__INTERVAL": "1s",
        }
        command = [sys.executable, "-m", "distributed.cli.dask_" + what, *options, "--no-dashboard"]
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.processes.append(process)
        return process

    def worker(self) -> subprocess.Popen:
        return self.start("worker", self.address, "--nthreads", "1", "--nworkers", "1")

    def kill(self, process: subprocess.Popen) -> None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def close(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                self.kill(process)


@pytest.fixture
def machines(tmp_path: Path) -> Iterator[Machines]:
    (tmp_path / "machines").mkdir()
    found = Machines(tmp_path / "machines")
    yield found
    found.close()


def files(folder: Path, names: list[str]) -> list[Path]:
    folder.mkdir()
    paths = [folder / f"{number:02d}-{name}.png" for number, name in enumerate(names)]
    for number, path in enumerate(paths):
        path.write_bytes(b"x" * (10 + number))
    return paths


def run(paths: list[Path], tmp_path: Path, cluster: str, **settings: object) -> Outcome:
    (tmp_path / "marks").mkdir(exist_ok=True)
    job = SizeJob(str(tmp_path / "marks"), slow=0.02)
    known = {"shard_bytes": 60, "item_seconds": 3.0, **settings}
    return map_shards(job, paths, tmp_path / "out", cluster=cluster, **known)  # type: ignore[arg-type]


def check(paths: list[Path], tmp_path: Path, aside: dict[str, str]) -> None:
    """Every picture has the answer that one process gives, but for those set aside."""
    found = dict(answers_in(tmp_path / "out"))
    assert list(found) == [str(path) for path in paths]
    for path in paths:
        answer = found[str(path)]
        if why := next((why for name, why in aside.items() if name in path.name), None):
            assert answer.value is None and why in str(answer.error)
        else:
            assert answer.value == {"name": path.name, "bytes": path.stat().st_size}
    left = [path for path in (tmp_path / "out").iterdir() if path.suffix in (".journal", ".tmp")]
    assert left == []


def test_processes_here_and_a_poisoned_picture(tmp_path: Path) -> None:
    paths = files(tmp_path / "in", ["a", "b", "poison", "once", "full", "c", "endless", "d", "e"])
    said: list[str] = []
    found = run(paths, tmp_path, "local:2", say=said.append)
    assert sorted(found.set_aside) == [str(paths[2]), str(paths[6])]
    assert found.items == len(paths) and found.errors == 0
    assert found.set_aside[str(paths[2])] == "its worker died, twice"
    assert found.set_aside[str(paths[6])] == "it took more than 3 s, twice"
    check(paths, tmp_path, {"poison": "worker died", "endless": "more than 3 s"})
    assert any("No space left" in line for line in said)
    seen = list((tmp_path / "marks").glob("seen-*"))
    assert len(seen) >= 4  # the poison was tried by several processes
    again = run(paths, tmp_path, "local:2")
    assert again.kept == len(paths) and again.set_aside == found.set_aside


def test_a_worker_and_then_all_are_lost(machines: Machines, tmp_path: Path) -> None:
    paths = files(tmp_path / "in", ["a"] * 60)
    first, second = machines.worker(), machines.worker()
    said: list[str] = []
    marks = tmp_path / "marks"

    def disturb() -> None:
        assert soon(lambda: len(list(marks.glob("seen-*"))) == 2)
        machines.kill(first)
        time.sleep(0.5)
        machines.kill(second)
        assert soon(lambda: any("waiting for one" in line for line in said))
        machines.worker()

    thread = threading.Thread(target=disturb)
    thread.start()
    found = run(paths, tmp_path, machines.address, say=said.append)
    thread.join()
    assert found.items == 60 and not found.set_aside
    assert any("going on" in line for line in said)
    check(paths, tmp_path, {})


@pytest.mark.parametrize("poisoned", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_a_shard_full_of_poison_does_not_end_the_run(tmp_path: Path, poisoned: int) -> None:
    """Shards that wait behind it are lost with each worker that it kills, and are not to blame."""
    names = ["poison"] * poisoned + ["a"] * 12
    paths = files(tmp_path / "in", names)
    found = run(paths, tmp_path, "local:1", shard_bytes=15 * poisoned)
    assert found.items == len(paths) and len(found.set_aside) == poisoned
    check(paths, tmp_path, {"poison": "worker died"})


def test_workers_that_dask_gives_up_are_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a worker takes longer to come back than Dask waits for it."""
    monkeypatch.setitem(clusters._CONFIG, "distributed.deploy.lost-worker-timeout", "50ms")
    monkeypatch.setattr(spread, "_HEAL", 1.0)
    paths = files(tmp_path / "in", ["a", "once", "b", "once", "c"])
    assert run(paths, tmp_path, "local:1").items == 5
    check(paths, tmp_path, {})


def test_a_disk_that_stays_full_ends_the_run(tmp_path: Path) -> None:
    """No picture is to blame for it, so none is set aside; the same command goes on later."""
    paths = files(tmp_path / "in", ["a", "b", "brimful", "c", "d", "e", "f", "g"])
    with pytest.raises(OSError, match=r"No space left .*; what is finished is kept"):
        run(paths, tmp_path, "local:1")
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["set_aside"] == [] and not manifest["done"]
    (tmp_path / "marks" / "room").touch()
    assert run(paths, tmp_path, "local:1").items == len(paths)
    check(paths, tmp_path, {})


@pytest.mark.slow
def test_workers_that_dask_kills(machines: Machines, tmp_path: Path) -> None:
    """They live for a second or so, and their nannies start others; no item is to blame."""
    from distributed import Client
    from distributed.chaos import KillWorker

    paths = files(tmp_path / "in", ["a"] * 400)
    machines.worker(), machines.worker()
    with Client(machines.address) as client:
        client.wait_for_workers(2, timeout=40)
        client.register_plugin(KillWorker("1.5s", "segfault"))
        found = run(paths, tmp_path, machines.address)
    assert found.items == 400 and not found.set_aside
    assert len(list((tmp_path / "marks").glob("seen-*"))) > 2
    check(paths, tmp_path, {})


def test_the_last_shard_waits_for_a_worker_too(machines: Machines, tmp_path: Path) -> None:
    """All are sent when the only worker is lost: the run says that it waits."""
    paths = files(tmp_path / "in", ["once"])
    worker, said = machines.worker(), []
    marks = tmp_path / "marks"

    def disturb() -> None:
        assert soon(lambda: list(marks.glob("once-*")))
        machines.kill(worker)
        assert soon(lambda: any("waiting for one" in line for line in said))
        machines.worker()

    thread = threading.Thread(target=disturb)
    thread.start()
    found = run(paths, tmp_path, machines.address, say=said.append)
    thread.join()
    assert found.items == 1 and any("going on" in line for line in said)
    check(paths, tmp_path, {})


@pytest.mark.slow
def test_a_worker_that_hangs_is_given_up(machines: Machines, tmp_path: Path) -> None:
    paths = files(tmp_path / "in", ["a", "stop", "b", "c"])
    machines.worker(), machines.worker()
    found = run(paths, tmp_path, machines.address, item_seconds=30.0)
    assert found.items == 4 and not found.set_aside
    check(paths, tmp_path, {})


@pytest.mark.slow
def test_the_scheduler_is_lost_and_the_run_goes_on_later(
    machines: Machines, tmp_path: Path
) -> None:
    paths = files(tmp_path / "in", ["a"] * 60)
    machines.worker()

    def disturb() -> None:
        assert soon(lambda: list((tmp_path / "out").glob("part-*.parquet")))
        machines.kill(machines.scheduler)

    thread = threading.Thread(target=disturb)
    thread.start()
    start = time.monotonic()
    with pytest.raises(OSError, match="the same command goes on"):
        run(paths, tmp_path, machines.address)
    assert time.monotonic() - start < 60
    thread.join()
    done = len(list((tmp_path / "out").glob("part-*.parquet")))
    assert 0 < done < 12
    found = run(paths, tmp_path, "local:1")
    assert 0 < found.kept < 60
    check(paths, tmp_path, {})


@pytest.mark.slow
def test_the_client_is_killed_and_the_run_goes_on(machines: Machines, tmp_path: Path) -> None:
    paths = files(tmp_path / "in", ["a"] * 60)
    machines.worker()
    code = (
        "from pathlib import Path; from tests.scale.test_cluster import run\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "run(sorted((folder / 'in').iterdir()), folder, %r)" % machines.address
    )
    client = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, start_new_session=True)
    assert soon(lambda: list((tmp_path / "out").glob("part-*.parquet")))
    machines.kill(client)
    found = run(paths, tmp_path, machines.address)
    assert found.items == 60 and found.kept > 0
    check(paths, tmp_path, {})
