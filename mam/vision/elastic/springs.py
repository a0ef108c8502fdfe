"""The edges of an elastic graph: as few as keep its vertices together (paper, algorithm 1).

A pair of vertices at distance d wants the radius max(1, d / 7). Pairs are looked at from the
closest to the farthest; a pair that edges so far hold nearly as tight (the sum of radii along the
shortest path is at most twice its wish) needs no edge of its own. All shortest paths
are kept and updated with every edge instead of being searched for every pair.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Integer, Shaped

from mam.core.devices import by_device
from mam.core.either import Values, namespace
from mam.infer.loop import run
from mam.vision.parts.greedy import places_of

# Settings of algorithm 1 (paper, "Learning elastic graphs for cABC").
FACTOR = 7.0  # a pair at distance d wants the radius d / FACTOR
TOLERANCE = 2.0  # how much looser than that a path may be
LONGEST = 200.0  # px, between the ends of an edge
_GRAIN = 32  # vertices are padded to multiples of this
_BATCH = 8, 512  # on a CPU and on an accelerator


@dataclass(frozen=True, eq=False)
class Edges:
    """Pairs of vertices, in the order of a walk along them, and the radius of each."""

    ends: Int[np.ndarray, "edges 2"]
    radius: Int[np.ndarray, " edges"]


def elastic_edges(
    vertices: Sequence[Int[np.ndarray, "_ 2"]], longest: float = LONGEST
) -> list[Edges]:
    """Return the edges of each set of vertices, shorter than ``longest`` px.

    >>> [found] = elastic_edges([np.array([[0, 0], [0, 5], [0, 10], [0, 40]])])
    >>> found.ends.tolist(), found.radius.tolist()
    ([[0, 1], [1, 2], [2, 3]], [1, 1, 4])
    """
    found: list[np.ndarray | None] = [None] * len(vertices)
    for numbers, places, there in _batches(vertices):
        added = np.asarray(_added(places, there, longest))
        for number, pairs in zip(numbers, places_of(added), strict=False):
            found[number] = _walk(pairs, len(vertices[number]))
    return _with_radii(vertices, [ends for ends in found if ends is not None])


def wished_radii(
    places: Shaped[Values, "graphs vertices 2"],
    ends: Integer[Values, "graphs edges 2"],
) -> Float[Values, "graphs edges"]:
    """The radius that each edge wants: max(1, distance / FACTOR)."""
    xp = namespace(places)
    graph = xp.arange(len(places))[:, None]
    # As complex numbers, both coordinates are read at once.
    place = places[..., 0].astype(complex) + xp.asarray(1j, complex) * places[..., 1].astype(
        complex
    )
    away = place[graph, ends[..., 1]] - place[graph, ends[..., 0]]
    return xp.maximum(1.0, abs(away) / FACTOR)


def balanced_radii(
    wishes: Float[np.ndarray, "graphs edges"], real: np.ndarray
) -> Int[np.ndarray, "graphs edges"]:
    """Round the wishes of each graph so that the errors cancel along it; 0 where no edge is."""
    radius = np.zeros(wishes.shape, np.int64)
    error = np.zeros(len(wishes))
    for edge in range(wishes.shape[1]):
        wish = wishes[:, edge]
        up, down = np.ceil(wish), np.floor(wish)
        rise = np.abs(up - wish + error) < np.abs(down - wish + error)
        chosen = np.where(rise, up, down)
        radius[:, edge] = np.where(real[:, edge], chosen, 0)
        error = np.where(real[:, edge], chosen - wish + error, error)
    return radius


def _with_radii(vertices: Sequence[np.ndarray], walks: Sequence[np.ndarray]) -> list[Edges]:
    """Edges in the order of a walk; the errors of their rounded radii cancel on the way."""
    counts = np.array([len(walk) for walk in walks], np.int64)
    places = np.zeros((len(walks), max(map(len, vertices), default=0), 2))
    ends = np.zeros((len(walks), counts.max(initial=0), 2), np.int64)
    for graph, (own, walk) in enumerate(zip(vertices, walks, strict=True)):
        places[graph, : len(own)], ends[graph, : len(walk)] = own, walk
    real = np.arange(ends.shape[1]) < counts[:, None]
    radius = balanced_radii(wished_radii(places, ends), real)
    return [Edges(walk, own[: len(walk)]) for walk, own in zip(walks, radius, strict=True)]


def _batches(vertices: Sequence[np.ndarray]):
    """Numbers, padded vertices and which of them are there, by similar count."""
    size = by_device(*_BATCH)
    counts = np.array([len(one) for one in vertices], np.int64)
    widths = -(-np.maximum(counts, 1) // _GRAIN) * _GRAIN
    for width in np.unique(widths):
        members = np.flatnonzero(widths == width)
        for start in range(0, len(members), size):
            numbers = members[start : start + size]
            places = np.zeros((size, width, 2), np.float32)
            for place, number in enumerate(numbers):
                places[place, : counts[number]] = vertices[number]
            filled = np.append(counts[numbers], np.zeros(size - len(numbers), np.int64))
            yield numbers, places, np.arange(width) < filled[:, None]


@jax.jit
def _added(
    places: Float[Array, "graphs n 2"],
    there: Bool[Array, "graphs n"],
    longest: Array | float,
) -> Bool[Array, "graphs n n"]:
    """Which pairs get an edge."""
    count = there.shape[1]
    square = jnp.sum((places[:, :, None] - places[:, None]) ** 2, -1)
    distance = jnp.sqrt(square)
    wish = jnp.maximum(1.0, distance / FACTOR)
    number = jnp.arange(count)
    allowed = there[:, :, None] & there[:, None] & (distance < longest)
    allowed &= number[:, None] < number
    # Squared distances are whole numbers, so equally distant pairs are told apart by their place.
    rank = jax.vmap(_ranks)(jnp.where(allowed, square, jnp.inf))
    adding = _Adding(wish, jnp.where(allowed, wish * TOLERANCE, jnp.inf), rank)
    apart = jnp.broadcast_to(jnp.where(number[:, None] == number, 0.0, jnp.inf), wish.shape)
    start = apart, jnp.zeros(wish.shape, bool)
    return run(adding, start, count * count)[0][1]


class _Adding(NamedTuple):
    """One edge a step, for ``run``; the state is the length of all shortest paths, and the edges.

    A graph rests when no pair is held too loosely.
    """

    wish: Float[Array, "graphs n n"]
    loosest: Float[Array, "graphs n n"]  # path that a pair still bears
    rank: Int[Array, "graphs n n"]  # closest pairs first

    @property
    def instances(self) -> int:
        """The number of graphs."""
        return len(self.wish)

    def step(
        self, state: tuple[Array, Array], active: Bool[Array, " graphs"], iteration: Array
    ) -> tuple[tuple[Array, Array], Bool[Array, " graphs"]]:
        """Join the closest loose pair of every graph; tell where there was one."""
        return jax.vmap(_join)(*state, self.wish, self.loosest, self.rank)


def _join(
    paths: Array, added: Array, wish: Array, loosest: Array, rank: Array
) -> tuple[tuple[Array, Array], Array]:
    count = len(wish)
    at = jnp.min(jnp.where(paths > loosest, rank, count * count))
    some = at < count * count
    u, v = _place_of(rank, at, count)
    weight = jnp.where(some, jnp.ceil(wish[u, v]), jnp.inf)
    through = paths[:, u, None] + weight + paths[v]
    paths = jnp.minimum(paths, jnp.minimum(through, through.T))
    return (paths, added.at[u, v].max(some)), some


def _ranks(values: Float[Array, "n n"]) -> Int[Array, "n n"]:
    """The place of each entry in ascending order, equal entries by their position."""
    order = jnp.argsort(values.ravel(), stable=True)
    numbers = jnp.arange(values.size, dtype=jnp.int32)
    return jnp.zeros(values.size, jnp.int32).at[order].set(numbers).reshape(values.shape)


def _place_of(rank: Int[Array, "n n"], at: Array, count: int) -> tuple[Array, Array]:
    flat = jnp.argmax(rank.ravel() == at)
    return flat // count, flat % count


def _walk(pairs: np.ndarray, count: int) -> Int[np.ndarray, "edges 2"]:
    """All edges in the order in which a depth-first walk from vertex 0 first meets them.

    ``pairs`` are sorted, and so are the neighbours of every vertex then.
    """
    neighbours: list[list[tuple[int, int]]] = [[] for _ in range(count)]
    for edge, (u, v) in enumerate(pairs.tolist()):
        neighbours[u].append((v, edge))
        neighbours[v].append((u, edge))
    ahead = [iter(some) for some in neighbours]
    met = bytearray(len(pairs))
    order: list[int] = []
    # Pieces too far apart for an edge are walked one after another.
    for start in range(count):
        trail = [start]
        while trail:
            for there, edge in ahead[trail[-1]]:
                if not met[edge]:
                    met[edge] = True
                    order.append(edge)
                    trail.append(there)
                    break
            else:
                trail.pop()
    return pairs[order].astype(np.int64).reshape(-1, 2)
