"""What a run over many machines costs besides the work: planning, tasks, files.

python -m bench.shards [PICTURES]
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from mam.data import StoreConfig, recipe, write_dataset
from mam.scale import ItemAnswer, answers_in, plan_shards
from mam.scale.answers import told_in, write_answers
from mam.scale.spread import spread_over

_TASKS = 2000
_ROWS = 50  # of a shard of one megabyte
_VALUE = {"truth": 1, "answer": 1, "proved": True}


def _seconds(work: Callable[[], object]) -> tuple[float, float]:
    """By the clock, and of the CPU."""
    start = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def _told(what: str, seconds: tuple[float, float], count: int) -> None:
    each, own = (f"{1e6 * one / count:,.0f}" for one in seconds)
    print(f"{what}: {each} us each ({own} of the CPU)")


def main(count: int = 5000) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "pictures").mkdir()
        pictures = [folder / "pictures" / f"{number:06d}.png" for number in range(count)]
        for path in pictures:
            path.write_bytes(b"x" * 1000)
        _told("planning a picture", _seconds(lambda: plan_shards(pictures)), count)
        shards = plan_shards(pictures, 10_000)
        _told("the stamp of a picture", _seconds(lambda: [one.stamped() for one in shards]), count)
        write_dataset(recipe("curves", "easy", 0), 40, folder / "set", StoreConfig(shard_rows=1))
        _told("planning a parquet file", _seconds(lambda: plan_shards([folder / "set"])), 40)
        names, answers = [f"a#{row}" for row in range(_ROWS)], [ItemAnswer(_VALUE)] * _ROWS
        places = [folder / f"part-{number:05d}.parquet" for number in range(100)]
        _told(
            "writing the answers of a shard",
            _seconds(lambda: [write_answers(path, "run", names, answers) for path in places]),
            len(places),
        )
        kept = shards[: len(places)]
        _told(
            "seeing that a shard is done",
            _seconds(lambda: [told_in(folder, shard, "run") for shard in kept]),
            len(kept),
        )
        rows = len(places) * _ROWS
        _told("reading an answer", _seconds(lambda: list(answers_in(folder))), rows)
        with spread_over("local:2") as spread:
            list(spread(abs, range(100)))
            work = _seconds(lambda: list(spread(abs, range(_TASKS))))
        _told("a task that does nothing, on two workers", work, _TASKS)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
