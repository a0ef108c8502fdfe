"""The paper's picture of two lines: what is seen, the interaction graph, and two of its factors."""

from typing import Any

import numpy as np

from mam.reproduce.toy_models import ROWS, SEGMENTS, interactions, lateral

_INK, _SOFT = "#1f2933", "#9aa5b1"
_PART, _ATTENTION, _FACTOR = "#cfe3ff", "#ffd76a", "#52606d"
_SEGMENT = 1.0, 0.16  # length and width of one
_APART = 3.2  # between the middles of the two columns
_ROW = 1.3  # between rows


def draw_setting(axes: Any) -> None:
    """The segments, and dotted what may continue what."""
    from matplotlib.patches import Rectangle

    place = _segment_places()
    long, wide = _SEGMENT
    for one, other in lateral():
        ends = place[[one, other]] + [[long / 2, 0], [-long / 2, 0]]
        axes.plot(*ends.T, ":", color=_SOFT, lw=1.4, zorder=1)
    for number, (x, y) in enumerate(place):
        axes.add_patch(Rectangle((x - long / 2, y - wide / 2), long, wide, color=_INK))
        axes.text(x, y + 0.2, name_of(number), ha="center", fontsize=10, color=_INK)
    _finish(axes, "Segments and what may continue them")


def draw_interactions(axes: Any) -> None:
    """The vertices are parts, the edges attention variables."""
    middle = -_ROW * (ROWS - 1) / 2
    lines = np.array([[-1.9, middle], [_APART + 1.9, middle]])
    place = np.concatenate([_segment_places(), lines])
    edges = interactions()[0]
    for one, other in edges:
        across = min(one, other) < SEGMENTS <= max(one, other)
        axes.plot(*place[[one, other]].T, color=_SOFT if across else _INK, lw=1.0, zorder=1)
    axes.scatter(*place.T, s=560, c=_PART, edgecolors=_INK, linewidths=1.1, zorder=2)
    for number, at in enumerate(place):
        axes.text(*at, name_of(number), ha="center", va="center", fontsize=10, zorder=3)
    _finish(axes, f"Interaction graph: {len(place)} parts, {len(edges)} attention variables")


def draw_factor(part: int, axes: Any) -> None:
    """The factor of a part: its attention variables by group, of which all or none have one ON."""
    from matplotlib.patches import FancyBboxPatch

    groups = _groups_of(part)
    reach = max(map(len, groups)) - 1
    axes.plot([0, 0], [0, 1.6], color=_SOFT, zorder=1)
    axes.scatter([0], [1.6], s=560, c=_PART, edgecolors=_INK, zorder=2)
    axes.text(0, 1.6, name_of(part), ha="center", va="center", fontsize=10, zorder=3)
    axes.scatter([0], [0], s=90, marker="s", c=_FACTOR, zorder=2)
    for side, others in zip((-1, 1), groups, strict=True):
        x = side * 2.4
        rows = (np.arange(len(others)) - (len(others) - 1) / 2) * -0.95
        edge = FancyBboxPatch(
            (x - 0.62, rows.min() - 0.52),
            1.24,
            float(np.ptp(rows)) + 1.04,
            "round,pad=0.04",
            fill=False,
            ec=_SOFT,
            ls="--",
        )
        axes.add_patch(edge)
        for other, y in zip(others, rows, strict=True):
            axes.plot([0, x], [0, y], color=_SOFT, lw=1.0, zorder=1)
            axes.scatter([x], [y], s=900, marker="h", c=_ATTENTION, edgecolors=_INK, zorder=2)
            axes.text(x, y, name_of(other), ha="center", va="center", fontsize=9, zorder=3)
    axes.set_xlim(-3.4, 3.4)
    axes.set_ylim(-reach / 2 - 0.9, max(reach / 2 + 0.9, 2.2))
    _finish(axes, f"Factor of {name_of(part)}: patterns 00 and 11")


def _groups_of(part: int) -> list[list[int]]:
    """The other ends of a part's attention variables, group by group.

    >>> _groups_of(SEGMENTS), _groups_of(3)
    ([[0, 2, 4, 6], [1, 3, 5, 7]], [[8, 9], [0, 2, 4]])
    """
    found: list[list[int]] = [[], []]
    for edge, sides in zip(*interactions(), strict=True):
        if part in edge:
            mine = edge.index(part)
            found[sides[mine]].append(edge[1 - mine])
    return found


def _segment_places() -> np.ndarray:
    return np.array([(s % 2 * _APART, -_ROW * (s // 2)) for s in range(SEGMENTS)], float)


def name_of(part: int) -> str:
    """Row and column of a segment, from 1 on, or the number of a line.

    >>> name_of(0), name_of(3), name_of(SEGMENTS + 1)
    ('v11', 'v22', 'P2')
    """
    if part >= SEGMENTS:
        return f"P{part - SEGMENTS + 1}"
    return f"v{part // 2 + 1}{part % 2 + 1}"


def _finish(axes: Any, title: str) -> None:
    axes.set_title(title, fontsize=11)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.12)
