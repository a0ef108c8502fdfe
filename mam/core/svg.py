"""Lines as SVG, each in its own colour: files and views in notebooks."""

import re
from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np
from jaxtyping import Float

# What XML has no characters for: control codes, and bytes of file names that are no text.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_UNKNOWN = "\ufffd"

Line = Float[np.ndarray, "_ 2"]

# Colours that stay apart for most colour-blind eyes (Okabe and Ito), then greys.
PALETTE = np.array(
    [
        [230, 159, 0],
        [86, 180, 233],
        [0, 158, 115],
        [240, 228, 66],
        [0, 114, 178],
        [213, 94, 0],
        [204, 121, 167],
        [150, 150, 150],
    ],
    np.uint8,
)


def as_svg(
    shape: tuple[int, int],
    lines: Sequence[Line],
    title: str,
    widths: Sequence[float] | None = None,
) -> str:
    """Return an SVG with one path a curve, in pixels of the picture, as wide as it is if given.

    >>> print(as_svg((9, 9), [np.array([[0.0, 1.0], [2.0, 3.0]])], "one", [2.5]))
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 9 9">
    <title>one</title>
    <g fill="none" stroke-linecap="round" stroke-linejoin="round">
    <path id="curve-1" stroke="#e69f00" stroke-width="2.50" d="M1.00,0.00 L3.00,2.00"/>
    </g>
    </svg>
    """
    rows, cols = shape
    wide = [""] * len(lines) if widths is None else [f' stroke-width="{w:.2f}"' for w in widths]
    curves = [
        f'<path id="curve-{number + 1}" stroke="{_hex(number)}"{own} d="{_course(line)}"/>'
        for number, (line, own) in enumerate(zip(lines, wide, strict=True))
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 {cols} {rows}">',
            f"<title>{escape(_NOT_XML.sub(_UNKNOWN, title))}</title>",
            '<g fill="none" stroke-linecap="round" stroke-linejoin="round">',
            *curves,
            "</g>",
            "</svg>",
        ]
    )


def _hex(number: int) -> str:
    return "#" + bytes(PALETTE[number % len(PALETTE)]).hex()


def _course(line: Line) -> str:
    closed = len(line) > 2 and bool((line[0] == line[-1]).all())
    points = [f"{col:.2f},{row:.2f}" for row, col in (line[:-1] if closed else line)]
    return "M" + " L".join(points) + (" Z" if closed else "")
