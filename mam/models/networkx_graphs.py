"""To and from networkx graphs."""

from collections.abc import Hashable
from typing import Any

import numpy as np

from mam.factors import Factors, Pairwise, Table
from mam.factors.base import check_potentials
from mam.factors.ragged import as_ids
from mam.graph import FactorGraph, VariableGroup
from mam.models.dense import check_sizes

_BOTH = "variable", "factor"

Named = tuple[str, Factors]


def to_networkx(graph: FactorGraph) -> Any:
    """Return the bipartite graph of variables and factors as a ``networkx.Graph``.

    Variable nodes are named as in the graph and carry ``role="variable"`` and ``states``; factor
    nodes are named ``group[index]`` and carry ``role="factor"``, ``kind``, and the listed
    ``configurations`` with their ``potentials``, one column for each of ``variables``.

    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 2)
    >>> builder.add("agree", Pairwise.of([x], np.eye(2)))
    >>> sorted(to_networkx(builder.build()).edges)
    [('x[0]', 'agree[0]'), ('x[1]', 'agree[0]')]
    """
    result = _networkx().Graph()
    names = graph.labels()
    for name, states in zip(names, graph.states.tolist(), strict=True):
        result.add_node(name, bipartite=0, role="variable", states=states)
    for group, factors in graph.factors:
        check_sizes(graph, group, factors)
        for i in range(len(factors)):
            node = f"{group}[{i}]"
            if node in result:
                raise ValueError(f"{node} is the name of a variable and of a factor")
            listing = factors.table(i, graph.states)
            scope = [names[v] for v in listing.variables]
            result.add_node(
                node,
                bipartite=1,
                role="factor",
                kind=factors.kind,
                variables=tuple(scope),
                configurations=listing.configurations,
                potentials=listing.potentials,
            )
            result.add_edges_from((name, node) for name in scope)
    return result


def from_networkx(network: Any) -> FactorGraph:
    """Return the factor graph of a networkx graph; each node becomes a variable of its name.

    A plain undirected graph is a pairwise model: a node has ``states`` (default 2) and may have a
    vector ``log_potential``; an edge (u, v) has a matrix ``log_potential`` with a row for each
    state of u, where u is the end that was added to the graph first. A graph whose nodes have a
    ``role`` is read as ``to_networkx`` writes it, factors as tables.

    >>> import networkx as nx
    >>> pair = nx.Graph()
    >>> pair.add_node("a", log_potential=[0, 1])
    >>> pair.add_edge("a", "b", log_potential=np.eye(2))
    >>> from_networkx(pair).edges
    3
    """
    if network.is_directed() or network.is_multigraph():
        raise ValueError("a model is an undirected networkx.Graph without parallel edges")
    roles = {node: data.get("role") for node, data in network.nodes(data=True)}
    if any(role is not None for role in roles.values()):
        return _from_bipartite(network, roles)
    return _from_pairwise(network)


def _from_pairwise(network: Any) -> FactorGraph:
    groups, number = _variables(network, list(network.nodes))
    states = [group.states for group in groups]
    found: dict[tuple[int, ...], list[tuple[list[int], np.ndarray]]] = {}
    for node, data in network.nodes(data=True):
        if "log_potential" in data:
            shape = (states[number[node]],)
            scores = _potential(data["log_potential"], shape, f"node {node!r}")
            found.setdefault(shape, []).append(([number[node]], scores))
    for u, v, data in network.edges(data=True):
        # An undirected edge forgets its direction; the order of the nodes does not.
        first, second = sorted((u, v), key=number.__getitem__)
        if "log_potential" not in data:
            raise ValueError(f"edge {(first, second)!r} has no log_potential")
        if u == v:
            raise ValueError(f"node {u!r} has an edge to itself; give it a log_potential instead")
        pair = [number[first], number[second]]
        shape = states[pair[0]], states[pair[1]]
        matrix = _potential(data["log_potential"], shape, f"edge {(first, second)!r}")
        found.setdefault(shape, []).append((pair, matrix))
    return FactorGraph(groups, tuple(_stacked(shape, parts) for shape, parts in found.items()))


def _stacked(shape: tuple[int, ...], parts: list[tuple[list[int], np.ndarray]]) -> Named:
    """Put the unary or pairwise factors of one shape into one group."""
    ids = np.array([scope for scope, _ in parts])
    scores = np.stack([values for _, values in parts])
    if len(shape) == 1:
        return f"nodes {shape[0]}", Table.of(ids, scores)
    return f"edges {shape[0]}x{shape[1]}", Pairwise.of(ids, scores)


def _from_bipartite(network: Any, roles: dict) -> FactorGraph:
    wrong = [node for node, role in roles.items() if role not in _BOTH]
    if wrong:
        raise ValueError(f"node {wrong[0]!r} has the role {roles[wrong[0]]!r}, not one of {_BOTH}")
    groups, number = _variables(network, [n for n in roles if roles[n] == "variable"])
    states = FactorGraph(groups, ()).states
    factors = []
    for node, data in network.nodes(data=True):
        if roles[node] == "factor":
            try:
                table = _table(data, number, set(network.neighbors(node)))
                table.key(states)
            except ValueError as error:
                raise ValueError(f"factor node {node!r}: {error}") from None
            factors.append((f"{node}", table))
    return FactorGraph(groups, tuple(factors))


def _table(data: dict, number: dict[Hashable, int], neighbours: set) -> Table:
    missing = {"variables", "configurations", "potentials"} - set(data)
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    scope = list(data["variables"])
    if set(scope) != neighbours or len(scope) != len(neighbours) or not neighbours <= set(number):
        raise ValueError("its variables should be its neighbours, each once")
    cases = as_ids(data["configurations"])
    if cases.ndim != 2 or cases.shape[1] != len(scope):
        raise ValueError(f"configurations need one column for each of {len(scope)} variables")
    ids = [[number[name] for name in scope]]
    return Table.of(ids, data["potentials"], configurations=cases)


def _variables(network: Any, nodes: list) -> tuple[tuple[VariableGroup, ...], dict[Hashable, int]]:
    """Return a variable for each node, and their numbers."""
    groups, seen = [], set()
    for i, node in enumerate(nodes):
        states = network.nodes[node].get("states", 2)
        if not isinstance(states, int | np.integer) or states < 2:
            raise ValueError(f"node {node!r} has {states!r} states; it needs at least 2")
        if f"{node}" in seen:
            raise ValueError(f"two nodes are called {node}")
        seen.add(f"{node}")
        groups.append(VariableGroup(f"{node}", (), int(states), i))
    return tuple(groups), {node: i for i, node in enumerate(nodes)}


def _potential(values: object, shape: tuple[int, ...], what: str) -> np.ndarray:
    scores = check_potentials(values, f"the log_potential of {what}")
    if scores.shape != shape:
        raise ValueError(f"the log_potential of {what} has shape {scores.shape}, not {shape}")
    return scores


def _networkx() -> Any:
    try:
        import networkx
    except ImportError:
        raise ValueError(
            "networkx is not installed: pip install markov-attention[interchange]"
        ) from None
    return networkx
