"""Components, trees and cycles, against joining sets one edge after another."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mam.factors import Table
from mam.graph import FactorGraph, GraphBuilder, GraphUnion, union_scores
from mam.infer.connected import all_tangled, factor_components, forests, number_components

SCOPES = st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=3, unique=True), max_size=9)
FREE = st.lists(st.booleans(), min_size=8, max_size=8)


def graph_of(scopes: list[list[int]], size: int = 8) -> FactorGraph:
    builder = GraphBuilder()
    x = builder.variables("x", size)
    for number, scope in enumerate(scopes):
        builder.add(f"f{number}", Table.of([x[scope]], np.zeros((2,) * len(scope))))
    return builder.build()


def joined(scopes: list[list[int]], free: list[bool]) -> list[set]:
    """Sets of free variables ("v") and factors ("f") that hang together."""
    sets: list[set] = [{("v", v)} for v in range(8) if free[v]]
    for number, scope in enumerate(scopes):
        touched = [one for one in sets if one & {("v", v) for v in scope}]
        sets = [one for one in sets if one not in touched]
        sets.append({("f", number)}.union(*touched))
    return sets


@given(SCOPES, FREE)
def test_components_nodes_edges_and_trees(scopes: list[list[int]], free: list[bool]) -> None:
    found = factor_components(GraphUnion.of([graph_of(scopes)]), np.array(free))
    assert ((found.component >= 0) == free).all()
    for one in joined(scopes, free):
        mine = {v for what, v in one if what == "v"}
        if not mine:
            continue
        [number] = set(found.component[list(mine)].tolist())
        edges = sum(v in mine for scope in scopes for v in scope)
        assert set(np.flatnonzero(found.component == number).tolist()) == mine
        assert found.variables[number] == len(mine) and found.edges[number] == edges
        assert found.factors[number] == len(one) - len(mine)
        assert found.cycles[number] == 1 + edges - len(one)


@given(st.lists(SCOPES, min_size=1, max_size=3))
def test_forests_are_told_graph_by_graph(several: list[list[list[int]]]) -> None:
    expected = [
        all(
            sum(("v", v) in one for scope in scopes for v in scope) < len(one)
            for one in joined(scopes, [True] * 8)
        )
        for scopes in several
    ]
    assert forests(GraphUnion.of([graph_of(s) for s in several])).tolist() == expected


def test_nothing_has_no_components() -> None:
    assert number_components(np.zeros(0, bool), []).shape == (0,)
    assert number_components(np.zeros(2, bool), [np.array([[0, 1]])]).tolist() == [-1, -1]


def test_a_large_grid_is_tangled_until_evidence_cuts_it() -> None:
    side = 60
    builder = GraphBuilder()
    x = builder.variables("x", (side, side))
    pairs = np.concatenate(
        [
            np.stack([x[:, :-1].ravel(), x[:, 1:].ravel()], 1),
            np.stack([x[:-1].ravel(), x[1:].ravel()], 1),
        ]
    )
    builder.add("pairs", Table.of(pairs, np.zeros((2, 2))))
    union = GraphUnion.of([builder.build()])
    evidence = np.zeros((side, side))
    assert all_tangled(union, union_scores(union, {"x": evidence}))
    evidence[::2] = -np.inf
    assert not all_tangled(union, union_scores(union, {"x": evidence}))
    assert not all_tangled(union, union_scores(union, {"x": np.full((side, side), np.inf)}))
