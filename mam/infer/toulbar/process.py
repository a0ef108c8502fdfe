"""toulbar2 in a process of its own, so that a limit of time holds and nothing is left behind."""

import importlib.util
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Event
from typing import IO

from mam.factors.network import Network
from mam.infer.toulbar.answer import ToulbarAnswer
from mam.infer.toulbar.costs import Costs
from mam.infer.toulbar.reports import Deadline, Reports

_WORKER = Path(__file__).with_name("worker.py")
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
    return solve_many([network], seconds)[0]


def solve_many(
    networks: Sequence[Network], seconds: float | int = math.inf, given_up: Event | None = None
) -> list[ToulbarAnswer]:
    """Solve independent networks one after another in a process that ends within ``seconds``.

    Small ones come first, and each may take an equal share of the time that is left: what an easy
    one does not need goes to those behind it. After one at which toulbar2 crashes or that it cannot
    stop, the others go on in a new process. Another thread may set ``given_up``: then it ends soon.
    """
    if not seconds > 0:
        raise ValueError(f"the limit is a positive number of seconds, not {seconds}")
    check_installed()
    end = Deadline(time.monotonic() + seconds, given_up)
    costs = {i: own for i, network in enumerate(networks) if (own := Costs.of(network)) is not None}
    order = sorted(costs, key=lambda i: len(costs[i].arrays["costs"]))
    found = _all([costs[i] for i in order], end)
    answers = dict(zip(order, found, strict=True))
    return [answers.get(i) or ToulbarAnswer.none_possible() for i in range(len(networks))]


def check_installed() -> None:
    """Refuse to go on without pytoulbar2."""
    if importlib.util.find_spec("pytoulbar2") is None:
        raise ValueError("pytoulbar2 is not installed: pip install markov-attention[interchange]")


def _all(costs: list[Costs], end: Deadline) -> list[ToulbarAnswer]:
    """Ask workers about all networks until ``end``."""
    answers: list[ToulbarAnswer] = []
    while len(answers) < len(costs) and not end.over:
        rest = costs[len(answers) :]
        found, failed = _run(rest, end, _ELIMINATE)
        if failed:
            begin = time.monotonic()
            half = end.earlier(begin + _share(end.time - begin, 2))
            again, failed = _run(rest[len(found) :][:1], half, _SAFELY)
            seconds = time.monotonic() - begin
            found += [ToulbarAnswer.unknown(rest[len(found)], seconds)] if failed else again
        answers += found
    return answers + [ToulbarAnswer.unknown(own) for own in costs[len(answers) :]]


def _run(costs: list[Costs], end: Deadline, eliminate: int) -> tuple[list[ToulbarAnswer], bool]:
    """Ask one worker until it fails or does not stop; say whether it failed.

    The last answer is about the network that it did not stop at; there is none about the one at
    which it failed.
    """
    with TemporaryFile() as data, TemporaryFile() as said:
        for own in costs:
            own.write(data, eliminate)
        data.seek(0)
        with _worker(data, said) as process:
            answers, begin, failed = _ask(Reports(process), costs, end)
        # The worker has ended: what it said stands still.
        said.seek(0)
        text = said.read().decode(errors="replace")
    _check(process.returncode, text)
    if not failed and len(answers) < len(costs):
        answers.append(ToulbarAnswer.told(costs[len(answers)], text, time.monotonic() - begin))
    return answers, failed


def _ask(
    reports: Reports, costs: list[Costs], end: Deadline
) -> tuple[list[ToulbarAnswer], float, bool]:
    """Return the answers up to the first that does not come, when that was begun, and a failure."""
    answers: list[ToulbarAnswer] = []
    begin = time.monotonic()
    for own in costs:
        share = _share(end.time - begin, len(costs) - len(answers))
        notice = min(_NOTICE * share, _MOST_NOTICE)
        last = end.earlier(begin + share)
        report = _report(reports, last.earlier(last.time - notice), last)
        if report is None:
            break
        answer = ToulbarAnswer.of(own, report, time.monotonic() - begin)
        if answer.values is not None and _contradicts(own, answer, report):
            return answers, begin, True
        answers.append(answer)
        begin = time.monotonic()
    if reports.ended:
        # Its exit code, which is about to come, says why.
        with suppress(subprocess.TimeoutExpired):
            reports.process.wait(_MOST_NOTICE)
    return answers, begin, reports.ended and len(answers) < len(costs)


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
