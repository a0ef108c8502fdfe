"""What can be measured on the curves of a grouping."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float

from mam.core.svg import Line
from mam.vision.curves.crossings import count_by_line, find_crossings
from mam.vision.curves.line_forms import is_closed, line_length

if TYPE_CHECKING:
    from mam.vision.curves.answer import Grouped


@dataclass(frozen=True, eq=False)
class CurveFacts:
    """One curve; all lengths in pixels."""

    number: int  # from 1
    line: Float[np.ndarray, "points 2"]
    closed: bool
    length: float
    width: float  # mean
    crossings: int  # with others and with itself
    pieces: int
    weakest: float | None  # margin of its weakest link; None if it has none
    proof: str | None  # how it is known that the grouping is the best one, or None


def measured(
    found: "Grouped", lines: Sequence[Line], order: Sequence[int], scale: float = 1.0
) -> list[CurveFacts]:
    """Measure lines, of which each is a chain of a grouping; that of a picture of some scale."""
    crossings = count_by_line(find_crossings(lines), len(lines))
    widths = found.widths / scale
    return [
        CurveFacts(
            number=at + 1,
            line=line,
            closed=is_closed(line),
            length=line_length(line),
            width=float(widths[chain]),
            crossings=int(crossings[at]),
            pieces=len(found.chains[chain].strokes),
            weakest=_weakest(found, found.chains[chain].strokes),
            proof=found.whole_proof,
        )
        for at, (line, chain) in enumerate(zip(lines, order, strict=True))
    ]


def _weakest(found: "Grouped", strokes: np.ndarray) -> float | None:
    mine = found.on & np.isin(found.links.stroke, strokes).all(1)
    return float(found.belief[mine].min()) if mine.any() else None


def table_of(facts: Sequence[CurveFacts], unit: float = 1.0) -> dict[str, list]:
    """The columns of a table with a row a curve; a pixel is as long as ``unit``."""
    ends = [(one.line[0], one.line[-1]) for one in facts]
    return {
        "curve": [one.number for one in facts],
        "length": [round(one.length * unit, 4) for one in facts],
        "width": [round(one.width * unit, 4) for one in facts],
        "closed": [one.closed for one in facts],
        "crossings": [one.crossings for one in facts],
        "pieces": [one.pieces for one in facts],
        "margin": [_finite(one.weakest) for one in facts],
        "certificate": [one.proof for one in facts],
        "start_row": [round(float(start[0]), 2) for start, _ in ends],
        "start_column": [round(float(start[1]), 2) for start, _ in ends],
        "end_row": [round(float(stop[0]), 2) for _, stop in ends],
        "end_column": [round(float(stop[1]), 2) for _, stop in ends],
    }


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else round(value, 4)
