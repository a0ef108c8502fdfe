"""Lines of JSON from another process, each awaited for a limited time."""

import json
import os
import select
import subprocess

from mam.infer.deadline import Deadline

_LOOK = 0.2  # seconds between looks whether somebody gave up


class Reports:
    """The lines that a process writes to its standard output."""

    def __init__(self, process: subprocess.Popen) -> None:
        assert process.stdout is not None
        self.process = process
        self.ended = False  # whether the process has closed its output
        self._pipe = process.stdout.fileno()
        self._rest = b""
        self._poll = select.poll()
        self._poll.register(self._pipe, select.POLLIN)

    def next(self, until: Deadline) -> dict | None:
        """Return the next report, or None if there is none until then."""
        while b"\n" not in self._rest:
            while not self.ended and not self._wait(until):
                if until.over:
                    return None
            if self.ended:
                return None
            got = os.read(self._pipe, 1 << 20)
            self.ended = not got
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _wait(self, until: Deadline) -> bool:
        left = max(0.0, until.left)
        # Another thread may give up meanwhile.
        return bool(self._poll.poll(1000 * min(left, _LOOK)))
