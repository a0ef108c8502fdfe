"""Drawings of factor graphs."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mam.models.draw import draw_factor_graph
from mam.models.examples import gene_network, two_lines
from mam.models.layout import layout


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


def test_names_are_drawn_and_large_graphs_refused() -> None:
    axes = gene_network().draw()
    shown = {text.get_text() for text in axes.texts}
    assert {"A", "AB", "corepression"} <= shown
    plt.close(axes.figure)
    many = two_lines(rows=50)
    with pytest.raises(ValueError, match="too large to draw"):
        draw_factor_graph(many.graph, many.attention.flags(len(many.graph.states)))
