"""How a file is answered, and what that costs."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

MOST_SECONDS = 2.0  # of CPU time
MOST_BYTES = 500e6
_STATUS, _RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def answer(read: Callable[[Path], Any], path: Path, most_text: int = 1500) -> str:
    """How a file or a folder is answered: read, or refused by its name, in time and memory.

    Fails where that is neither content nor a clear error.
    """
    began, before = time.process_time(), _begun()
    try:
        read(path)
        said = "read"
    except (ValueError, OSError) as error:
        assert str(path) in str(error), repr(error)
        assert len(str(error)) < most_text
        said = "refused"
    assert time.process_time() - began < MOST_SECONDS
    if before is not None:
        assert _kept("VmHWM") - before < MOST_BYTES
    return said


def _begun() -> int | None:
    """The memory that is in use, from which on the peak is measured anew; None where it cannot be.

    The peak of a whole process only rises: whatever came after the largest would pass unseen.
    """
    try:
        _RESET.write_text("5")
    except OSError:
        return None
    return _kept("VmRSS")


def _kept(name: str) -> int:
    [line] = [line for line in _STATUS.read_text().splitlines() if line.startswith(f"{name}:")]
    return 1024 * int(line.split()[1])
