"""A picture of a factor graph: circles, hexagons (attention) and squares (factors)."""

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import shortest_path

from mam.graph import FactorGraph

_LARGEST = 400


def draw_factor_graph(graph: FactorGraph, is_attention: np.ndarray, axes: Any = None) -> Any:
    """Draw a graph of at most a few hundred nodes; return the matplotlib axes."""
    import matplotlib.pyplot as plt

    variables, owner, variable, names = len(graph.states), [], [], []
    for name, factors in graph.factors:
        scopes = factors.scopes()
        owner.append(scopes.row_of_value + variables + len(names))
        variable.append(scopes.values)
        names += [name if len(factors) == 1 else f"{name}[{i}]" for i in range(len(factors))]
    nodes = variables + len(names)
    if nodes > _LARGEST:
        raise ValueError(f"a graph of {nodes} nodes is too large to draw; {_LARGEST} are legible")
    links = np.stack([np.concatenate(variable), np.concatenate(owner)], 1) if names else []
    place = layout(nodes, np.reshape(links, (-1, 2)).astype(int))
    if axes is None:
        axes = plt.subplots(figsize=(7, 5))[1]
    for a, b in np.reshape(links, (-1, 2)).astype(int):
        axes.plot(*place[[a, b]].T, color="#9aa5b1", lw=1, zorder=1)
    kinds = np.array([1 if flag else 0 for flag in is_attention] + [2] * len(names))
    styles = [
        ("o", "#dbeafe", "regular"),
        ("h", "#fde68a", "attention"),
        ("s", "#4b5563", "factor"),
    ]
    for kind, (marker, colour, label) in enumerate(styles):
        chosen = place[kinds == kind]
        size = 90 if kind == 2 else 620
        axes.scatter(
            *chosen.T, s=size, marker=marker, c=colour, edgecolors="#1f2933", label=label, zorder=2
        )
    for number in range(variables):
        axes.text(
            *place[number], graph.label(number), ha="center", va="center", fontsize=8, zorder=3
        )
    for number, name in enumerate(names):
        axes.annotate(
            name,
            place[variables + number],
            (0, -11),
            textcoords="offset points",
            ha="center",
            va="top",
            fontsize=7,
            color="#4b5563",
            zorder=3,
        )
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.margins(0.12)
    return axes


def layout(nodes: int, links: np.ndarray, steps: int = 300) -> np.ndarray:
    """Place nodes so that distances on paper follow distances in the graph (stress descent)."""
    weights = (np.ones(len(links)), (links[:, 0], links[:, 1])) if len(links) else None
    table = coo_matrix(weights, (nodes, nodes)) if weights else coo_matrix((nodes, nodes))
    wanted = shortest_path(table, directed=False, unweighted=True)
    finite = wanted[np.isfinite(wanted)]
    wanted[~np.isfinite(wanted)] = finite.max(initial=1.0) + 1.5
    np.fill_diagonal(wanted, 1.0)
    weight = wanted**-2.0
    np.fill_diagonal(weight, 0.0)
    place = np.random.default_rng(0).normal(size=(nodes, 2))
    for _ in range(steps):
        away = place[:, None] - place[None]
        distance = np.maximum(np.linalg.norm(away, axis=2), 1e-9)
        target = place[None] + away * (wanted / distance)[:, :, None]
        place = (weight[:, :, None] * target).sum(1) / np.maximum(weight.sum(1), 1e-9)[:, None]
    return place - place.mean(0)
