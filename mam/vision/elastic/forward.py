r"""The scores of elastic graphs at a lattice of anchors, what both forward passes begin with.

Every vertex of a graph reads, at its place from the anchor, the best evidence of a small window,

.. math::
    \frac{1}{|V|^{p}} \sum_v \max_{\delta \in W} s(a + r_v + \delta).

The maximum over the window is taken once for the whole image. Anchors form a lattice, so the pooled
maps are split into step x step residue grids: what a vertex adds at all anchors is then one
contiguous tile of one grid.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.core.chunks import accumulate
from mam.core.devices import by_device, on_one_gpu
from mam.core.padded import fitted
from mam.core.tile_sums import tile_sums
from mam.vision.elastic.bank import Bank

GRAIN = 16  # vertices are padded to multiples of this


class Tiles(NamedTuple):
    """Graphs with every vertex as a tile of a grid; some may be padding, without vertices."""

    # Residues and quotients of vertices by the step.
    tile: Int[Array | np.ndarray, "vertices graphs 4"]
    type: Int[Array | np.ndarray, "vertices graphs"] | None  # the map that each reads; None: one
    count: Int[Array | np.ndarray, " graphs"]  # of vertices
    scale: Float[Array | np.ndarray, " graphs"]


def tiles_of(
    bank: Bank,
    graphs: Int[np.ndarray, " some"],
    number: int,
    step: int,
    power: float,
    every: int = 1,
) -> Tiles:
    """Some graphs of a bank among a ``number``; ``every`` so many vertices of their walks count."""
    count = fitted(-(-bank.vertex_count[graphs].astype(np.int32) // every), (number,))
    width = -(-int(count.max()) // GRAIN) * GRAIN

    def padded(values: np.ndarray) -> np.ndarray:
        own = values[graphs, : width * every : every]
        return fitted(own, (number, width, *own.shape[2:])).swapaxes(0, 1)

    quotient, residue = np.divmod(padded(bank.vertices).astype(np.int16), np.int16(step))
    scale = np.maximum(count, 1).astype(np.float32) ** -power
    type_ = None if bank.type is None else padded(bank.type)
    return Tiles(np.concatenate([residue, quotient], -1), type_, count, scale)


def extent_of(bank: Bank, grain: int) -> int:
    """The most rows or columns of a graph, rounded up: few sizes, few compilations."""
    return -(-(int(bank.vertices.max()) + 1) // grain) * grain


def residue_grids(
    pooled: Float[Array, "maps rows cols images"],
    lattice: tuple[int, int],
    step: int,
    extent: int,
    outside: Array | float,
    before: int = 0,
) -> Float[Array, "maps_and_none step step tall wide images"]:
    """Entry [m, i, j, k, l] is what map m has at (step k + i, step l + j), less ``before`` px.

    Behind the maps there is one of zeros, for vertices that are none.
    """
    tall, wide = (n + -(-extent // step) for n in lattice)
    maps, rows, cols, images = pooled.shape
    beyond = (before, tall * step - rows - before), (before, wide * step - cols - before)
    padded = jnp.pad(pooled, ((0, 0), *beyond, (0, 0)), constant_values=outside)
    padded = jnp.concatenate([padded, jnp.zeros_like(padded[:1])])
    return padded.reshape(maps + 1, tall, step, wide, step, images).transpose(0, 2, 4, 1, 3, 5)


def lattice_scores(
    grids: Float[Array, "maps_and_none step step tall wide images"],
    tiles: Tiles,
    lattice: tuple[int, int],
) -> Float[Array, "graphs anchors images"]:
    """The score of every graph at every anchor."""
    if on_one_gpu():
        tile, count, scale = map(jnp.asarray, (tiles.tile, tiles.count, tiles.scale))
        which = jnp.zeros_like(tile[..., 0]) if tiles.type is None else jnp.asarray(tiles.type)
        return tile_sums(grids, which, tile, count, lattice) * scale[:, None, None]
    size = 1, 1, 1, *lattice, grids.shape[-1]

    def cut(item: tuple[Array, Array]) -> Array:
        tile, type_ = item
        start = type_, *(tile[i] for i in range(4)), jnp.int32(0)
        return jax.lax.dynamic_slice(grids, start, size)[0, 0, 0]

    tile = jnp.asarray(tiles.tile).astype(jnp.int32)
    type_ = jnp.zeros((), jnp.int32) if tiles.type is None else jnp.asarray(tiles.type, jnp.int32)
    there = jnp.arange(len(tile), dtype=jnp.int32)[:, None] < tiles.count
    items = tile, jnp.where(there, type_, jnp.int32(len(grids) - 1))
    none = jnp.zeros((len(tiles.scale), *size[3:]), grids.dtype)
    if by_device(True, False):  # a graph at a time stays in the cache
        by_graph = jax.tree.map(lambda values: values.swapaxes(0, 1), items)
        total = jax.lax.map(lambda own: accumulate(cut, own, none[0]), by_graph)
    else:
        total = accumulate(jax.vmap(cut), items, none)
    return total.reshape(len(none), -1, size[-1]) * tiles.scale[:, None, None]
