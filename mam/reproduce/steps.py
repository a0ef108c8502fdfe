"""Steps of a long experiment that are kept: a run that was interrupted goes on where it stopped."""

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mam import __version__
from mam.core.json_text import read_json
from mam.core.progress import Advance
from mam.core.whole_files import write_whole

Work = Callable[[Path, Advance], Any]  # given its file and told-how-many-rows; returns JSON


@dataclass(frozen=True, eq=False)
class Step:
    """A piece of work whose outcome depends on its settings alone."""

    name: str  # a few words, for the file and the progress bar
    settings: Mapping[str, Any]  # as JSON; the settings of the steps it builds on among them
    work: Work
    rows: int = 1  # that it will tell of
    cost: float = 1.0  # seconds that a row takes, roughly: for the time left
    suffix: str = ""  # of the file that it writes, if any
    needs: tuple["Step", ...] = ()  # steps that come before

    @cached_property
    def stem(self) -> str:
        """The name of its files: words, and a digest of the settings and of the version.

        >>> Step("learn hard, 50 images", {"rows": 50}, lambda path, advance: 0).stem[:-11]
        'learn-hard-50-images'
        """
        about = json.dumps([__version__, self.settings], sort_keys=True)
        words = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")
        return f"{words}-{hashlib.sha256(about.encode()).hexdigest()[:10]}"


class Record(NamedTuple):
    """What a finished step left."""

    result: Any
    seconds: float


@dataclass(frozen=True)
class StepFolder:
    """A folder of finished steps. A step is done when its record, a JSON file, is there.

    >>> import tempfile
    >>> store = StepFolder(Path(tempfile.mkdtemp()))
    >>> for seed in (1, 1, 2):
    ...     step = Step("add", {"seed": seed}, lambda path, advance: print("adding") or 1 + seed)
    ...     print(store.run(step).result)
    adding
    2
    2
    adding
    3
    """

    folder: Path

    def file(self, step: Step) -> Path:
        """Where the step's own file is, or will be."""
        return self.folder / (step.stem + step.suffix)

    def files(self, step: Step) -> tuple[Path, Path]:
        """Its own file, which not every step has, and its record."""
        return self.file(step), self._record_path(step)

    def record(self, step: Step) -> Record | None:
        """What the step left, or None while it is still to be done, or its record is damaged."""
        path = self._record_path(step)
        if not path.is_file() or (step.suffix and not self.file(step).is_file()):
            return None
        return _record_in(path)

    def damaged(self, step: Step) -> Path | None:
        """The file that should be the step's record and is none, if there is one."""
        path = self._record_path(step)
        return path if path.is_file() and _record_in(path) is None else None

    def result(self, step: Step) -> Any:
        """The result of a step that must be done already."""
        found = self.record(step)
        if found is None:
            raise ValueError(f"{self.folder}: the step {step.name!r} is not done yet")
        return found.result

    def run(self, step: Step, advance: Advance = lambda rows: None) -> Record:
        """Do the step, unless it is done."""
        found = self.record(step)
        if found is not None:
            return found
        start = time.perf_counter()
        result = step.work(self.file(step), advance)
        seconds = time.perf_counter() - start
        about = {
            "step": step.name,
            "version": __version__,
            "settings": step.settings,
            "seconds": round(seconds, 3),
            "result": result,
        }
        write_whole(self._record_path(step), json.dumps(about, allow_nan=False).encode())
        return Record(result, round(seconds, 3))

    def seconds(self, steps: Sequence[Step]) -> float:
        """The time that finished steps took when they were done."""
        return sum(found.seconds for step in steps if (found := self.record(step)))

    def _record_path(self, step: Step) -> Path:
        return self.folder / f"{step.stem}.json"


def _record_in(path: Path) -> Record | None:
    """A record from its file; None where that is torn, garbage, or lacks what a record has."""
    try:
        found = read_json(path)
        return Record(found["result"], float(found["seconds"]))
    except (ValueError, KeyError, TypeError, OverflowError):
        return None


def distinct(steps: Sequence[Step]) -> list[Step]:
    """Each step once: two figures may rest on the same one."""
    return list({step.stem: step for step in steps}.values())


def with_needs(step: Step) -> list[Step]:
    """The step after all that it builds on."""
    return [*(one for need in step.needs for one in with_needs(need)), step]
