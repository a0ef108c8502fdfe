"""Polylines as SVG, each in its own colour: files and views in notebooks."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

import numpy as np
from jaxtyping import Float

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


def as_svg(shape: tuple[int, int], lines: Sequence[Line], title: str) -> str:
    """Return an SVG with one polyline a curve, in pixels of the picture.

    >>> print(as_svg((9, 9), [np.array([[0.0, 1.0], [2.0, 3.0]])], "one"))
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 9 9">
    <title>one</title>
    <g fill="none" stroke-linecap="round" stroke-linejoin="round">
    <polyline id="curve-1" stroke="#e69f00" points="1.00,0.00 3.00,2.00"/>
    </g>
    </svg>
    """
    rows, cols = shape
    curves = [
        f'<polyline id="curve-{number + 1}" stroke="{_hex(number)}" points="{_points(line)}"/>'
        for number, line in enumerate(lines)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-0.5 -0.5 {cols} {rows}">',
            f"<title>{escape(title)}</title>",
            '<g fill="none" stroke-linecap="round" stroke-linejoin="round">',
            *curves,
            "</g>",
            "</svg>",
        ]
    )


def _hex(number: int) -> str:
    return "#" + bytes(PALETTE[number % len(PALETTE)]).hex()


def _points(line: Line) -> str:
    return " ".join(f"{col:.2f},{row:.2f}" for row, col in line)
