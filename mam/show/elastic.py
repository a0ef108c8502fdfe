"""Elastic graphs: matched ones over their image, and one at rest with the radii of its edges."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from mam.show.sheet import Picture, colour_labels
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_match import Match

_SCALE = 3  # px of the picture a px of the image, at most
_SIDE = 1200  # px of the picture, beyond which the image is not enlarged
_DIM = 3  # the image is darkened by this, so that graphs stand out
_DOT = 4  # px of the picture, radius of a vertex
_ROOM = 8  # px around a graph at rest


def draw_matches(image: UInt8[np.ndarray, "rows cols"], matches: Sequence[Match]) -> Picture:
    """Draw every match in its own colour: edges as lines, vertices as dots.

    >>> draw_matches(np.zeros((5, 8), np.uint8), []).shape
    (15, 24, 3)
    """
    scale = min(_SCALE, max(1, _SIDE // max(image.shape)))
    large = np.kron(image // _DIM, np.ones((scale, scale), np.uint8))
    picture = Image.fromarray(np.repeat(large[..., None], 3, axis=2))
    pen = ImageDraw.Draw(picture)
    for number, match in enumerate(matches, 1):
        colour = tuple(int(c) for c in colour_labels(np.full((1, 1), number, np.uint8))[0, 0])
        places = (match.vertices[:, ::-1] * scale + scale // 2).tolist()
        for u, v in match.edges.tolist():
            pen.line([*places[u], *places[v]], fill=colour, width=1)
        for x, y in places:
            pen.ellipse([x - _DOT, y - _DOT, x + _DOT, y + _DOT], outline=colour)
    return np.asarray(picture)


def graph_svg(bank: Bank, graph: int) -> str:
    """Draw a graph at rest, as inline SVG.

    An edge without a number has radius 1 (as in the paper's figure 2).

    >>> from mam.vision.elastic.springs import Edges
    >>> places = [np.array([[0, 0], [0, 9], [9, 9]])]
    >>> bank = Bank.of(places, [Edges(np.array([[0, 1], [1, 2]]), np.array([1, 3]))],
    ...                np.ones((3, 3), bool))
    >>> text = graph_svg(bank, 0)
    >>> text.count("<line"), text.count("<circle"), ">3</text>" in text
    (2, 3, True)
    """
    vertices = bank.vertices[graph, : bank.vertex_count[graph]].astype(float)
    ends = bank.ends[graph, : bank.edge_count[graph]]
    radius = bank.radius[graph, : bank.edge_count[graph]]
    height, width = vertices.max(0) + 2 * _ROOM
    lines, numbers = [], []
    for (u, v), allowed in zip(ends.tolist(), radius.tolist(), strict=True):
        (y1, x1), (y2, x2) = vertices[u], vertices[v]
        lines.append(f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>')
        if allowed > 1:
            x, y = (x1 + x2) / 2, (y1 + y2) / 2
            numbers.append(f'<text x="{x:g}" y="{y + 1.4:g}">{allowed}</text>')
    dots = [f'<circle cx="{x:g}" cy="{y:g}" r="1.5"/>' for y, x in vertices]
    return (
        f'<svg viewBox="{-_ROOM} {-_ROOM} {width:g} {height:g}" role="img" '
        'aria-label="an elastic graph">'
        f'<g stroke="var(--soft)" stroke-width=".5">{"".join(lines)}</g>'
        f'<g fill="var(--series-1)">{"".join(dots)}</g>'
        '<g fill="var(--text)" stroke="var(--card)" stroke-width="1" paint-order="stroke" '
        f'font-size="4.2" text-anchor="middle">{"".join(numbers)}</g></svg>'
    )
