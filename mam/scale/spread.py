"""A function over many tasks on a cluster: some at a time, again where a worker was lost."""

import contextlib
import math
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from mam.core.words import counted
from mam.scale.clusters import asked_workers, is_local, opened_cluster
from mam.scale.gpus import count_gpus

if TYPE_CHECKING:
    from distributed import Client, Future

Task = TypeVar("Task")
Result = TypeVar("Result")
Say = Callable[[str], object]

_LOOK = 1.0  # seconds between looks at the workers
_HEAL = 10.0  # seconds that workers may be missing before we ask for them again
# Tasks that are sent ahead for each thread of the cluster, so that none waits for the next.
_AHEAD = 2
# Times that a task may fail for what befalls a worker, such as a full disk or its end.
_PATIENCE = 3


@contextlib.contextmanager
def spread_over(cluster: str, say: Say = lambda line: None) -> Iterator["ClusterMap"]:
    """What runs functions on a cluster; what befalls it comes as one clear error."""
    with opened_cluster(cluster) as client:
        try:
            gpus = count_gpus() if is_local(cluster) else 0
            yield ClusterMap(client, say, gpus, asked_workers(cluster))
        except (CancelledError, OSError) as error:
            reason = str(error) or "the scheduler went away"
            raise OSError(
                f"--cluster {cluster}: {reason}; what is finished is kept, the same command goes on"
            ) from None


class ClusterMap:
    """Runs functions of one argument over the workers of a client."""

    def __init__(self, client: "Client", say: Say, gpus: int = 0, asked: int | None = None) -> None:
        self.client, self.say, self.gpus, self.asked = client, say, gpus, asked
        self.healed = time.monotonic()
        self.alone = False  # whether there is no worker
        self.threads, self.looked = 0, -math.inf

    def __call__(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        counts: Callable[[Task], bool | None] = lambda task: True,
    ) -> Iterator[Result]:
        """The results, as they come; the function is sent once to each worker.

        A task that fails for what befalls its workers is tried again, some times. ``counts`` is
        asked whether that is one more in vain; it is not where the task gets somewhere, which says
        False, or was not even begun, None.
        """
        from mam.scale.sent import sent_once

        with sent_once(self.client, function, self.gpus) as name:
            yield from self._results(name, tasks, counts)

    def _results(
        self, name: str, tasks: Sequence[Any], counts: Callable[[Any], bool | None]
    ) -> Iterator[Any]:
        from distributed import wait

        from mam.scale.sent import call_sent

        coming = deque(enumerate(tasks))
        running: dict[Future, tuple[int, Any]] = {}
        failures = Failures(counts)
        while coming or running:
            most = self._most()  # also where all are sent, to say that nobody is there to do them
            while coming and len(running) < most:
                number, task = coming.popleft()
                known = {"pure": False, "priority": -number}
                future = self.client.submit(call_sent, name, task, **known)
                running[future] = number, task
            try:
                ready: Any = wait(list(running), timeout=_LOOK, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            for future in ready.done:
                number, task = running.pop(future)
                reason, killed = _failure(future)
                if reason is None:
                    failures.moved += 1
                    self._say_if_alone(1)
                    yield future.result()
                    continue
                if failures.too_many(number, task, killed):
                    raise OSError(reason)
                self.say(f"{reason}; trying again")
                coming.appendleft((number, task))

    def _most(self) -> int:
        """How many tasks are sent at a time; says it where there is nobody to do them."""
        if time.monotonic() - self.looked < _LOOK:
            return max(1, _AHEAD * self.threads)
        workers: Any = self.client.nthreads()
        self.threads = threads = sum(workers.values())
        self.looked = time.monotonic()
        self._heal(len(workers))
        self._say_if_alone(threads)
        return max(1, _AHEAD * threads)

    def _say_if_alone(self, threads: int) -> None:
        """Say that nobody is there, or somebody again: a result, too, comes from a worker."""
        if not threads and not self.alone:
            self.say("no worker is there; waiting for one")
        elif threads and self.alone:
            self.say(f"{counted(threads, 'worker')} there; going on")
        self.alone = not threads

    def _heal(self, workers: int) -> None:
        """Ask again for workers that are missing: Dask gives up one that was killed too often."""
        if self.asked is None or workers >= self.asked:
            self.healed = time.monotonic()
        elif time.monotonic() - self.healed > _HEAL:
            self.healed = time.monotonic()
            cluster: Any = self.client.cluster
            cluster.scale(self.asked)


class Failures:
    """How often each task failed in vain."""

    def __init__(self, counts: Callable[[Any], bool | None]) -> None:
        self.counts = counts
        self.moved = 0  # what was done of all tasks
        self._in_vain: Counter[int] = Counter()
        self._seen: dict[int, int] = {}

    def too_many(self, number: int, task: Any, killed: bool) -> bool:
        """Count one more failure of a task; whether it is not to be tried again.

        A task that was not begun waited behind one that killed their worker, which is no fault of
        its own as long as anything gets done.
        """
        in_vain = self.counts(task)
        if in_vain is None and killed and self._seen.get(number, -1) < self.moved:
            in_vain = False
        elif in_vain is False:
            self.moved += 1
            self._in_vain[number] = 0
        self._seen[number] = self.moved
        self._in_vain[number] += in_vain is not False
        return self._in_vain[number] >= _PATIENCE


def _failure(future: "Future") -> tuple[str | None, bool]:
    """Why a task is to be tried again, None if it is done; and whether its workers were killed.

    Errors of its own are raised.
    """
    from distributed import KilledWorker

    try:
        future.result()
    except KilledWorker:
        return "a task ended several workers", True
    except OSError as error:
        return str(error), False
    return None, False
