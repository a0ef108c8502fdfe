"""A function over many tasks on a cluster: some at a time, again where a worker was lost."""

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, TypeVar

from mam.core.words import counted
from mam.scale.clusters import opened_cluster

if TYPE_CHECKING:
    from distributed import Client, Future

Task = TypeVar("Task")
Result = TypeVar("Result")
Say = Callable[[str], object]

_LOOK = 1.0  # seconds between looks at the workers
# Tasks that are sent ahead for each thread of the cluster, so that none waits for the next.
_AHEAD = 2
# Times that a task may fail for what befalls a worker, such as a full disk or its end.
_PATIENCE = 3


@contextlib.contextmanager
def spread_over(cluster: str, say: Say = lambda line: None) -> Iterator["ClusterMap"]:
    """What runs functions on a cluster; what befalls it comes as one clear error."""
    with opened_cluster(cluster) as client:
        try:
            yield ClusterMap(client, say)
        except (CancelledError, OSError) as error:
            reason = str(error) or "the scheduler went away"
            raise OSError(
                f"--cluster {cluster}: {reason}; what is finished is kept, the same command goes on"
            ) from None


class ClusterMap:
    """Runs functions of one argument over the workers of a client."""

    def __init__(self, client: "Client", say: Say) -> None:
        self.client, self.say = client, say
        self.alone = False  # whether there is no worker

    def __call__(
        self,
        function: Callable[[Task], Result],
        tasks: Sequence[Task],
        may_go_on: Callable[[Task], bool] = lambda task: False,
    ) -> Iterator[Result]:
        """The results, as they come.

        A task that fails for what befalls its workers is tried again, some times, or as long as
        ``may_go_on`` says that it gets somewhere.
        """
        from distributed import wait

        coming = deque(enumerate(tasks))
        running: dict[Future, tuple[int, Task]] = {}
        failures: Counter[int] = Counter()
        while coming or running:
            while coming and len(running) < self._most():
                number, task = coming.popleft()
                future = self.client.submit(function, task, pure=False, priority=-number)
                running[future] = number, task
            try:
                ready: Any = wait(list(running), timeout=_LOOK, return_when="FIRST_COMPLETED")
            except TimeoutError:
                continue
            for future in ready.done:
                number, task = running.pop(future)
                reason = _failure(future)
                if reason is None:
                    yield future.result()
                    continue
                failures[number] = 0 if may_go_on(task) else failures[number] + 1
                if failures[number] >= _PATIENCE:
                    raise OSError(reason)
                self.say(f"{reason}; trying again")
                coming.appendleft((number, task))

    def _most(self) -> int:
        """How many tasks are sent at a time; says it where there is nobody to do them."""
        workers: Any = self.client.nthreads()
        threads = sum(workers.values())
        if not threads and not self.alone:
            self.say("no worker is there; waiting for one")
        elif threads and self.alone:
            self.say(f"{counted(threads, 'worker')} there; going on")
        self.alone = not threads
        return max(1, _AHEAD * threads)


def _failure(future: "Future") -> str | None:
    """Why a task is to be tried again; None if it is done. Errors of its own are raised."""
    from distributed import KilledWorker

    try:
        future.result()
    except KilledWorker:
        return "a task ended several workers"
    except OSError as error:
        return str(error)
    return None
