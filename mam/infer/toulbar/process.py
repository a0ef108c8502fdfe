"""toulbar2 in a process of its own, so that a limit of time holds and nothing is left behind."""

import importlib.util
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from typing import IO, TypeVar

from mam.factors.network import Network
from mam.infer.deadline import Deadline
from mam.infer.toulbar.costs import Costs
from mam.infer.toulbar.reports import Reports
from mam.infer.toulbar.toulbar_answer import ToulbarAnswer

_T = TypeVar("_T")
_Answers = Generator[ToulbarAnswer, None, _T]

_WORKER = Path(__file__).with_name("toulbar_worker.py")
# Asked to stop, toulbar2 answers in milliseconds: it is asked that much before it is killed.
_NOTICE = 0.1  # of the limit
_MOST_NOTICE = 1.0  # seconds
# Of many networks most are easy, and any machine may pause: a share is no shorter than this.
_MOMENT = 1.0  # seconds
# While it builds a network toulbar2 hears no signal, so it is asked again.
_AGAIN = 0.1  # seconds
# toulbar2 is fastest if it eliminates variables with up to this many neighbours as it searches.
# Version 1.4.0 then crashes at one in ten thousand small networks with tables of three variables.
_ELIMINATE = 3
_SAFELY = 1


def available() -> bool:
    """Whether networks can be solved here: pytoulbar2 is installed, and the system is POSIX."""
    return os.name == "posix" and importlib.util.find_spec("pytoulbar2") is not None


def solve_in_process(network: Network, seconds: float | int = math.inf) -> ToulbarAnswer:
    """Solve a network with toulbar2 in another process that ends within ``seconds``.

    If the time is over before the proof is, the answer is the best assignment so far, if there is
    any, and a bound.
    """
    return next(solve_many([network], seconds))[1]


def solve_many(
    networks: Sequence[Network], seconds: float | int = math.inf, given_up: Event | None = None
) -> Iterator[tuple[int, ToulbarAnswer]]:
    """Solve independent networks one after another in a process that ends within ``seconds``.

    Yields each answer after the number of its network. Small ones come first, and each may take an
    equal share of the time that is left: what an easy one does not need goes to those behind it.
    After one at which toulbar2 crashes or that it cannot stop, the others go on in a new process.
    Another thread may set ``given_up``: then it ends soon.
    """
    if not seconds > 0:
        raise ValueError(f"the limit is a positive number of seconds, not {seconds}")
    check_installed()
    end = Deadline.within(seconds, given_up)
    costs = {}
    for i, network in enumerate(networks):
        if (own := Costs.of(network)) is None:
            yield i, ToulbarAnswer.none_possible()
        else:
            costs[i] = own
    order = sorted(costs, key=lambda i: len(costs[i].arrays["costs"]))
    yield from zip(order, _all([costs[i] for i in order], end), strict=True)


def check_installed() -> None:
    """Refuse to go on without pytoulbar2."""
    if importlib.util.find_spec("pytoulbar2") is None:
        raise ValueError("pytoulbar2 is not installed: pip install markov-attention[interchange]")


def _all(costs: list[Costs], end: Deadline) -> Iterator[ToulbarAnswer]:
    """Ask workers about all networks until ``end``."""
    done = 0
    while done < len(costs) and not end.over:
        count, failed = yield from _run(costs[done:], end, _ELIMINATE)
        done += count
        if failed:
            begin = time.monotonic()
            half = end.earlier(begin + _share(end.time - begin, 2))
            _, failed = yield from _run(costs[done : done + 1], half, _SAFELY)
            if failed:
                yield ToulbarAnswer.unknown(costs[done], time.monotonic() - begin)
            done += 1
    yield from map(ToulbarAnswer.unknown, costs[done:])


def _run(costs: list[Costs], end: Deadline, eliminate: int) -> _Answers[tuple[int, bool]]:
    """Ask one worker until it fails or does not stop; return how many answers came, and a failure.

    The last answer is about the network that it did not stop at; there is none about the one at
    which it failed.
    """
    with TemporaryFile() as data, TemporaryFile() as said:
        for own in costs:
            own.write(data, eliminate)
        data.seek(0)
        with _worker(data, said) as process:
            count, begin, failed = yield from _ask(Reports(process), costs, end)
        # The worker has ended: what it said stands still.
        said.seek(0)
        text = said.read().decode(errors="replace")
    _check(process.returncode, text)
    if not failed and count < len(costs):
        yield ToulbarAnswer.told(costs[count], text, time.monotonic() - begin)
        count += 1
    return count, failed


def _ask(reports: Reports, costs: list[Costs], end: Deadline) -> _Answers[tuple[int, float, bool]]:
    """Return how many answers came, when the first that did not was begun, and a failure."""
    count, begin = 0, time.monotonic()
    for own in costs:
        share = _share(end.time - begin, len(costs) - count)
        notice = min(_NOTICE * share, _MOST_NOTICE)
        last = end.earlier(begin + share)
        report = _report(reports, last.earlier(last.time - notice), last)
        if report is None:
            break
        answer = ToulbarAnswer.of(own, report, time.monotonic() - begin)
        if answer.values is not None and _contradicts(own, answer, report):
            return count, begin, True
        yield answer
        count, begin = count + 1, time.monotonic()
    if reports.ended:
        # Its exit code, which is about to come, says why.
        with suppress(subprocess.TimeoutExpired):
            reports.process.wait(_MOST_NOTICE)
    return count, begin, reports.ended and count < len(costs)


def _contradicts(costs: Costs, answer: ToulbarAnswer, report: dict) -> bool:
    """Whether the values have not the cost that toulbar2 says they have."""
    return not abs(answer.score - costs.score(report["cost"])) <= costs.resolution


def _share(left: float, networks: int) -> float:
    """How long the next of some networks may take: an equal share, or a moment if that is less."""
    return max(left / networks, min(_MOMENT, left / 2))


def _report(reports: Reports, stop: Deadline, end: Deadline) -> dict | None:
    """Await the report of a network; from ``stop`` on ask for it, at ``end`` give up."""
    report = reports.next(stop)
    while report is None and not reports.ended and not end.over:
        reports.process.send_signal(signal.SIGVTALRM)
        report = reports.next(end.earlier(time.monotonic() + _AGAIN))
    return report


@contextmanager
def _worker(data: IO[bytes], said: IO[bytes]) -> Iterator[subprocess.Popen]:
    """Run the worker in a session of its own, with no more life than this block."""
    process = subprocess.Popen(
        # -P: its neighbours are modules of this package and must not hide others.
        [sys.executable, "-P", str(_WORKER), str(data.fileno()), str(os.getpid())],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=said,
        pass_fds=[data.fileno()],
        start_new_session=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                # Some systems refuse to signal a group that has just ended.
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)


def _check(code: int, said: str) -> None:
    """Raise if the worker itself failed; killed for its time or memory, it did not."""
    if code > 0:
        last = said.strip().rpartition("\n")[2]
        raise RuntimeError(f"the process of toulbar2 failed with code {code}: {last}")
