"""networkx: the picture of a graph, and back."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.factors import Or
from mam.graph import GraphBuilder
from mam.models.networkx_graphs import from_networkx, to_networkx
from tests.models.graphs import all_scores, structured_graph, table_graph


@given(st.integers(0, 10**6))
def test_tables_survive_a_round_trip(seed: int) -> None:
    graph = table_graph(seed)
    back = from_networkx(to_networkx(graph))
    np.testing.assert_allclose(all_scores(back), all_scores(graph))


@pytest.mark.parametrize("kind", ["table", "or", "and", "pattern", "window"])
def test_structured_factors_come_back_as_tables(kind: str) -> None:
    graph = structured_graph(kind)
    network = to_networkx(graph)
    assert nx.is_bipartite(network)
    assert {data.get("kind") for _, data in network.nodes(data=True)} == {kind, None}
    back = from_networkx(network)
    assert back.variables[0].name == "x[0]"
    np.testing.assert_allclose(all_scores(back), all_scores(graph))


def test_a_pairwise_model() -> None:
    network = nx.Graph()
    network.add_node("b", states=3, log_potential=[0.0, 1.0, -np.inf])
    network.add_node("a")
    matrix = np.arange(6.0).reshape(3, 2)
    network.add_edge("a", "b", log_potential=matrix)  # rows belong to b, the first of the nodes
    graph = from_networkx(network)
    assert [group.name for group in graph.variables] == ["b", "a"]
    expected = matrix + np.array([[0.0], [1.0], [-np.inf]])
    np.testing.assert_allclose(all_scores(graph), expected.ravel())


def test_a_large_grid_is_two_groups_of_factors() -> None:
    network = nx.grid_2d_graph(40, 40)
    nx.set_node_attributes(network, [0.0, 0.5], "log_potential")
    nx.set_edge_attributes(network, np.eye(2), "log_potential")
    graph = from_networkx(network)
    assert {name: len(factors) for name, factors in graph.factors} == {
        "nodes 2": 1600,
        "edges 2x2": 3120,
    }


def broken(**change: object) -> nx.Graph:
    network = to_networkx(structured_graph("and"))
    network.nodes["a[0]"].update(change)
    return network


def pair(matrix: object, **node: object) -> nx.Graph:
    network = nx.Graph()
    network.add_node("u", **node)
    network.add_edge("u", "v", log_potential=matrix)
    return network


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nx.DiGraph([(0, 1)]), "undirected"),
        (nx.MultiGraph([(0, 1)]), "undirected"),
        (nx.Graph([(0, 1)]), r"edge \(0, 1\) has no log_potential"),
        (pair(np.eye(3)), r"\('u', 'v'\).*shape \(3, 3\), not \(2, 2\)"),
        (pair([[0, np.nan], [0, 0]]), r"\('u', 'v'\).*NaN"),
        (pair(np.eye(2), states=1), "'u' has 1 states"),
        (pair(np.eye(2), states="two"), "'u' has 'two' states"),
        (pair(np.eye(2), log_potential=[1]), r"node 'u' has shape \(1,\)"),
        (broken(role="knot"), r"'a\[0\]' has the role 'knot'"),
        (broken(variables=("x[0]", "x[1]")), r"'a\[0\]'.*neighbours"),
        (broken(potentials=[0.0]), r"'a\[0\]'.*1 log potentials for 4"),
        (broken(configurations=np.full((4, 3), 7) + np.eye(4, 3, dtype=int)), r"'a\[0\]'.*lists"),
    ],
)
def test_bad_networks_are_refused_by_name(network: nx.Graph, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_networkx(network)


def test_two_nodes_of_one_name_and_loops() -> None:
    network = nx.Graph()
    network.add_nodes_from([1, "1"])
    with pytest.raises(ValueError, match="two nodes are called 1"):
        from_networkx(network)
    loop = nx.Graph()
    loop.add_edge("a", "a", log_potential=np.eye(2))
    with pytest.raises(ValueError, match="itself"):
        from_networkx(loop)


def test_wide_factors_are_not_listed() -> None:
    builder = GraphBuilder()
    x = builder.variables("x", 41)
    builder.add("wide", Or.of([x[:40]], [x[40]]))
    with pytest.raises(ValueError, match=r"wide\[0\].*too many"):
        to_networkx(builder.build())
