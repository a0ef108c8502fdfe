"""Routes over shared strands, against all walks."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.strands.routes import MOST_STRANDS, find_routes
from mam.vision.curves.strands.strands import Strands
from tests.vision.curves.strand_graphs import straight_strands


def some_strands(seed: int, count: int) -> tuple[Strands, np.ndarray]:
    """Strands between a few nodes, several of them parallel; those between two may be shared."""
    rng = np.random.default_rng(seed)
    node = rng.integers(-1, 4, (count, 2))
    inner = (node >= 0).all(1) & (node[:, 0] != node[:, 1])
    strands = straight_strands(node, rng.uniform(1, 50, count), np.full(count, 3.0))
    return strands, inner & (rng.random(count) < 0.7)


def listed(strands: Strands, shared: np.ndarray) -> dict[tuple[int, int], tuple[float, list[int]]]:
    """The shortest route of every pair of ends, of all sequences of shared strands."""
    best: dict[tuple[int, int], tuple[float, list[int]]] = {}
    node = strands.node
    for size in range(1, MOST_STRANDS + 1):
        for over in itertools.permutations(np.flatnonzero(shared).tolist(), size):
            for start in set(node[over[0]].tolist()):
                stop, seen = start, {start}
                for strand in over:
                    if stop not in node[strand]:
                        break
                    stop = int(node[strand].sum() - stop)
                    if stop in seen:
                        break
                    seen.add(stop)
                else:
                    length = float(strands.length[list(over)].sum())
                    for first, second in itertools.product(range(node.size), repeat=2):
                        apart = first // 2 not in over and second // 2 not in over
                        there = node.flat[first] == start and node.flat[second] == stop
                        if apart and there and first < second:
                            best.setdefault((first, second), (np.inf, []))
                            best[first, second] = min(best[first, second], (length, list(over)))
    return best


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(0, 7))
def test_routes_are_the_shortest_of_all(seed: int, count: int) -> None:
    strands, shared = some_strands(seed, count)
    found, wanted = find_routes(strands, shared), listed(strands, shared)
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert sorted(pairs) == sorted(wanted) and len(set(pairs)) == len(pairs)
    for pair, over, length in zip(pairs, found.over.tolist(), found.length, strict=True):
        assert length == pytest.approx(wanted[pair][0])
        assert [strand for strand in over if strand >= 0] == wanted[pair][1]


def test_nothing_shared_no_routes() -> None:
    strands, shared = some_strands(0, 6)
    found = find_routes(strands, np.zeros_like(shared))
    assert not len(found.first) and found.over.shape == (0, MOST_STRANDS)
