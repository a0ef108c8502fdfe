"""The process that runs toulbar2: a script, started by its path.

It reads networks from one file descriptor and answers each with a line of JSON. It imports nothing
of ``mam``, whose packages load JAX, nor numpy: so it starts in a few hundredths of a second.
"""

import ctypes
import json
import math
import os
import select
import signal
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, TextIO

# toulbar2 can be stopped while it solves only if it was given a limit. The true one is the
# parent's, who sends the same signal by the clock on the wall: this one counts the process's time.
_NO_LIMIT = 10**7  # seconds
_PR_SET_PDEATHSIG = 1  # of Linux's prctl


def build(
    arrays: Mapping[str, Any],
    digits: int,
    names: Sequence[str] | None = None,
    eliminate: int = 3,
    verbose: int = -1,
) -> Any:
    """Return a ``pytoulbar2.CFN`` of the arrays that ``Costs`` describes.

    pytoulbar2 holds global state: make and solve one network after the other. Its Contradiction is
    raised if the network is found impossible while it is made.
    """
    import pytoulbar2

    cfn = pytoulbar2.CFN(resolution=digits, verbose=verbose)
    # A network without a solution leaves best-first search off for all later ones, and without it
    # toulbar2 tells no bound, so that an optimum would look unproved.
    cfn.Option.hbfs = 1
    cfn.Option.elimDegree = eliminate
    states = arrays["states"].tolist()
    for name, count in zip(names or map(str, range(len(states))), states, strict=True):
        cfn.AddVariable(name, range(count))
    for scope, cases, costs in _functions(arrays):
        if cases is None:
            cfn.AddFunction(scope, costs)
        else:
            cfn.AddCompactFunction(scope, math.inf, cases, costs)
    return cfn


def _functions(arrays: Mapping[str, Any]) -> Iterator[tuple[list, list | None, list]]:
    """Cut the arrays into functions: scope, listed configurations or None, costs."""
    variable = case = cost = 0
    rows = zip(arrays["arities"], arrays["listed"], arrays["counts"], strict=True)
    for arity, listed, count in rows:
        scope = arrays["scopes"][variable : variable + arity].tolist()
        costs = arrays["costs"][cost : cost + count].tolist()
        variable, cost = variable + arity, cost + count
        if not listed:
            yield scope, None, costs
            continue
        flat = arrays["cases"][case : case + arity * count].tolist()
        case += arity * count
        yield scope, [flat[i : i + arity] for i in range(0, len(flat), arity)], costs


def read(file: BinaryIO) -> tuple[dict[str, array], int, int] | None:
    """Return arrays, digits and degree of elimination of the next network; None after the last."""
    line = file.readline()
    if not line:
        return None
    head = json.loads(line)
    arrays = {name: array("d" if name == "costs" else "q") for name in head["lengths"]}
    for name, length in head["lengths"].items():
        arrays[name].fromfile(file, length)
    return arrays, head["digits"], head["eliminate"]


def solve(arrays: Mapping[str, Any], digits: int, eliminate: int) -> dict[str, Any]:
    """Solve a network: the best states or None, their cost, the bound, and whether it was stopped.

    Not stopped and without states, the network is impossible.
    """
    import pytoulbar2.pytb2

    try:
        # At level 0 it tells its solutions and bounds as it finds them.
        cfn = build(arrays, digits, eliminate=eliminate, verbose=0)
    except pytoulbar2.pytb2.Contradiction:
        return {"values": None, "cost": math.inf, "bound": math.inf, "stopped": False}
    try:
        found = cfn.Solve(showSolutions=1, timeLimit=_NO_LIMIT)
    finally:
        # The next signal may come before toulbar2 listens again.
        signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
    values, cost = (None, math.inf) if found is None else found[:2]
    stopped = bool(cfn.Option.limited)
    return {"values": values, "cost": cost, "bound": cfn.GetDDualBound(), "stopped": stopped}


def _end_with(parent: int) -> None:
    """Let the kernel end this process when its parent ends.

    toulbar2 gives no other thread a chance to look, so both ways are signals that kill: the one of
    Linux, and the one that comes when the other end of the pipe on standard input is closed.
    """
    import fcntl  # not on Windows, where ``build`` is of use all the same

    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    fcntl.fcntl(0, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
    closed = select.select([0], [], [], 0)[0]
    if closed or os.getppid() != parent:
        os._exit(1)


def _answer_all(file: BinaryIO, reports: TextIO) -> None:
    while (network := read(file)) is not None:
        report = solve(*network)
        # What toulbar2 said is the parent's last resort: it must not be taken for the next one's.
        os.lseek(1, 0, os.SEEK_SET)
        os.ftruncate(1, 0)
        print(json.dumps(report), file=reports, flush=True)


def main() -> None:
    """Answer the networks in the file whose descriptor, and the parent's number, are arguments."""
    descriptor, parent = map(int, sys.argv[1:])
    signal.signal(signal.SIGVTALRM, signal.SIG_IGN)
    _end_with(parent)
    # toulbar2 writes to standard output; the parent put a file behind standard error for that.
    reports = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    with os.fdopen(descriptor, "rb") as file, reports:
        _answer_all(file, reports)


if __name__ == "__main__":
    main()
