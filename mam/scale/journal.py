"""The journal of a shard that killed a worker: what was begun there, and what came of it.

The file is beside the shard's own as long as that is not written. It has a line for each attempt,
and, from the second one on, where items are done one by one, a line before each and one after it.
An item that was begun twice and never done is the one that kills: it is set aside.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

from mam.scale.job import ItemAnswer

_STRIKES = 2


class Journal:
    """The journal of one shard; every line is on the disk before work goes on."""

    def __init__(self, folder: Path, file: str) -> None:
        self.path = folder / f".{file}.journal"
        self.dump = folder / f".{file}.late"  # what an item was at when its time was over
        self._done: dict[str, ItemAnswer] = {}
        self._begun: dict[str, int] = {}
        self.attempts = 0
        for line in self._lines():
            if "done" in line:
                self._done[line["done"]] = ItemAnswer(line["value"], line["error"])
            elif "begin" in line:
                self._begun[line["begin"]] = self._begun.get(line["begin"], 0) + 1
            else:
                self.attempts += 1

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = self.path.read_text()
        except FileNotFoundError:
            return []
        found = []
        for line in text.splitlines():
            try:
                found.append(json.loads(line))
            except ValueError:  # the worker was killed as it wrote it
                continue
        return found

    def _add(self, **about: Any) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(about) + "\n")
            file.flush()
            os.fsync(file.fileno())

    @property
    def progress(self) -> int:
        """How many items were begun or done, one by one."""
        return len(self._done) + sum(self._begun.values())

    def attempt(self) -> None:
        """A worker begins the shard."""
        self._add(attempt=os.getpid(), at=time.time())

    def begin(self, name: str) -> None:
        """A worker begins an item."""
        self._add(begin=name)

    def finish(self, name: str, answer: ItemAnswer) -> None:
        """The item is done."""
        self._add(done=name, value=answer.value, error=answer.error)

    def known(self, name: str, seconds: float) -> ItemAnswer | None:
        """The answer to an item, if it has one, or if it is to be set aside."""
        if name in self._done:
            return self._done[name]
        if self._begun.get(name, 0) < _STRIKES:
            return None
        late = self.dump.exists() and self.dump.stat().st_size > 0
        why = f"it took more than {seconds:g} s" if late else "its worker died"
        return ItemAnswer(None, f"set aside: {why}, twice")

    def remove(self) -> None:
        """The shard is written: nobody needs it any more."""
        self.path.unlink(missing_ok=True)
        self.dump.unlink(missing_ok=True)
