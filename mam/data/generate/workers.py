"""Rows made by worker processes, in order."""

import multiprocessing
import os
import threading
from collections.abc import Generator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from mam.data.generate.make import Recipe, make_records

Records = list[dict[str, Any]]


def chunk_records(
    recipe: Recipe, chunks: list[tuple[int, int]], workers: int
) -> Generator[Records, None, None]:
    """The records of each chunk of rows, made here or by worker processes a little ahead."""
    if workers == 1 or len(chunks) <= 1:
        for start, stop in chunks:
            yield make_records(recipe, start, stop)
        return
    # Spawned, not forked: a fork of a process with threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, end_with_parent) as pool:
        left = iter(chunks)
        ahead: list[Future[Records]] = [
            pool.submit(make_records, recipe, *chunk) for chunk in islice(left, 2 * workers)
        ]
        try:
            while ahead:
                yield ahead.pop(0).result()
                ahead += [pool.submit(make_records, recipe, *chunk) for chunk in islice(left, 1)]
        except BrokenProcessPool:
            raise OSError("a worker process was ended, perhaps for want of memory") from None
        finally:
            for future in ahead:
                future.cancel()


def end_with_parent() -> None:
    """Let this worker process end when its parent does, in whatever way.

    A pool tells its workers to end; a parent that was killed cannot, and they would wait forever.
    """
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
