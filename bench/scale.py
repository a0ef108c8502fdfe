"""Hard images a second on processes of this machine, against none; what a worker adds to the work.

One process and a worker have the same threads. Rates are those after the first shards, when models
are loaded and programs compiled: how long that takes is told apart. CPU time counts the command,
the scheduler in it and all workers, and tells what is added where the machine has others to serve.
Runs alternate, and the best of each counts.

python -m bench.scale [IMAGES [REPEATS]]
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from mam.data import StoreConfig, recipe, write_dataset
from mam.scale import map_shards
from mam.scale.evaluation import EvaluateJob
from mam.scale.shard_run import _opened

_FIRST = 4  # shards in which models are loaded and programs compiled
CLUSTERS = (None, "local:1", "local:2")


class Run(NamedTuple):
    """What a run took once the first shards were there."""

    per_second: float
    cpu: float  # milliseconds an image, of all processes
    start: float  # seconds until then


def main(count: int = 1200, repeats: int = 3) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hard.parquet"
        write_dataset(recipe("pathfinder", "hard", 5), count, data, StoreConfig(workers=2))
        job = EvaluateJob("pathfinder", "contours", (("input", "clean"),))
        runs: dict[str | None, list[Run]] = {cluster: [] for cluster in CLUSTERS}
        for number in range(repeats):
            for cluster in CLUSTERS:
                out = Path(folder) / f"{number}-{cluster}".replace(":", "-")
                runs[cluster].append(_run(job, data, out, cluster))
        print(f"{count} hard images, {data.stat().st_size / count / 1000:.1f} kB each")
        alone = _best(runs[None])
        for cluster, several in runs.items():
            best = _best(several)
            print(
                f"{cluster or 'no cluster'}: {best.per_second:.1f} images/s, "
                f"{best.per_second / alone.per_second:.2f} of one process; "
                f"CPU {best.cpu:.1f} ms an image, {best.cpu / alone.cpu:.2f}; "
                f"first shards after {best.start:.0f} s"
            )


def _best(runs: list[Run]) -> Run:
    rates, cpus, starts = zip(*runs, strict=True)
    return Run(max(rates), min(cpus), min(starts))


def _run(job: EvaluateJob, data: Path, out: Path, cluster: str | None) -> Run:
    begin = time.perf_counter()
    told: list[tuple[float, float, int]] = []

    def advance(items: int) -> None:
        told.append((time.perf_counter() - begin, _cpu_seconds(), items))

    # A job that is open knows these images from the run before, which no worker does.
    _opened.cache_clear()
    map_shards(job, [data], out, cluster=cluster, advance=advance)
    done = sum(items for _, _, items in told[_FIRST + 1 :])
    wall, cpu = (told[-1][k] - told[_FIRST][k] for k in (0, 1))
    return Run(done / wall, 1000 * cpu / done, told[_FIRST][0])


def _cpu_seconds() -> float:
    """What this process and all that it started have taken."""
    tick = os.sysconf("SC_CLK_TCK")
    return sum(sum(map(int, _stat(process)[11:13])) / tick for process in _family(os.getpid()))


def _family(process: int) -> Iterator[int]:
    yield process
    for thread in Path(f"/proc/{process}/task").iterdir():
        try:
            children = (thread / "children").read_text().split()
        except (FileNotFoundError, ProcessLookupError):  # the thread has ended since
            continue
        for child in children:
            yield from _family(int(child))


def _stat(process: int) -> list[str]:
    """The fields after the name, which may have blanks."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
