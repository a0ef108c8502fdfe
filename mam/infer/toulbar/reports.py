"""Lines of JSON from another process, each awaited for a limited time."""

import json
import math
import os
import select
import subprocess
import time


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

    def next(self, until: float) -> dict | None:
        """Return the next report, or None if there is none until then, by ``time.monotonic``."""
        while b"\n" not in self._rest:
            if self.ended or not self._wait(until):
                return None
            got = os.read(self._pipe, 1 << 20)
            self.ended = not got
            self._rest += got
        line, _, self._rest = self._rest.partition(b"\n")
        return json.loads(line)

    def _wait(self, until: float) -> bool:
        left = max(0.0, until - time.monotonic())
        # A wait of more than a day would not fit into the milliseconds of the system.
        return bool(self._poll.poll(None if math.isinf(left) else min(left, 86400.0) * 1000))
