"""Some rows of a block say what they say among all rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Choice, Pattern
from mam.graph import Wiring
from mam.infer import passing
from tests.factors.test_against_listing import (
    CASES,
    as_store,
    compiled,
    draw_factors,
    draw_incoming,
)


@jax.jit
def both_ways(wiring: Wiring, potentials: tuple, incoming: tuple, rows: jax.Array) -> list:
    """For each block: what all rows say, what the taken ones say, and which these are."""
    floor = passing.neutral(wiring, incoming[0].dtype)
    there = passing.at_edges(wiring, incoming, floor)
    found = []
    for b, block in enumerate(wiring.blocks):
        theirs = potentials[wiring.parameters[b]]
        taken, ports = block.take(rows)
        told = tuple(
            values.at[own].get(mode="fill", fill_value=floor[port.kind])
            for values, own, port in zip(there[b], ports, wiring.ports[b], strict=True)
        )
        found.append((block.messages(theirs, there[b], 0), taken.messages(theirs, told, 0), ports))
    return found


@pytest.mark.parametrize(("kind", "index"), CASES)
@settings(max_examples=5)
@given(data=st.data())
def test_rows_alone_send_the_same(kind: str, index: int, data: st.DataObject) -> None:
    factors, states = draw_factors(data, kind, index)
    graph = compiled(factors, states)
    store = as_store(graph, draw_incoming(data, states, infinite=True), np.float32)
    past = len(graph.factor_rows[0])
    rows = data.draw(st.lists(st.integers(0, len(factors)), min_size=3, max_size=3))
    rows = np.array([past if row == len(factors) else row for row in rows], np.int32)
    found = both_ways(graph.wiring, graph.parameters(), store, rows)
    sent = 0
    for b, (whole, part, ports) in enumerate(found):
        for p, (all_rows, some, own) in enumerate(zip(whole, part, ports, strict=True)):
            each, own = len(own) // len(rows), np.asarray(own)
            real = own < len(all_rows)
            assert not real.reshape(len(rows), each)[rows >= len(graph.factor_rows[b])].any()
            np.testing.assert_array_equal(np.asarray(some)[real], np.asarray(all_rows)[own[real]])
            index_ = np.asarray(graph.wiring.ports[b][p].index)
            sent += (
                index_[own[real]] < graph.wiring.class_size(graph.wiring.ports[b][p].kind)
            ).sum()
    arities = np.append(factors.arities(), 0)
    by_block = [np.append(found, -1)[np.minimum(rows, len(found))] for found in graph.factor_rows]
    assert sent == sum(int(arities[some].sum()) for some in by_block)


def test_the_first_of_equal_members_is_the_best() -> None:
    beliefs = jnp.array([[1.0, 3.0, 3.0], [-1.0, -2.0, -3.0]])
    choice = compiled(Choice.of([[0, 1, 2], [3, 4, 5]]), [2] * 6).wiring.blocks[0]
    (best,) = choice.best_members((beliefs,))
    assert best is not None
    assert np.asarray(best).tolist() == [[False, True, False], [True, False, False]]
    pattern = compiled(Pattern.of([0], [[[1, 2]]], [[0], [1]]), [2] * 3).wiring.blocks[0]
    part, members = pattern.best_members((beliefs[:, 0], beliefs))
    assert part is None and members is not None and np.asarray(members).sum() == 2
