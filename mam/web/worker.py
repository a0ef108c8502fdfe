"""A worker process: reads jobs from its standard input, answers on its standard output.

    python -m mam.web.worker curves

warms up for its kind of jobs first. A signal ends the job that runs, and the worker goes on.
"""

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedIOBase
from types import FrameType
from typing import BinaryIO

from mam.web.frames import frame_bytes, read_frame

QUICK = "curves"  # the kind of worker that people wait for at once
_BEHIND = 5  # how far others stand behind it
STOP = getattr(signal, "SIGUSR1", None)  # ends the job that runs; Windows has no such signal


class Stopped(BaseException):
    """Nobody waits for this job any more."""


def main(kind: str) -> None:
    """Answer jobs until the standard input ends."""
    answers = _private_output()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which closes the input
    if kind != QUICK and hasattr(os, "nice"):
        os.nice(_BEHIND)
    from mam.web.jobs import JOBS, WARM_UPS

    for name, arguments in WARM_UPS[kind]:
        JOBS[name](arguments, [], lambda text: None)
    _send(answers, {"kind": "ready"})
    jobs = sys.stdin.buffer
    assert isinstance(jobs, BufferedIOBase)
    while (frame := read_frame(jobs)) is not None:
        job, arguments = JOBS[frame.said["job"]], frame.said["arguments"]
        try:
            with _can_be_stopped():
                said, blobs = job(arguments, frame.blobs, lambda text: _tell(answers, text))
            _send(answers, {"kind": "answer", "answer": said}, blobs)
        except Stopped:
            _send(answers, {"kind": "stopped"})
        except (ValueError, OSError) as error:
            _send(answers, {"kind": "refused", "error": str(error)})
        except Exception:  # whatever it is, others still want this worker
            traceback.print_exc()
            _send(answers, {"kind": "failed"})


def _private_output() -> BinaryIO:
    """The standard output for answers alone; what anybody prints goes to standard error."""
    sys.stdout.flush()
    private = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return private


@contextmanager
def _can_be_stopped() -> Iterator[None]:
    if STOP is None:
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise Stopped

    signal.signal(STOP, stop)
    try:
        yield
    finally:
        signal.signal(STOP, signal.SIG_IGN)


def _tell(answers: BinaryIO, text: str) -> None:
    _send(answers, {"kind": "progress", "text": text})


def _send(answers: BinaryIO, said: dict, blobs: list[bytes] | tuple = ()) -> None:
    answers.write(frame_bytes(said, blobs))
    answers.flush()


if __name__ == "__main__":
    if STOP is not None:
        signal.signal(STOP, signal.SIG_IGN)
    main(sys.argv[1])
