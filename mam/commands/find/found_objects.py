"""What `mam find` tells of what it found: lines, JSON, and rows of a table."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from mam.core.words import spreadsheet_text

if TYPE_CHECKING:
    import numpy as np

# The columns of a table; a box is its first row and column, its last row and column.
_COLUMNS = ("picture", "name", "there", "score", "margin", "scale", "pixels")
_BOX = ("top", "left", "bottom", "right")


@dataclass(frozen=True)
class FoundObject:
    """An object that was looked for."""

    line: str  # to read
    name: str
    there: bool
    score: float
    margin: float
    scale: float
    box: tuple[int, int, int, int] | None
    outline: "np.ndarray"
    pixels: int
    more: Mapping[str, object] = field(default_factory=dict)

    def as_dict(self) -> dict[str, object]:
        """What JSON tells; what is infinite is null."""
        return {
            "name": self.name,
            "there": self.there,
            "score": round(self.score, 3),
            "margin": round(self.margin, 3) if math.isfinite(self.margin) else None,
            "scale": round(self.scale, 3),
            "box": self.box,
            "outline": self.outline.round(1).tolist(),
            "pixels": self.pixels,
            **self.more,
        }

    def as_row(self, picture: str) -> dict[str, object]:
        """A row of a table; its outline as `row,column row,column ...`."""
        known = {"picture": picture, **self.as_dict()}
        row = {name: "" if known[name] is None else known[name] for name in _COLUMNS}
        row |= {name: spreadsheet_text(str(row[name])) for name in ("picture", "name")}
        row["there"] = int(self.there)
        box = dict(zip(_BOX, self.box or [""] * 4, strict=True))
        points = " ".join(f"{row:g},{col:g}" for row, col in self.outline.round(1).tolist())
        return {**row, **box, "outline": points}


@dataclass(frozen=True)
class FoundIn:
    """All that was looked for in a picture."""

    picture: str
    kind: str  # what they are called in JSON: matches, objects
    found: Sequence[FoundObject]

    def as_dict(self) -> dict[str, object]:
        """What JSON tells."""
        return {"picture": self.picture, self.kind: [one.as_dict() for one in self.found]}

    def as_json(self) -> str:
        """Return one JSON object."""
        return json.dumps(self.as_dict(), allow_nan=False)

    def as_text(self) -> str:
        """Return a line for each."""
        return "\n".join(f"{self.picture}: {one.line}" for one in self.found)


def write_tables(answers: Sequence[FoundIn], tables: Sequence[Path]) -> None:
    """Write everything that was found: a .json has a list of pictures, a .csv a row an object."""
    import csv
    import io

    from mam.core.whole_files import write_whole

    for path in tables:
        if path.suffix.lower() == ".json":
            text = json.dumps([one.as_dict() for one in answers], indent=1, allow_nan=False) + "\n"
        else:
            out = io.StringIO()
            writer = csv.DictWriter(out, [*_COLUMNS, *_BOX, "outline"])
            writer.writeheader()
            writer.writerows(one.as_row(own.picture) for own in answers for one in own.found)
            text = out.getvalue()
        # Names of files need not be text.
        write_whole(path, text.encode(errors="backslashreplace"))
