"""Every kind of factor against the list of its own configurations."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.factors import (
    And,
    AnyOf,
    Choice,
    Count,
    Factors,
    Or,
    Pairwise,
    Pattern,
    PatternSet,
    Table,
    Window,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.numeric_limits import limit
from mam.factors.patterns import SparsePatterns
from mam.graph import CompiledGraph, GraphBuilder, Wiring, compile_graphs
from mam.infer import passing
from tests.oracles import listing as oracle

# A coarse grid makes ties likely; infinities are what certain evidence sends.
FINITE = st.one_of(st.sampled_from([-2.0, -1.0, 0.0, 1.0, 2.0]), st.floats(-5, 5, width=32))
POSSIBLE = st.one_of(FINITE, st.just(-np.inf))
VALUES = st.one_of(POSSIBLE, st.just(np.inf))
POTENTIAL = st.one_of(st.floats(-3, 3, width=32), st.sampled_from([-np.inf, 0.0]))


@dataclass(frozen=True)
class Case:
    """A structure over fresh variables; potentials are drawn, so that few shapes are compiled."""

    states: list[int]
    potentials: int
    make: Callable[[np.ndarray], Factors]


def numbered(counts: list[int]) -> list[list[int]]:
    """Lists of fresh variable numbers of the given lengths."""
    ends = np.cumsum([0, *counts])
    return [list(range(a, b)) for a, b in pairwise(ends)]


def or_case(parents: list[int], pi01: float, pi10: float) -> Case:
    total = sum(parents)
    child = list(range(total, total + len(parents)))
    factors = Or.of(numbered(parents), child, pi01=pi01, pi10=pi10)
    return Case([2] * (total + len(parents)), 0, lambda _: factors)


def and_case(count: int) -> Case:
    ids = np.arange(3 * count).reshape(count, 3)
    return Case([2] * (3 * count), 0, lambda _: And.of(ids[:, :2], ids[:, 2]))


def choice_case(counts: list[int], optional: bool | list[bool] = False) -> Case:
    factors = Choice.of(numbered(counts), optional=optional)
    return Case([2] * sum(counts), 0, lambda _: factors)


def any_of_case(counts: list[int], shared: bool = False) -> Case:
    shape = (2,) if shared else (len(counts), 2)

    def make(values: np.ndarray) -> Factors:
        none, some = values.reshape(shape).T
        return AnyOf.of(numbered(counts), some, none)

    return Case([2] * sum(counts), int(np.prod(shape)), make)


def count_case(counts: list[int], most: int, shared: bool = False) -> Case:
    shape = (most + 1,) if shared else (len(counts), most + 1)

    def make(values: np.ndarray) -> Factors:
        scores = values.reshape(shape).copy()
        scores[..., 0] = np.maximum(scores[..., 0], -3.0)  # some number must be possible
        return Count.of(numbered(counts), scores)

    return Case([2] * sum(counts), int(np.prod(shape)), make)


def exactly_case(counts: list[int], least: int, most: int) -> Case:
    factors = Count.between(numbered(counts), least, most)
    return Case([2] * sum(counts), 0, lambda _: factors)


def pairwise_case(shape: tuple[int, int], count: int, shared: bool) -> Case:
    ids = np.arange(2 * count).reshape(count, 2)
    matrices = shape if shared else (count, *shape)
    return Case(
        list(shape) * count,
        int(np.prod(matrices)),
        lambda values: Pairwise.of(ids, values.reshape(matrices)),
    )


def table_case(shape: tuple[int, ...], listed: list[int] | None = None) -> Case:
    cells = int(np.prod(shape))
    chosen = list(range(cells)) if listed is None else listed
    cases = np.stack(np.unravel_index(chosen, shape), 1)
    ids = [list(range(len(shape)))]
    return Case(list(shape), len(chosen), lambda v: Table.of(ids, v, configurations=cases))


def pattern_case(sizes: list[list[int]], rows: list[list[int]], sparse: bool = False) -> Case:
    flat = [size for factor in sizes for size in factor]
    members, groups = numbered(flat), len(sizes[0])
    nested = [members[i * groups : (i + 1) * groups] for i in range(len(sizes))]
    part = list(range(sum(flat), sum(flat) + len(sizes)))
    chosen = PatternSet.of(rows)
    if sparse:
        chosen = SparseSet(chosen.members, chosen.groups)
    return Case(
        [2] * (sum(flat) + len(sizes)), len(rows), lambda v: Pattern.of(part, nested, chosen, v)
    )


class SparseSet(PatternSet):
    """A set that is small enough to be dense, run in its sparse form."""

    def compiled(self) -> SparsePatterns:
        return SparsePatterns.of(self)


def window_case(grid: tuple[int, int], radius: list[int], offset: object = (0, 0)) -> Case:
    ids = np.arange(2 * len(radius)).reshape(-1, 2)
    factors = Window.of(ids, grid=grid, radius=radius, offset=offset)
    return Case([grid[0] * grid[1]] * ids.size, 0, lambda _: factors)


TWO_SIDES = [[0, 0], [0, 1], [1, 0], [1, 1]]
MANY = [[0, 0, 0], [1, 1, 0], [0, 1, 1], [1, 0, 0], [1, 1, 1]]
KINDS = {
    "or": [
        or_case([2, 1, 5], 0.07, 0.0019),
        or_case([0, 3], 0.0, 0.0),
        or_case([4, 1], 0.45, 0.0),
        or_case([1, 0, 6], 0.0, 0.05),
    ],
    "and": [and_case(1), and_case(3)],
    "count": [
        count_case([3, 0, 5], 2),
        count_case([1, 6], 6, shared=True),
        exactly_case([2, 5, 3], 2, 2),
        exactly_case([1, 4], 1, 3),
        exactly_case([3], 0, 0),
    ],
    "choice": [
        choice_case([1, 2, 6]),
        choice_case([0, 1, 3], optional=True),
        choice_case([2, 0, 5], optional=[False, True, True]),
    ],
    "any of": [
        any_of_case([1, 2, 5]),
        any_of_case([3, 0, 1], shared=True),
        any_of_case([7]),
    ],
    "pairwise": [
        pairwise_case((2, 2), 3, True),
        pairwise_case((2, 3), 1, True),
        pairwise_case((4, 2), 2, False),
        pairwise_case((3, 3), 2, False),
    ],
    "table": [
        table_case((2,)),
        table_case((3,), [2]),
        table_case((2, 2, 2), [0, 3, 5]),
        table_case((3, 2, 4)),
        table_case((2, 3, 2, 3), [0, 5, 8, 9, 30]),
        table_case((2,) * 10, [1 << k for k in range(10)]),
    ],
    "pattern": [
        pattern_case([[3, 1], [0, 4]], TWO_SIDES),
        pattern_case([[1]], [[0], [1]]),
        pattern_case([[2, 0, 1]], MANY),
        pattern_case([[2, 2]], [[1, 1], [0, 1]]),
        pattern_case([[3, 1], [0, 4]], TWO_SIDES, sparse=True),
        pattern_case([[2, 1, 1]], MANY, sparse=True),
        pattern_case([[2, 2]], [[1, 1], [0, 1]], sparse=True),
        pattern_case([[1, 2, 1, 1]], [[1, 0, 0, 0], [0, 1, 0, 1]], sparse=True),
    ],
    "window": [
        window_case((1, 2), [0]),
        window_case((1, 5), [1, 2, 9]),
        window_case((3, 3), [1]),
        window_case((4, 3), [0, 1, 1], [[2, -1], [0, 3], [-4, 0]]),
        window_case((5, 5), [4, 5, 2], [[6, 0], [-7, 3], [6, 6]]),
        window_case((3, 2), [10**9, 10**9, 2**62], [[10**9, 0], [-(10**9), 1], [2**62, -(2**62)]]),
    ],
}
CASES = [(kind, i) for kind, cases in KINDS.items() for i in range(len(cases))]


def draw_factors(data: st.DataObject, kind: str, index: int) -> tuple[Factors, list[int]]:
    case = KINDS[kind][index]
    values = [data.draw(POTENTIAL) for _ in range(case.potentials)]
    return case.make(np.array(values)), case.states


def compiled(factors: Factors, states: list[int]) -> CompiledGraph:
    builder = GraphBuilder()
    for i, n in enumerate(states):
        builder.variables(f"x{i}", (), n)
    builder.add("f", factors)
    return compile_graphs(builder.build())


def as_store(graph: CompiledGraph, incoming: list[np.ndarray], dtype: type) -> tuple:
    """Per-variable scores as one array a class, infinities replaced by their stand-in."""
    wiring = graph.wiring
    stores = [
        np.zeros((wiring.class_size(k), *(() if n == 2 else (n,))), dtype)
        for k, n in enumerate(wiring.states)
    ]
    big = limit(dtype)
    for i, scores in enumerate(incoming):
        value = scores[1] - scores[0] if len(scores) == 2 else scores - scores.max()
        stores[graph.kind[i]][graph.position[i]] = np.clip(value, -big, big)
    return tuple(stores)


def scores_at(graph: CompiledGraph, stores: tuple, i: int) -> np.ndarray:
    value = np.asarray(stores[graph.kind[i]])[graph.position[i]]
    return np.array([0.0, value]) if value.ndim == 0 else value


def draw_incoming(data: st.DataObject, states: list[int], *, infinite: bool) -> list[np.ndarray]:
    incoming = []
    for n in states:
        if n == 2:
            incoming.append(np.array([0.0, data.draw(VALUES if infinite else FINITE)]))
        else:
            values = POSSIBLE if infinite else FINITE
            scores = np.array(data.draw(st.lists(values, min_size=n, max_size=n)))
            scores[data.draw(st.integers(0, n - 1))] = 0.0
            incoming.append(scores)
    return incoming


def without_plus_infinity(scores: np.ndarray) -> np.ndarray:
    """Demanding a state is forbidding the others."""
    demanded = np.isposinf(scores)
    return np.where(demanded, 0.0, -np.inf) if demanded.any() else scores


def assert_message(fast: np.ndarray, slow: np.ndarray, dtype: type) -> None:
    if np.isneginf(slow).all():
        return  # nothing is possible: any message will do
    fast, slow = fast - fast.max(), slow - slow.max()
    impossible = np.isneginf(slow)
    assert np.all(fast[impossible] <= -0.4 * limit(dtype))
    # Next to the stand-in for infinity this is what the type resolves.
    tolerance = 1e-6 if dtype is np.float64 else 2e-3
    np.testing.assert_allclose(fast[~impossible], slow[~impossible], atol=tolerance, rtol=1e-5)


@partial(jax.jit, static_argnums=3)
def pass_once(wiring: Wiring, potentials: tuple, incoming: tuple, temperature: float) -> tuple:
    """Send per-variable messages to the factors and return theirs; each variable has one factor."""
    dtype = incoming[0].dtype
    there = passing.at_edges(wiring, incoming, passing.neutral(wiring, dtype))
    back = passing.from_factors(wiring, potentials, there, temperature)
    zero = tuple(jnp.zeros_like(s) for s in incoming)
    return passing.beliefs(wiring, zero, passing.to_store(wiring, back, dtype))


@jax.jit
def scores_of(wiring: Wiring, potentials: tuple, states: tuple) -> list[jax.Array]:
    there = passing.at_edges(wiring, states, (0,) * len(states))
    return [
        block.score(potentials[wiring.parameters[b]], there[b])
        for b, block in enumerate(wiring.blocks)
    ]


@partial(jax.jit, static_argnums=3)
def bests_of(
    wiring: Wiring, potentials: tuple, incoming: tuple, temperature: float
) -> list[jax.Array]:
    there = passing.at_edges(wiring, incoming, passing.neutral(wiring, incoming[0].dtype))
    return [
        block.best(potentials[wiring.parameters[b]], there[b], temperature)
        for b, block in enumerate(wiring.blocks)
    ]


@pytest.mark.parametrize(
    ("temperature", "dtype"),
    [(0, np.float32), (0, np.float64), (0.3, np.float32), (1.0, np.float32)],
)
@pytest.mark.parametrize(("kind", "index"), CASES)
@given(data=st.data())
def test_messages(
    kind: str, index: int, temperature: float, dtype: type, data: st.DataObject
) -> None:
    factors, states = draw_factors(data, kind, index)
    incoming = draw_incoming(data, states, infinite=True)
    graph = compiled(factors, states)
    with jax.enable_x64(dtype is np.float64):
        outgoing = pass_once(
            graph.wiring, graph.parameters(dtype), as_store(graph, incoming, dtype), temperature
        )
    for f in range(len(factors)):
        listing = factors.table(f, np.array(states))
        scores = [without_plus_infinity(incoming[v]) for v in listing.variables]
        expected = oracle.messages(listing, scores, temperature)
        for variable, slow in zip(listing.variables, expected, strict=True):
            assert_message(scores_at(graph, outgoing, int(variable)), slow, dtype)


@pytest.mark.parametrize("temperature", [0, 0.3])
@pytest.mark.parametrize(("kind", "index"), CASES)
@given(data=st.data())
def test_best(kind: str, index: int, temperature: float, data: st.DataObject) -> None:
    factors, states = draw_factors(data, kind, index)
    incoming = draw_incoming(data, states, infinite=False)
    graph = compiled(factors, states)
    store = as_store(graph, incoming, np.float64)
    found = {}
    with jax.enable_x64(True):
        blocks = bests_of(graph.wiring, graph.potentials, store, temperature)
    for rows, values in zip(graph.factor_rows, blocks, strict=True):
        found |= dict(zip(rows[rows >= 0], np.asarray(values)[rows >= 0], strict=True))
    for f in range(len(factors)):
        listing = factors.table(f, np.array(states))
        scores = [scores_at(graph, store, int(v)) for v in listing.variables]
        expected = oracle.best(listing, scores, temperature)
        if np.isneginf(expected):
            assert found[f] < -1e5
        else:
            assert found[f] == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize(("kind", "index"), CASES)
@given(data=st.data())
def test_score(kind: str, index: int, data: st.DataObject) -> None:
    factors, states = draw_factors(data, kind, index)
    graph = compiled(factors, states)
    wiring = graph.wiring
    chosen = np.array([data.draw(st.integers(0, n - 1)) for n in states])
    store = [np.zeros(wiring.class_size(k), np.int32) for k in range(len(wiring.states))]
    for i, state in enumerate(chosen):
        store[graph.kind[i]][graph.position[i]] = state
    with jax.enable_x64(True):
        blocks = scores_of(wiring, graph.potentials, tuple(store))
    for rows, values in zip(graph.factor_rows, blocks, strict=True):
        for row in np.flatnonzero(rows >= 0):
            listing = factors.table(int(rows[row]), np.array(states))
            expected = oracle.score(listing, chosen[listing.variables])
            assert float(values[row]) == pytest.approx(expected)


@pytest.mark.parametrize(("kind", "index"), CASES)
@given(data=st.data())
def test_scores_tables_and_parts_on_the_host(kind: str, index: int, data: st.DataObject) -> None:
    factors, states = draw_factors(data, kind, index)
    chosen = np.array([data.draw(st.integers(0, n - 1)) for n in states])
    found = factors.scores(chosen)
    for f in range(len(factors)):
        listing = factors.table(f, np.array(states))
        expected = oracle.score(listing, chosen[listing.variables])
        assert found[f] == pytest.approx(expected)
    # Some of the factors over variables with other numbers say the same.
    which = np.arange(len(factors))[::-2]
    number = np.arange(len(states))[::-1]
    moved = np.empty_like(chosen)
    moved[number] = chosen
    np.testing.assert_array_equal(factors.take(which, number).scores(moved), found[which])
    # The small tables, with all variables known, score what the factors do.
    network = NetworkBuilder(np.array(states))
    factors.encode(np.array(states), network)
    for variable, state in enumerate(chosen):
        network.add([[variable]], demand(np.arange(states[variable]) == state))
    assert oracle.network_best(network.build()) == pytest.approx(found.sum(), abs=1e-9)
