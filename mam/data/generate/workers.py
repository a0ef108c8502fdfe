"""Rows made by worker processes, in order."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
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
        ahead: list[Future[Records]] = []
        try:
            with _undisturbed():  # all workers start here
                for chunk in islice(left, 2 * workers):
                    ahead.append(pool.submit(make_records, recipe, *chunk))
            while ahead:
                records = ahead[0].result()
                ahead.pop(0)
                yield records
                ahead += [pool.submit(make_records, recipe, *chunk) for chunk in islice(left, 1)]
        except BrokenProcessPool:
            raise OSError("a worker process was ended, perhaps for want of memory") from None
        finally:
            if ahead:
                _kill_workers(pool)


def _kill_workers(pool: ProcessPoolExecutor) -> None:
    """End a pool whose results nobody wants any more; by itself it would finish what it began."""
    for process in list((pool._processes or {}).values()):  # Python 3.14 has a method for this
        process.kill()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let Ctrl-C wait until the block ends, and keep it from processes that start in it for good.

    A terminal sends it to all processes. One that is half started would fail, with many words.
    """
    here = threading.current_thread() is threading.main_thread()
    if not (here and hasattr(signal, "pthread_sigmask")):
        yield
        return
    came: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, before)
    if came:
        signal.raise_signal(signal.SIGINT)


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
