"""Curves that must cross others, against all ways in which the others can pass."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.swaps import cyclic_places, must_cross


def ends_of(places: np.ndarray, inward: np.ndarray, node: np.ndarray) -> Ends:
    nothing = np.zeros(len(node))
    return Ends(places, np.zeros((len(node), 2)), nothing, nothing, node, inward)


def star(angles: np.ndarray) -> Ends:
    """Strands that leave a node at some angles."""
    away = 10 * np.stack([np.sin(angles), np.cos(angles)], 1)
    nothing = np.zeros_like(away)
    places = np.stack([nothing, away], 1).reshape(-1, 2)
    inward = np.stack([away, nothing], 1).reshape(-1, 2)
    return ends_of(places, inward, np.tile([0, -1], len(angles)))


def matchings(some: list[int]) -> Iterator[list[tuple[int, int]]]:
    if not some:
        yield []
    for k in range(1, len(some)):
        for rest in matchings(some[1:k] + some[k + 1 :]):
            yield [(some[0], some[k]), *rest]


def cannot_pass(around: list[int], first: int, second: int) -> bool:
    """Whether the others, in cyclic order, can pass in pairs but never without crossing."""
    turned = around[around.index(first) :] + around[: around.index(first)]
    cut = turned.index(second)
    side = {end: place < cut for place, end in enumerate(turned)}
    ways = list(matchings([end for end in turned if end not in (first, second)]))
    return bool(ways) and all(any(side[a] != side[b] for a, b in way) for way in ways)


@given(st.integers(0, 1000), st.integers(2, 7))
def test_at_one_node(seed: int, count: int) -> None:
    angles = np.random.default_rng(seed).permutation(np.linspace(0.2, 6.2, count))
    ends = star(angles)
    around = [2 * int(k) for k in np.argsort(angles)]
    place = cyclic_places(ends)
    assert sorted(place[::2].tolist()) == list(range(count))
    steps = np.diff([*place[around], place[around[0]]]) % count
    assert (steps == 1).all()
    pairs = [(a, b) for a in around for b in around if a != b]
    first, second = np.array(pairs).T
    found = must_cross(ends, first, second)
    assert found.tolist() == [cannot_pass(around, a, b) for a, b in pairs]


def test_ends_that_meet_nothing_cross_nothing() -> None:
    ends = star(np.array([0.0, 2.0]))
    found = must_cross(ends, np.array([1]), np.array([3]))
    assert found.tolist() == [False]
    assert not len(cyclic_places(ends_of(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, int))))
