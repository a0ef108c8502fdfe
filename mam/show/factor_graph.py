"""A picture of a factor graph: circles, hexagons (attention) and squares (factors)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.graph import FactorGraph
from mam.show.node_layout import layout, widest_gap

_LARGEST = 400
_INCHES = 0.8  # on paper, for one edge of the graph
_INK, _PALE, _EDGE = "#1f2933", "#b8c2cc", "#7b8794"
_MARKERS = ("o", "#cfe3ff"), ("h", "#ffd76a"), ("s", "#52606d")
_SIZES = 640, 760, 80  # squared points
_LONGEST = 5  # letters that fit into a node


@dataclass(frozen=True)
class _Nodes:
    """Variables, then factors: what is drawn, with the names that fit."""

    kinds: np.ndarray  # 0 regular, 1 attention, 2 factor
    names: list[str]  # short: the index alone where a group has several members
    groups: dict[str, int]  # names of groups with several members, with their kind
    links: np.ndarray  # (edges, 2): variable, factor


def draw_factor_graph(
    graph: FactorGraph, is_attention: np.ndarray, axes: Any = None, values: Any = None
) -> Any:
    """Draw a graph of at most a few hundred nodes; return the matplotlib axes.

    With ``values``, the states of all variables, what is OFF is pale, and the edges of attention
    variables that are OFF are dotted: they carry nothing.
    """
    nodes = _collect(graph, is_attention)
    if len(nodes.kinds) > _LARGEST:
        raise ValueError(
            f"a graph of {len(nodes.kinds)} nodes is too large to draw; {_LARGEST} are legible"
        )
    place = layout(len(nodes.kinds), nodes.links)
    if axes is None:
        axes = _fresh_axes(place)
    off = np.zeros(len(nodes.kinds), bool)
    if values is not None:
        off[: len(graph.states)] = np.asarray(values) == 0
    _draw_links(axes, nodes, place, off)
    _draw_nodes(axes, nodes, place, off)
    _draw_names(axes, nodes, place, off)
    _draw_legend(axes, nodes)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_xlim(place[:, 0].min(initial=0) - 0.8, place[:, 0].max(initial=0) + 0.8)
    axes.set_ylim(place[:, 1].min(initial=0) - 0.7, place[:, 1].max(initial=0) + 0.7)
    return axes


def draw_dependences(
    names: Sequence[str], is_attention: np.ndarray, pairs: np.ndarray, axes: Any
) -> Any:
    """Draw which variables depend on each other given all others; return the matplotlib axes."""
    nodes = _Nodes(np.asarray(is_attention, int), list(names), {}, np.asarray(pairs))
    place, off = layout(len(names), nodes.links), np.zeros(len(names), bool)
    _draw_links(axes, nodes, place, off)
    _draw_nodes(axes, nodes, place, off)
    _draw_names(axes, nodes, place, off)
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.2)
    return axes


def _collect(graph: FactorGraph, is_attention: np.ndarray) -> _Nodes:
    names: list[str] = []
    groups: dict[str, int] = {}
    links = [np.zeros((0, 2), np.int64)]
    for group in graph.variables:
        single = group.size == 1
        names += [
            group.name if single else group.label(int(v))[len(group.name) + 1 : -1]
            for v in group.ids.ravel()
        ]
        if not single and group.size:
            groups[f"{group.name}[i]"] = int(is_attention[group.start])
    for name, factors in graph.factors:
        scopes = factors.scopes()
        links.append(np.stack([scopes.values, scopes.row_of_value + len(names)], 1))
        names += [name] if len(factors) == 1 else [""] * len(factors)
        if len(factors) > 1:
            groups[f"factors {name!r}"] = 2
    kinds = np.full(len(names), 2)
    kinds[: len(graph.states)] = np.asarray(is_attention, int)
    return _Nodes(kinds, names, groups, np.concatenate(links))


def _fresh_axes(place: np.ndarray) -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ValueError(
            "matplotlib is not installed: pip install markov-attention[draw]"
        ) from None

    wide, high = np.ptp(place, axis=0) if len(place) else (1.0, 1.0)
    size = _INCHES * (wide + 2), _INCHES * (high + 2)
    return plt.subplots(figsize=size, layout="constrained")[1]


def _draw_links(axes: Any, nodes: _Nodes, place: np.ndarray, off: np.ndarray) -> None:
    for variable, factor in nodes.links:
        cut = off[variable] and nodes.kinds[variable] == 1
        axes.plot(
            *place[[variable, factor]].T,
            color=_PALE if cut else _EDGE,
            lw=1.2,
            ls=":" if cut else "-",
            zorder=1,
        )


def _draw_nodes(axes: Any, nodes: _Nodes, place: np.ndarray, off: np.ndarray) -> None:
    for kind, (marker, colour) in enumerate(_MARKERS):
        for hidden in (False, True):
            chosen = place[(nodes.kinds == kind) & (off == hidden)]
            axes.scatter(
                *chosen.T,
                s=_SIZES[kind],
                marker=marker,
                c="white" if hidden else colour,
                edgecolors=_PALE if hidden else _INK,
                linewidths=1.1,
                zorder=2,
            )


def _draw_names(axes: Any, nodes: _Nodes, place: np.ndarray, off: np.ndarray) -> None:
    """Short names stand inside their nodes, others beside them, where no edge goes."""
    for number, name in enumerate(nodes.names):
        inside = nodes.kinds[number] != 2 and len(name) <= _LONGEST
        if inside:
            size = 10 if len(name) <= 3 else 7
            ink = _EDGE if off[number] else _INK
            axes.text(
                *place[number], name, ha="center", va="center", fontsize=size, color=ink, zorder=4
            )
            continue
        near = nodes.links[(nodes.links == number).any(1)]
        ends = place[near.ravel()[near.ravel() != number]] - place[number]
        across, up = widest_gap(ends)
        away = 9 if nodes.kinds[number] == 2 else 17
        axes.annotate(
            name,
            place[number],
            (away * across, away * up),
            textcoords="offset points",
            ha=_side(across, ("right", "center", "left")),
            va=_side(up, ("top", "center", "bottom")),
            fontsize=8,
            color=_EDGE if off[number] else _INK,
            zorder=3,
            bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.8},
        )


def _side(direction: float, sides: Sequence[str]) -> str:
    return sides[1 + int(direction > 0.5) - int(direction < -0.5)]


def _draw_legend(axes: Any, nodes: _Nodes) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for kind, what in enumerate(("regular", "attention", "factor")):
        if not np.any(nodes.kinds == kind):
            continue
        own = ", ".join(name for name, group_kind in nodes.groups.items() if group_kind == kind)
        marker, colour = _MARKERS[kind]
        label = f"{what}: {own}" if own and kind != 2 else own or what
        handles.append(
            Line2D([], [], ls="", marker=marker, ms=7, mfc=colour, mec=_INK, mew=0.8, label=label)
        )
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.02),
        ncols=len(handles) or 1,
        frameon=False,
        fontsize=8,
        handletextpad=0.2,
        columnspacing=1.4,
    )
