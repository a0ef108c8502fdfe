"""Drawings of factor graphs."""

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mam.models.examples import gene_network, two_lines
from mam.show.factor_graph import draw_factor_graph
from mam.show.node_layout import layout


def test_nodes_do_not_overlap() -> None:
    graph = two_lines().graph
    links = [
        [int(variable), len(graph.states) + i]
        for i in range(10)
        for variable in graph.factors[0][1].scopes()[i]
    ]
    place = layout(len(graph.states) + 10, np.array(links))
    distance = np.linalg.norm(place[:, None] - place, axis=2)
    assert distance[~np.eye(len(place), dtype=bool)].min() > 0.55
    assert np.ptp(place[:, 0]) >= np.ptp(place[:, 1])


def test_every_node_is_drawn_and_large_graphs_refused() -> None:
    axes = gene_network().draw()
    shown = {text.get_text() for text in axes.texts}
    assert {"A", "B", "C", "D", "AB", "AD", "A and C", "corepression"} <= shown
    assert sum(len(c.get_offsets()) for c in axes.collections) == 6 + 4
    plt.close(axes.figure)
    many = two_lines(rows=50)
    with pytest.raises(ValueError, match="too large to draw"):
        draw_factor_graph(many.graph, many.attention.flags(len(many.graph.states)))
