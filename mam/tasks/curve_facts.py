"""What can be measured on the curves of a drawing."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.tasks.drawing import Drawing, line_length
from mam.vision.curves.crossings import count_by_line, find_crossings


@dataclass(frozen=True, eq=False)
class CurveFacts:
    """One curve of a drawing; all lengths in pixels of the picture."""

    number: int  # from 1, longest first
    line: Float[np.ndarray, "points 2"]
    closed: bool
    length: float
    width: float | None  # mean; None where the grouping is not at hand
    crossings: int  # with others and with itself
    pieces: int
    weakest: float | None  # margin of its weakest link; None if it has none


def curve_facts(drawing: Drawing) -> list[CurveFacts]:
    """Measure every curve."""
    crossings = count_by_line(find_crossings(drawing.lines), len(drawing.lines))
    found, order = drawing.found, list(drawing.order)
    widths = None if found is None else found.widths / drawing.scale
    facts = []
    for at, line in enumerate(drawing.lines):
        chain = None if found is None else found.chains[order[at]]
        facts.append(
            CurveFacts(
                number=at + 1,
                line=line,
                closed=bool(len(line) > 2 and (line[0] == line[-1]).all()),
                length=line_length(line),
                width=None if widths is None else float(widths[order[at]]),
                crossings=int(crossings[at]),
                pieces=0 if chain is None else len(chain.strokes),
                weakest=None if chain is None else _weakest(drawing, chain.strokes),
            )
        )
    return facts


def _weakest(drawing: Drawing, strokes: np.ndarray) -> float | None:
    found = drawing.found
    assert found is not None
    mine = found.on & np.isin(found.links.stroke, strokes).all(1)
    return float(found.belief[mine].min()) if mine.any() else None
