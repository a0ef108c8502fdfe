"""Pixels and the candidates that may cover them, as index lists in both directions.

This is the sparsifier's factor graph, wired on the device. The candidates are there already, and
wiring them takes less time than a few sweeps of messages; the generic builder on the host would
take longer than everything else together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, Int8

from mam.core.growing import GrowingSizes
from mam.core.padded import PAST, take
from mam.factors.base import Leaf
from mam.vision.parts.candidates import Candidates, Pruned, shorten
from mam.vision.parts.masks import Parts

# ON and OFF pixels stand in four rectangles each: up to 4, 16, 48, and more candidates.
_WIDTHS = (4, 16, 48)
# The wider, the fewer pixels: at least these, so that few images need larger arrays.
_HEIGHTS = (64, 128, 96, 40, 64, 128, 32, 8)
_KINDS = 2 * (len(_WIDTHS) + 1)
_GRAIN = 4  # pixels by which lists of a part's pixels grow: similar parts share a compilation


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Pixels:
    """Pixels of one kind that have a similar number of candidates."""

    parents: Leaf  # (pixels, width): the candidates that cover each pixel; past the end: none
    image: Leaf  # (pixels,)
    lit: bool = field(metadata={"static": True})  # ON or OFF


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Cover:
    """Which candidates cover which pixels. Indices point past the end where there is nothing."""

    rectangles: tuple[Pixels, ...]
    pixels: Leaf  # (candidates, size): pixels of each candidate, counted over rectangles
    slots: Leaf  # (candidates, size): where it stands there, over all entries of rectangles
    image: Leaf  # (candidates,)
    number: Leaf  # (candidates,): of the placement among all of its image
    same_place: Leaf  # (candidates,): the first candidate at the same position
    images: int = field(metadata={"static": True})

    def at_pixels(self, values: Array, fill: float | int) -> list[Array]:
        """Read values of candidates at the pixels they may cover, for every rectangle."""
        return [take(values, rectangle.parents, fill) for rectangle in self.rectangles]

    def at_candidates(self, values: list[Array], fill: float | int) -> Array:
        """Read values of pixels at the candidates that may cover them."""
        return take(jnp.concatenate(values), self.pixels, fill)


def build_cover(
    states: Int8[np.ndarray, "images rows cols"],
    sizes: Int[np.ndarray, "images 2"],
    pruned: Pruned,
    parts: Parts,
    room: GrowingSizes,
) -> Cover:
    """Wire candidates and pixels."""
    capacity = room.fit("all", pruned.count)
    candidates, edges, counts = find_edges(states, sizes, pruned, parts, capacity)
    shapes = rectangle_shapes([counts], room)
    return wire(candidates, edges, jnp.asarray(sizes, jnp.int32), types=len(parts), shapes=shapes)


def find_edges(
    states: Int8[np.ndarray, "images rows cols"],
    sizes: Int[np.ndarray, "images 2"],
    pruned: Pruned,
    parts: Parts,
    capacity: int,
) -> "tuple[Candidates, Edges, list[int]]":
    """List the candidates, their edges, and what ``rectangle_shapes`` wants to know about them."""
    candidates, edges, counts = _edges(
        states, pruned.found, pruned.kept, _pixel_lists(parts), sizes.astype(np.int32), capacity
    )
    return candidates, edges, np.asarray(counts).tolist()


def rectangle_shapes(
    counts: Sequence[Sequence[int]], room: GrowingSizes
) -> tuple[tuple[int, int], ...]:
    """Return shapes of rectangles that hold the pixels of any of several batches."""
    *most, degree = np.max(np.asarray(counts), 0).tolist()
    widths = (*_WIDTHS, room.fit("degree", degree, least=2 * _WIDTHS[-1]))
    return tuple(
        (room.fit(f"pixels {i}", count, least=_HEIGHTS[i]), widths[i % len(widths)])
        for i, count in enumerate(most)
    )


@lru_cache(maxsize=16)
def _pixel_lists(parts: Parts) -> np.ndarray:
    """Rows and columns of each part's pixels, from its middle; short lists end in far places."""
    longest = -(-int(parts.sizes.max()) // _GRAIN) * _GRAIN
    lists = np.full((len(parts), longest, 2), PAST // 4, np.int32)
    for kind, mask in enumerate(parts.masks):
        found = np.argwhere(mask) - parts.radius
        lists[kind, : len(found)] = found
    return lists


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Edges:
    """Every pair of a candidate and one of its pixels, sorted by pixel."""

    order: Leaf  # (edges,): place in the unsorted list: candidate * size + pixel of the part
    image: Leaf  # (edges,)
    first: Leaf  # (edges,): whether it is the first of its pixel
    rank: Leaf  # (edges,): among those of its pixel
    rectangle: Leaf  # (edges,): which; past the last: padding
    size: int = field(metadata={"static": True})


@partial(jax.jit, static_argnames="capacity")
def _edges(
    states: Array, found: Candidates, kept: Array, offsets: Array, sizes: Array, capacity: int
) -> tuple[Candidates, Edges, Int[Array, " counts"]]:
    """List the edges; count the pixels of each rectangle, and tell the highest degree."""
    candidates = shorten(found, kept, capacity)
    count, rows, cols = states.shape
    size = take(sizes, candidates.image, 0)
    place = jnp.stack([candidates.row, candidates.column], -1)[:, None]
    here = place + take(offsets, candidates.type, 0)
    known = (candidates.image < count)[:, None]
    known &= jnp.all((here >= 0) & (here < size[:, None]), -1)
    flat = (candidates.image[:, None] * rows + here[..., 0]) * cols + here[..., 1]
    flat = jnp.where(known, flat, PAST)
    unsorted = jnp.where(take(states.ravel(), flat, 0) == 0, PAST, flat).ravel()
    order = jnp.argsort(unsorted).astype(jnp.int32)
    pixel = unsorted[order]
    first = jnp.concatenate([jnp.ones(1, bool), pixel[1:] != pixel[:-1]])
    number = jnp.arange(len(pixel), dtype=jnp.int32)
    rank = number - jax.lax.cummax(jnp.where(first, number, 0))
    run = jnp.cumsum(first) - 1
    degree = jnp.zeros(len(run), jnp.int32).at[run].add(1)[run]
    lit = take(states.ravel(), pixel, 0) > 0
    width = jnp.searchsorted(jnp.array(_WIDTHS), degree).astype(jnp.int32)
    rectangle = jnp.where(lit, 0, _KINDS // 2) + width
    edges = Edges(
        order,
        pixel // (rows * cols),
        first & (pixel < PAST),
        rank,
        jnp.where(pixel < PAST, rectangle, _KINDS),
        offsets.shape[1],
    )
    counts = [jnp.sum(edges.first & (edges.rectangle == i)) for i in range(_KINDS)]
    highest = jnp.max(jnp.where(edges.rectangle < _KINDS, edges.rank + 1, 0))
    return candidates, edges, jnp.stack([*counts, highest])


@partial(jax.jit, static_argnames=("types", "shapes"))
def wire(
    candidates: Candidates,
    edges: Edges,
    sizes: Int[Array, "images 2"],
    types: int,
    shapes: tuple[tuple[int, int], ...],
) -> Cover:
    """Give every pixel a row of its rectangle and every edge a place in it."""
    parent = edges.order // edges.size
    row = jnp.full(len(parent), PAST, jnp.int32)
    slot = row
    rectangles, rows_before, slots_before = [], 0, 0
    for i, (height, width) in enumerate(shapes):
        mine = edges.rectangle == i
        own = (jnp.cumsum(edges.first & mine) - 1).astype(jnp.int32)
        here = jnp.where(mine, own, PAST)
        rectangles.append(
            Pixels(
                jnp.full((height, width), PAST, jnp.int32)
                .at[here, edges.rank]
                .set(parent, mode="drop"),
                jnp.full(height, PAST, jnp.int32).at[here].set(edges.image, mode="drop"),
                i < _KINDS // 2,
            )
        )
        row = jnp.where(mine, rows_before + own, row)
        slot = jnp.where(mine, slots_before + own * width + edges.rank, slot)
        rows_before += height
        slots_before += height * width

    def unsorted(values: Array) -> Array:
        return jnp.zeros_like(values).at[edges.order].set(values).reshape(-1, edges.size)

    columns = take(sizes[:, 1], candidates.image, 0)
    number = (candidates.row * columns + candidates.column) * types + candidates.type
    pixels, slots = unsorted(row), unsorted(slot)
    first = _first_here(candidates)
    return Cover(tuple(rectangles), pixels, slots, candidates.image, number, first, len(sizes))


def _first_here(candidates: Candidates) -> Int[Array, " candidates"]:
    """The first candidate with the same position; they are sorted by it."""
    place = jnp.stack([candidates.image, candidates.row, candidates.column])
    new = jnp.concatenate([jnp.ones(1, bool), jnp.any(place[:, 1:] != place[:, :-1], 0)])
    return jax.lax.cummax(jnp.where(new, jnp.arange(len(new), dtype=jnp.int32), 0))
