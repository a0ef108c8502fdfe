"""A folder of answers: what was done before is not done again, and one table has all curves."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mam.commands.group.group_outputs import OutputPlan
from mam.commands.group.hints import Hints
from mam.commands.pictures import called
from mam.commands.shard_jobs import GroupJob
from mam.core.json_text import read_json
from mam.core.whole_files import write_whole
from mam.core.words import STANDARD_INPUT

if TYPE_CHECKING:
    from mam.tasks.drawing import Drawing

_TABLE, _ERRORS = "curves.csv", "errors.csv"
# How the tables begin that are written here; others of these names are not ours to change.
_BEGIN = {_TABLE: (b"picture\n", b"picture,curve,length,width,"), _ERRORS: (b"picture,error\n",)}
_MADE, _ROWS = "made", "table"  # entries of an answer: what it was made from, rows of the table


@dataclass(frozen=True)
class Kept:
    """The answers in a folder, and what went wrong in this run."""

    plan: OutputPlan
    settings: bytes  # all that an answer depends on, but for the picture
    errors: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: OutputPlan, job: GroupJob, known: Hints, models: Sequence[Path]) -> "Kept":
        """The folder of a plan, for answers with some settings."""
        from mam import __version__
        from mam.data.outputs import CSV, check_outputs

        assert plan.folder is not None
        check_outputs({CSV: [plan.folder / _TABLE, plan.folder / _ERRORS]})
        for name, ours in _BEGIN.items():
            _refuse_others(plan.folder / name, ours)
        about = [__version__, asdict(job), known]
        digests = [hashlib.sha256(one.read_bytes()).hexdigest() for one in models]
        return cls(plan, json.dumps([about, digests]).encode())

    def _digest(self, picture: Path) -> str | None:
        """Of the picture and the settings; None for what can be read only once."""
        if str(picture) == STANDARD_INPUT or not picture.is_file():
            return None
        return hashlib.sha256(self.settings + picture.read_bytes()).hexdigest()

    def answer(self, picture: Path) -> dict[str, Any] | None:
        """What an earlier run said of a picture, if it is as it was and all its files are there."""
        found = _read(self.plan.answers[picture])
        there = all(path.exists() for _, path in self.plan.files[picture])
        if found is None or not there or found.get(_MADE) != self._digest(picture):
            return None
        return {key: value for key, value in found.items() if key not in (_MADE, _ROWS)}

    def keep(self, picture: Path, drawing: "Drawing", about: Mapping[str, Any]) -> None:
        """Write an answer, the last of a picture's files."""
        from mam.show.curve_tables import curve_table

        made = {_MADE: self._digest(picture), _ROWS: curve_table(drawing)}
        content = json.dumps({**about, **made}, allow_nan=False) + "\n"
        write_whole(self.plan.answers[picture], content.encode())

    def failed(self, picture: Path, error: str) -> None:
        """Remember why a picture has no answer."""
        self.errors[picture] = error
        if _read(self.plan.answers[picture]) is not None:
            self.plan.answers[picture].unlink()

    def tabulate(self) -> None:
        """Write the table of all curves, and that of errors where there are some."""
        from mam.show.curve_tables import as_csv, table_rows

        assert self.plan.folder is not None
        columns, rows = ["picture"], []
        for picture, path in self.plan.answers.items():
            found = _read(path)
            if found is not None:
                columns = ["picture", *found[_ROWS]]
                rows += [(called(picture), *row) for row in table_rows(found[_ROWS])]
        write_whole(self.plan.folder / _TABLE, as_csv(columns, rows))
        errors = self.plan.folder / _ERRORS
        errors.unlink(missing_ok=True)
        if self.errors:
            told = [(called(picture), error) for picture, error in self.errors.items()]
            write_whole(errors, as_csv(["picture", "error"], told))


def _refuse_others(path: Path, ours: Sequence[bytes]) -> None:
    """Refuse a table that something else wrote: it would be overwritten, or removed."""
    if not path.exists():
        return
    with path.open("rb") as file:
        begin = file.read(max(map(len, ours)))
    if begin and not any(begin.startswith(one) for one in ours):
        raise ValueError(
            f"{path}: is no table of `mam group`, which would overwrite it; move it, or choose "
            "another --out-dir"
        )


def _read(path: Path) -> dict[str, Any] | None:
    """An answer of ours; None where there is none, or something else."""
    try:
        found = read_json(path)
    except (OSError, ValueError):
        return None
    rows = found.get(_ROWS) if isinstance(found, dict) else None
    columns = list(rows.values()) if isinstance(rows, dict) else []
    whole = all(isinstance(one, list) for one in columns)
    return found if whole and len({len(one) for one in columns}) == 1 else None
