"""Worker processes that answer calls in order."""

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

_T = TypeVar("_T")
_workers = 1  # of which this process is one
_AHEAD = 2  # calls of each worker that are begun before they are asked for


class Workers:
    """Some processes. They start with the first call and stay for more, until the object goes.

    Scripts that use them keep what they do under ``if __name__ == "__main__":``, since each worker
    imports the script. Workers compute on the CPU: one accelerator is not for many processes.

    >>> Workers(0)
    Traceback (most recent call last):
    ...
    ValueError: 0 worker processes: one at least
    """

    def __init__(self, count: int) -> None:
        if count < 1:
            raise ValueError(f"{count} worker processes: one at least")
        self.count = count
        self._pool: ProcessPoolExecutor | None = None

    def each(
        self, function: Callable[..., _T], calls: Iterable[tuple[Any, ...]]
    ) -> Generator[_T, None, None]:
        """What a function says to each call; calls are made when they are needed, a little ahead.

        Who stops before the end, by an error or otherwise, ends the workers.
        """
        left, ahead = iter(calls), list[Future[_T]]()
        # Before Ctrl-C is held back: making a pool starts a process of Python's own, which lets it
        # through again.
        pool = self._pool = self._pool or _new_pool(self.count)
        try:
            with _undisturbed():  # all workers start here
                for call in islice(left, _AHEAD * self.count):
                    ahead.append(pool.submit(function, *call))
            while ahead:
                found = ahead[0].result()
                ahead.pop(0)
                yield found
                ahead += [pool.submit(function, *call) for call in islice(left, 1)]
        except BrokenProcessPool:
            raise OSError("a worker process was ended, perhaps for want of memory") from None
        finally:
            if ahead:
                self.end()

    def end(self) -> None:
        """End the processes at once; by themselves they would finish what they began."""
        pool, self._pool = self._pool, None
        if pool is not None:
            for process in list((pool._processes or {}).values()):  # Python 3.14 has a method
                process.kill()
            pool.shutdown(wait=True, cancel_futures=True)


def _new_pool(count: int) -> ProcessPoolExecutor:
    # Spawned, not forked: a fork of a process with threads may hang.
    return ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), _begin, (count,))


def worker_count(jobs: int | None) -> int:
    """How many processes ``n_jobs`` means: one for None, one a core for -1, one less for -2, ...

    >>> worker_count(None), worker_count(3), worker_count(-1) >= 1
    (1, 3, True)
    >>> worker_count(0)
    Traceback (most recent call last):
    ...
    ValueError: n_jobs must be a number of processes, or -1 for one a core, not 0
    """
    if jobs is None:
        return 1
    if jobs == 0:
        raise ValueError("n_jobs must be a number of processes, or -1 for one a core, not 0")
    return jobs if jobs > 0 else max(cores() + 1 + jobs, 1)


def own_cores() -> int:
    """How many cores this process may use by itself: workers share those that there are."""
    return max(cores() // _workers, 1)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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


def _begin(count: int) -> None:
    """Keep a worker off accelerators, and let it end when its parent does, in whatever way.

    A pool tells its workers to end; a parent that was killed cannot, and they would wait forever.
    """
    global _workers
    _workers = count
    os.environ["JAX_PLATFORMS"] = "cpu"
    if "jax" in sys.modules:  # the script imports it
        sys.modules["jax"].config.update("jax_platforms", "cpu")
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
