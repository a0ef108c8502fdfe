"""Curves that must cross others, against all ways in which the others can pass."""

from collections.abc import Iterator

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.curves.strands.crossing import changes_sides, cyclic_places, narrowest
from mam.vision.curves.strands.strand_ends import Ends

FAR = 100.0  # px between nodes; the other ends lie on the side away from the next node


def ends_of(places: np.ndarray, inward: np.ndarray, node: np.ndarray) -> Ends:
    nothing = np.zeros(len(node))
    return Ends(places, np.zeros((len(node), 2)), nothing, nothing, node, inward, nothing)


def star(angles: list[np.ndarray], route: bool) -> Ends:
    """Strands that leave each node at some angles, and one strand between the nodes."""
    node, place, inward = [], [], []
    for k, mine in enumerate(angles):
        for angle in mine:
            node += [k, -1]
            centre = np.array([0.0, FAR * k])
            away = centre + 10 * np.array([np.sin(angle), np.cos(angle)])
            place += [centre, away]
            inward += [away, centre]
    if route:
        node += [0, 1]
        place += [np.zeros(2), np.array([0.0, FAR])]
        inward += [np.array([0.0, 10.0]), np.array([0.0, FAR - 10])]
    return ends_of(np.array(place), np.array(inward), np.array(node))


def matchings(some: list[int]) -> Iterator[list[tuple[int, int]]]:
    if not some:
        yield []
    for k in range(1, len(some)):
        for rest in matchings(some[1:k] + some[k + 1 :]):
            yield [(some[0], some[k]), *rest]


def must_cross(around: list[int], first: int, second: int) -> bool:
    """Whether the others, in cyclic order, can pass in pairs but never without crossing."""
    turned = around[around.index(first) :] + around[: around.index(first)]
    cut = turned.index(second)
    side = {end: place < cut for place, end in enumerate(turned)}
    ways = list(matchings([end for end in turned if end not in (first, second)]))
    return bool(ways) and all(any(side[a] != side[b] for a, b in way) for way in ways)


@given(st.integers(0, 1000), st.integers(2, 7))
def test_at_one_node(seed: int, count: int) -> None:
    angles = np.random.default_rng(seed).permutation(np.linspace(0.2, 6.2, count))
    ends = star([angles], route=False)
    around = [2 * int(k) for k in np.argsort(angles)]
    place = cyclic_places(ends)
    assert sorted(place[::2].tolist()) == list(range(count))
    steps = np.diff([*place[around], place[around[0]]]) % count
    assert (steps == 1).all()
    pairs = [(a, b) for a in around for b in around if a != b]
    first, second = np.array(pairs).T
    found = changes_sides(ends, first, second, np.full((len(pairs), 2), -1))
    assert found.tolist() == [must_cross(around, a, b) for a, b in pairs]


@given(st.integers(0, 1000), st.integers(1, 4), st.integers(1, 4))
def test_over_a_route(seed: int, left: int, right: int) -> None:
    """Both nodes and the strand between them are one node, as far as sides are concerned."""
    rng = np.random.default_rng(seed)
    west = rng.permutation(np.linspace(np.pi - 1.3, np.pi + 1.3, left + 2)[1:-1])
    east = rng.permutation(np.linspace(-1.3, 1.3, right + 2)[1:-1])
    ends = star([west, east], route=True)
    around = [2 * int(k) for k in np.argsort(west)]
    around += [2 * (left + int(k)) for k in np.argsort(east)]
    pairs = [(2 * a, 2 * b) for a in range(left) for b in range(left, left + right)]
    pairs += [(b, a) for a, b in pairs]
    first, second = np.array(pairs).T
    over = np.tile([left + right, -1, -1], (len(pairs), 1))
    found = changes_sides(ends, first, second, over)
    assert found.tolist() == [must_cross(around, a, b) for a, b in pairs]


def test_ends_that_meet_nothing_change_no_sides() -> None:
    ends = star([np.array([0.0, 2.0])], route=False)
    found = changes_sides(ends, np.array([1]), np.array([3]), np.full((1, 2), -1))
    assert found.tolist() == [False]
    assert not len(cyclic_places(ends_of(np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0, int))))


def test_the_narrowest_strand_of_a_route() -> None:
    over = np.array([[0, 2, -1], [1, -1, -1], [-1, -1, -1]])
    assert narrowest(np.array([3.0, 1.0, 2.0]), over).tolist() == [2.0, 1.0, np.inf]
