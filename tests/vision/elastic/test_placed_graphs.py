"""Candidates as a wiring: it keeps the contract, and says what a graph with windows says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Window
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import enumerate_exactly, solve
from mam.infer.wired import Flooding
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.match import match
from mam.vision.elastic.placed_graphs import (
    PlacedGraphs,
    degree_of,
    place_graphs,
    stages_along,
    wired,
)
from mam.vision.elastic.springs import Edges
from tests.oracles.contract import check_wiring

WINDOW, OUTSIDE = 3, -4.0


def some_bank(rng: np.random.Generator, loops: bool) -> Bank:
    """Two trees of 4 and 6 vertices, with two more edges each if there are loops."""
    vertices, edges = [], []
    for count in (4, 6):
        tree = [[int(rng.integers(v)), v] for v in range(1, count)]
        missing = [[u, v] for v in range(count) for u in range(v) if [u, v] not in tree]
        more = [missing[i] for i in rng.choice(len(missing), 2, replace=False)]
        ends = np.array(tree + (more if loops else []))
        vertices.append(rng.integers(0, 8, (count, 2)))
        edges.append(Edges(ends, rng.integers(0, 4, len(ends))))
    return Bank.of(vertices, edges, np.ones((3, 3), bool))


def placed(rng: np.random.Generator, loops: bool) -> PlacedGraphs:
    numbers = np.array([1, 0, 1])
    corner = rng.integers(-3, 10, (3, 2))
    return place_graphs(some_bank(rng, loops).shapes, np.zeros(3, int), numbers, corner)


@pytest.mark.parametrize("loops", [False, True])
def test_the_wiring_keeps_the_contract(loops: bool) -> None:
    graphs = placed(np.random.default_rng(0), loops)
    check_wiring(wired(graphs, WINDOW))
    each = zip(graphs.ends, graphs.edge_count, strict=True)
    most = max(np.bincount(own[:count].ravel()).max() for own, count in each)
    assert most <= degree_of(graphs) < 2 * most
    check_wiring(wired(graphs, WINDOW, degree_of(graphs)))
    stages = stages_along(graphs)
    assert np.asarray(stages.exact).tolist() == [not loops] * 3
    assert int(stages.deciding.count) == graphs.edge_count.max()
    forth, back = (np.asarray(way.row[0]) % graphs.radius.shape[1] for way in stages.iteration)
    for number, count in enumerate(graphs.edge_count.tolist()):
        assert forth[:count, number].tolist() == list(range(count))
        assert sorted(back[:count, number].tolist()) == list(range(count))
        assert (np.diff(graphs.ends[number, back[:count, number], 1]) <= 0).all()


def formal_graphs(
    graphs: PlacedGraphs, scores: np.ndarray
) -> tuple[list[FactorGraph], list[dict[str, np.ndarray]]]:
    """Every candidate as a graph with windows, and its evidence."""
    padded = np.pad(scores[0], 20, constant_values=OUTSIDE)
    formal, evidence = [], []
    for i, count in enumerate(graphs.there.sum(1)):
        builder = GraphBuilder()
        builder.variables("vertex", int(count), WINDOW**2)
        own = slice(graphs.edge_count[i])
        ends, radius = graphs.ends[i, own], graphs.radius[i, own]
        builder.add("edge", Window.of(ends, grid=(WINDOW, WINDOW), radius=radius))
        formal.append(builder.build())
        place = graphs.reference[i, :count, None] + np.indices((WINDOW, WINDOW)).reshape(2, -1).T
        evidence.append({"vertex": padded[tuple(np.moveaxis(place + 20, -1, 0))]})
    return formal, evidence


@settings(max_examples=6)
@given(seed=st.integers(0, 10_000), loops=st.booleans(), iterations=st.sampled_from([5, 60]))
def test_flooding_is_that_of_a_graph_with_windows(seed: int, loops: bool, iterations: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = placed(rng, loops)
    scores = rng.normal(0, 3, (1, 14, 14)).astype(np.float32)
    found = match(scores, graphs, OUTSIDE, WINDOW, Flooding(iterations, 0.4, noise=0.0))
    raw = {"damping": 0.4, "noise": 0.0, "tolerance": 0.0, "repair": False}
    how = {"method": "max-product", "iterations": iterations, **raw}
    for i, one in enumerate(solve(*formal_graphs(graphs, scores), **how)):
        offset = np.stack(np.divmod(one.values, WINDOW), -1)
        count = len(one.values)
        clear = one.margins > 1e-3
        same = found.place[i, :count] == graphs.reference[i, :count] + offset
        assert same[clear].all() and not found.exact[i]
        if clear.all():
            assert (one.score == -np.inf) == (found.broken[i] > 0)


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), loops=st.booleans(), sweeps=st.integers(1, 3))
def test_places_are_those_of_a_graph_with_windows(seed: int, loops: bool, sweeps: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = placed(rng, loops)
    scores = rng.normal(0, 3, (1, 14, 14)).astype(np.float32)
    found = match(scores, graphs, OUTSIDE, WINDOW, sweeps)
    assert found.exact.tolist() == [not loops] * 3
    formal, evidence = formal_graphs(graphs, scores)
    order = [np.arange(len(graph.states)) for graph in formal]
    known = {"method": "max-product", "schedule": "sweeps", "decoding": "in order"}
    raw = {"damping": 0.0, "noise": 0.0, "tolerance": 0.0, "repair": False, "iterations": sweeps}
    slow = solve(formal, evidence, order=order, **known, **raw)
    for i, one in enumerate(slow):
        count = len(one.values)
        offset = np.stack(np.divmod(one.values, WINDOW), -1)
        same = (found.place[i, :count] == graphs.reference[i, :count] + offset).all()
        assert same and (one.score == -np.inf) == (found.broken[i] > 0)
        if one.feasible:
            assert found.score[i] == pytest.approx(one.score, abs=1e-4)
    if not loops:
        best = enumerate_exactly(formal[1], evidence[1]).score
        assert found.score[1] == pytest.approx(best, abs=1e-4) and not found.broken.any()
