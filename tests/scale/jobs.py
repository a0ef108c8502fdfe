"""Jobs for the tests: quick ones, and ones that do what must not be done to a worker."""

import errno
import os
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mam.scale import Item, ItemAnswer
from mam.scale.job import AnswerItems


@dataclass(frozen=True)
class SizeJob:
    """The size of each file; some files have names that mean harm."""

    marks: str  # a folder in which workers leave marks
    slow: float = 0.0
    batch: int = 4
    models: tuple[str, ...] = ()

    def settings(self) -> Mapping[str, Any]:
        return {key: value for key, value in asdict(self).items() if key != "slow"}

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        return self._all

    def _all(self, items: Sequence[Item]) -> list[ItemAnswer]:
        return [self._one(item.value) for item in items]

    def _one(self, path: Path) -> ItemAnswer:
        time.sleep(self.slow)
        self._mark(f"seen-{os.getpid()}")
        if "poison" in path.name:
            os.kill(os.getpid(), signal.SIGKILL)
        if "endless" in path.name:
            time.sleep(3600)
        if "once" in path.name and self._mark(f"once-{path.name}"):
            os.kill(os.getpid(), signal.SIGKILL)
        if "stop" in path.name and self._mark(f"stop-{path.name}"):
            os.kill(os.getpid(), signal.SIGSTOP)
        if "full" in path.name and self._mark(f"full-{path.name}"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if "brimful" in path.name and not (Path(self.marks) / "room").exists():
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        if "bad" in path.name:
            return ItemAnswer(None, f"{path.name}: cannot be read")
        return ItemAnswer({"name": path.name, "bytes": path.stat().st_size})

    def _mark(self, name: str) -> bool:
        """Leave a mark; whether it is the first of its name."""
        try:
            (Path(self.marks) / name).touch(exist_ok=False)
        except FileExistsError:
            return False
        return True
