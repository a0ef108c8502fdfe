"""The journal of a shard that killed a worker: what was begun there, and what came of it.

The file is beside the shard's own as long as that is not written. It has a line for each attempt,
and, from the second one on, where items are done one by one, a line before each and one after it.
An item that was begun twice and never done is the one that kills: it is set aside.

Lines of another run say nothing of this one, and only what befell while this client ran counts
against an item: who stops a run ends its workers too.
"""

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

from mam.core.faults import renamed
from mam.core.json_text import parse_json
from mam.core.limits import ANSWER_CHARACTERS, JSON_DEPTH
from mam.core.whole_files import reason_of
from mam.scale.answers import aside
from mam.scale.job import ItemAnswer

_STRIKES = 2


class RunName(NamedTuple):
    """Which run, and which time that it was started."""

    fingerprint: str
    session: str


class Journal:
    """The journal of one shard; every line is on the disk before work goes on."""

    def __init__(self, folder: Path, file: str, run: RunName) -> None:
        self.path = folder / f".{file}.journal"
        self.dump = folder / f".{file}.late"  # what an item was at when its time was over
        self.run = run
        self._done: dict[str, ItemAnswer] = {}
        self._begun: dict[str, int] = {}
        self.attempts = 0  # in this session
        for line in self._lines():
            self._heed(line)

    def _heed(self, line: dict[str, Any]) -> None:
        """Take a line into account; what is none of ours says nothing."""
        if line.get("run") != self.run.fingerprint:
            return
        match line:
            case {"done": str(name), "value": dict() | None as value, "error": str() | None as why}:
                self._done[name] = ItemAnswer(value, why)
            case {"session": self.run.session, "begin": str(name)}:
                self._begun[name] = self._begun.get(name, 0) + 1
            case {"session": self.run.session, "excused": str(name)}:
                self._begun[name] = self._begun.get(name, 0) - 1
            case {"session": self.run.session, "attempt": _}:
                self.attempts += 1

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = self.path.read_text(errors="replace")
        except FileNotFoundError:
            return []
        found = []
        for line in text.splitlines():
            try:
                # A line holds an answer, which may have the most that is allowed.
                found.append(parse_json(line, 2 * ANSWER_CHARACTERS, JSON_DEPTH + 1))
            except ValueError:  # the worker was killed as it wrote it
                continue
        return [line for line in found if isinstance(line, dict)]

    def _add(self, **about: Any) -> None:
        known = {"run": self.run.fingerprint, "session": self.run.session}
        line = json.dumps(known | about)
        try:
            with self.path.open("a") as file:
                file.write(f"\n{line}\n")  # the line before may be torn
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            text = f"{self.path}: cannot be written ({reason_of(error)})"
            raise renamed(error, text) from None

    @property
    def careful(self) -> bool:
        """Whether items are to be done one by one: some are done so, or an attempt was in vain."""
        return bool(self._done) or self.attempts > 0

    @property
    def progress(self) -> int:
        """How many items were begun or done, one by one."""
        return len(self._done) + sum(self._begun.values())

    def attempt(self) -> None:
        """A worker begins the shard."""
        self._add(attempt=os.getpid())

    def begin(self, name: str) -> None:
        """A worker begins an item."""
        self.dump.unlink(missing_ok=True)
        self._add(begin=name)

    def excuse(self, name: str) -> None:
        """What befell is no fault of the item: it was not begun after all."""
        self._add(excused=name)

    def finish(self, name: str, answer: ItemAnswer) -> None:
        """The item is done."""
        self._add(done=name, value=answer.value, error=answer.error)

    def known(self, name: str, seconds: float | int) -> ItemAnswer | None:
        """The answer to an item, if it has one, or if it is to be set aside."""
        if name in self._done:
            return self._done[name]
        if self._begun.get(name, 0) < _STRIKES:
            return None
        # The dump is of the item that was begun last, which is this one.
        late = self.dump.exists() and self.dump.stat().st_size > 0
        found = aside(
            f"it took more than {seconds:g} s, twice" if late else "its worker died, twice"
        )
        self.finish(name, found)
        return found

    def remove(self) -> None:
        """The shard is written: nobody needs it any more."""
        self.path.unlink(missing_ok=True)
        self.dump.unlink(missing_ok=True)
