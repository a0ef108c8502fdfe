"""Hard images a second on processes of this machine, against none; what a shard costs.

python -m bench.scale [IMAGES]
"""

import sys
import tempfile
import time
from pathlib import Path

from mam.data import StoreConfig, recipe, write_dataset
from mam.scale import map_shards
from mam.scale.evaluation import EvaluateJob


def main(count: int = 1200) -> None:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "hard.parquet"
        write_dataset(recipe("pathfinder", "hard", 5), count, data, StoreConfig(workers=2))
        job = EvaluateJob("pathfinder", "contours", (("input", "clean"),))
        alone, _ = _rate(job, data, Path(folder) / "alone", None)
        print(f"{count} hard images, {data.stat().st_size / count / 1000:.1f} kB each")
        print(f"no cluster: {alone:.1f} images/s")
        for cluster in ("local:1", "local:2"):
            rate, start = _rate(job, data, Path(folder) / cluster.replace(":", "-"), cluster)
            print(
                f"{cluster}: {rate:.1f} images/s, {rate / alone:.2f} of that; first {start:.0f} s"
            )


def _rate(job: EvaluateJob, data: Path, out: Path, cluster: str | None) -> tuple[float, float]:
    """Images a second once the first shards are there, and the seconds until then."""
    begin = time.perf_counter()
    told: list[tuple[float, int]] = []
    map_shards(
        job,
        [data],
        out,
        cluster=cluster,
        advance=lambda items: told.append((time.perf_counter() - begin, items)),
    )
    # Models are loaded and programs compiled in the first shard of every worker.
    first = 3
    done = sum(items for _, items in told[first + 1 :])
    return done / (told[-1][0] - told[first][0]), told[first][0]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
