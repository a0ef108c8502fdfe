r"""Which graphs of typed parts may be where: one pass over all graphs and a lattice of places.

As for letters (``letter_forward``), but every vertex reads the score map of its own
type, anchors lie a few px apart, also before the first row and column, and each graph names its own
best anchors. Banks here have hundreds of graphs, so their scores at all anchors fit into memory.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.core.chunks import accumulate
from mam.core.devices import by_device
from mam.vision.elastic.bank import Bank
from mam.vision.images.photo_edges import TYPES

_GRAIN = 16  # vertices are padded to multiples of this, graphs too
_EXTENT = 64  # px: the greatest extent is rounded up to a multiple of this


@dataclass(frozen=True)
class LatticeConfig:
    """Where graphs are tried."""

    step: int = 6  # px between anchors
    border: int = 48  # px before the first row and column where graphs may begin
    each: int = 3  # anchors of each graph that go on
    power: float = 0.6  # of the number of vertices, by which scores are divided; the paper's is .76


class Tiles(NamedTuple):
    """Vertices of all graphs: type, then residues and quotients of their place by the step."""

    tile: Int[Array, "vertices graphs 5"]
    scale: Float[Array, " graphs"]


class Tried(NamedTuple):
    """The best anchors of each graph, best first."""

    score: Float[np.ndarray, "graphs each"]
    anchor: Int[np.ndarray, "graphs each 2"]  # (row, column) of the graph's corner


def tiles_of(bank: Bank, config: LatticeConfig) -> tuple[Tiles, int]:
    """Prepare a bank; also the greatest extent of its graphs, rounded up."""
    assert bank.type is not None
    count, width = (-(-n // _GRAIN) * _GRAIN for n in bank.vertices.shape[:2])
    # Places beyond a graph's own vertices read a map of zeros.
    tile = np.zeros((count, width, 5), np.int32)
    tile[..., 0] = TYPES
    there = np.arange(bank.vertices.shape[1]) < bank.vertex_count[:, None]
    quotient, residue = np.divmod(bank.vertices.astype(np.int32), config.step)
    own = np.concatenate([bank.type[..., None].astype(np.int32), residue, quotient], -1)
    tile[: len(bank), : there.shape[1]][there] = own[there]
    scale = np.zeros(count, np.float32)
    scale[: len(bank)] = np.maximum(bank.vertex_count, 1).astype(np.float32) ** -config.power
    largest = -(-int(bank.vertices.max() + 1) // _EXTENT) * _EXTENT
    return Tiles(jnp.asarray(tile.swapaxes(0, 1)), jnp.asarray(scale)), largest


def try_all(
    pooled: Float[Array, "types rows cols"],
    tiles: Tiles,
    graphs: int,
    largest: int,
    outside: float,
    config: LatticeConfig,
) -> Tried:
    """Score every graph at every anchor; keep the best anchors of each."""
    lattice = tuple(-(-(n + config.border) // config.step) for n in pooled.shape[1:])
    size = config.step, config.border, largest
    found = _try_all(pooled, tiles, outside, lattice, size, config.each)
    score, flat = jax.device_get(found)
    anchor = np.stack(np.divmod(flat, lattice[1]), -1) * config.step - config.border
    return Tried(score[:graphs], anchor[:graphs])


@partial(jax.jit, static_argnames=("lattice", "size", "each"))
def _try_all(
    pooled: Array,
    tiles: Tiles,
    outside: Array | float,
    lattice: tuple[int, int],
    size: tuple[int, int, int],
    each: int,
) -> tuple[Array, Array]:
    grids = _residue_grids(pooled, outside, lattice, size)

    def cut(tile: Array) -> Array:
        return jax.lax.dynamic_slice(grids, tuple(tile), (1, 1, 1, *lattice))[0, 0, 0]

    if by_device(True, False):  # a graph at a time stays in the cache
        by_graph = tiles.tile.swapaxes(0, 1)
        total = jax.lax.map(lambda own: accumulate(cut, own, jnp.zeros(lattice)), by_graph)
    else:
        none = jnp.zeros((len(tiles.scale), *lattice))
        total = accumulate(jax.vmap(cut), tiles.tile, none)
    scores = total.reshape(len(tiles.scale), -1) * tiles.scale[:, None]
    return _tops(scores, each)


def _residue_grids(
    pooled: Array, outside: Array | float, lattice: tuple[int, int], size: tuple[int, int, int]
) -> Float[Array, "types_and_none step step tall wide"]:
    """Entry [t, i, j, k, l] is what type t finds at (step k + i, step l + j) less the border."""
    step, border, largest = size
    tall, wide = (n + -(-largest // step) for n in lattice)
    rows, cols = pooled.shape[1:]
    after = (border, tall * step - rows - border), (border, wide * step - cols - border)
    padded = jnp.pad(pooled, ((0, 0), *after), constant_values=outside)
    padded = jnp.concatenate([padded, jnp.zeros_like(padded[:1])])
    return padded.reshape(-1, tall, step, wide, step).transpose(0, 2, 4, 1, 3)


def _tops(scores: Float[Array, "graphs anchors"], each: int) -> tuple[Array, Array]:
    """The best entries of each row; for a few of them quicker than sorting."""
    best, where = [], []
    number = jnp.arange(scores.shape[1], dtype=jnp.int32)
    for _ in range(each):
        top = jnp.argmax(scores, 1).astype(jnp.int32)
        best.append(jnp.max(scores, 1))
        where.append(top)
        scores = jnp.where(number == top[:, None], -jnp.inf, scores)
    return jnp.stack(best, 1), jnp.stack(where, 1)
