"""Small graphs for the tests of the exchange formats, and brute force over them."""

import itertools

import numpy as np

from mam.factors import And, Choice, Factors, Or, Pairwise, Pattern, PatternSet, Table, Window
from mam.graph import FactorGraph, GraphBuilder


def every_assignment(states: np.ndarray) -> np.ndarray:
    return np.array(list(itertools.product(*(range(n) for n in states))), np.int64)


def factor_scores(factors: Factors, states: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sum of the log potentials at every row of ``values``, straight from the listings."""
    total = np.zeros(len(values))
    for i in range(len(factors)):
        listing = factors.table(i, states)
        if not listing.variables.size:  # an optional choice among none
            continue
        table = np.full(tuple(states[listing.variables]), -np.inf)
        table[tuple(listing.configurations.T)] = listing.potentials
        total += table[tuple(values[:, listing.variables].T)]
    return total


def all_scores(graph: FactorGraph, evidence: dict | None = None) -> np.ndarray:
    """Score of every assignment of a small graph; evidence has one score per state."""
    values = every_assignment(graph.states)
    total = np.zeros(len(values))
    for _, factors in graph.factors:
        total += factor_scores(factors, graph.states, values)
    for name, scores in (evidence or {}).items():
        ids = graph.ids(name).ravel()
        for i, row in zip(ids, np.reshape(scores, (len(ids), -1)), strict=True):
            total += row[values[:, i]]
    return total


def table_graph(seed: int) -> FactorGraph:
    """A graph of random tables and matrices over a few variables with 2 or 3 states."""
    rng = np.random.default_rng(seed)
    builder = GraphBuilder()
    builder.variables("b", int(rng.integers(1, 4)))
    builder.variables("t", int(rng.integers(1, 3)), states=3)
    states = builder.build().states
    for number in range(rng.integers(0, 5)):
        scope = rng.permutation(len(states))[: rng.integers(1, 4)]
        logs = rng.normal(size=states[scope]) * 2
        logs[rng.random(logs.shape) < 0.2] = -np.inf
        kind = Pairwise if len(scope) == 2 else Table
        builder.add(f"f{number}", kind.of([scope], logs))
    return builder.build()


def table_evidence(graph: FactorGraph, seed: int) -> dict:
    """Random scores per state for each group, some states forbidden."""
    rng = np.random.default_rng(seed)
    evidence = {}
    for group in graph.variables:
        scores = rng.normal(size=(group.size, group.states))
        scores[:, 0] = np.where(rng.random(group.size) < 0.3, -np.inf, scores[:, 0])
        evidence[group.name] = scores
    return evidence


def structured_graph(kind: str) -> FactorGraph:
    """One graph for each kind of structured factor, with more than one factor in it."""
    builder = GraphBuilder()
    if kind == "window":
        x = builder.variables("x", 3, states=6)
        builder.add(
            "w", Window.of([x[:2], x[1:]], grid=(2, 3), radius=[1, 0], offset=[[0, 0], [0, 1]])
        )
        return builder.build()
    x = builder.variables("x", 9)
    if kind == "or":
        parents = [[x[0], x[1], x[2], x[3], x[4]], [x[4]], [], [x[1], x[2]]]
        builder.add(
            "o",
            Or.of(
                parents,
                [x[5], x[6], x[7], x[8]],
                pi01=np.array([0, 0.1, 0.2, 0.3]),
                pi10=np.array([0.01, 0, 0.2, 0]),
            ),
        )
    elif kind == "and":
        builder.add("a", And.of([[x[0], x[1]], [x[2], x[1]]], [x[3], x[4]]))
    elif kind == "choice":
        lists = [x[:5], x[3:4], [], x[4:9]]
        builder.add("c", Choice.of(lists, optional=[False, False, True, True]))
    elif kind == "pattern":
        sides = PatternSet.of([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 1]])
        members = [[[x[2], x[3], x[4]], [x[5]], [x[6], x[7]]], [[x[3], x[8]], [], [x[4]]]]
        builder.add(
            "p", Pattern.of([x[0], x[1]], members, sides, [[0, -1, 0.5, 1], [0.2, -np.inf, 0, 3]])
        )
    elif kind == "table":
        rng = np.random.default_rng(3)
        logs = np.where(rng.random((2, 16)) < 0.3, -np.inf, rng.normal(size=(2, 16)))
        builder.add("t", Table.of([x[:4], x[3:7]], logs, states=(2, 2, 2, 2)))
        builder.add("u", Table.of([[x[7]]], [0.5, -0.5]))
    return builder.build()
