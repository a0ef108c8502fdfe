"""Elastic graphs at rest, with the radii of their edges, as inline SVG."""

from mam.vision.elastic.bank import Bank

_ROOM = 8  # px around the graph


def graph_svg(bank: Bank, graph: int) -> str:
    """Draw a graph; an edge without a number has radius 1 (as in the paper's figure 2).

    >>> import numpy as np
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
