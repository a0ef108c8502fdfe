"""Which graphs of typed parts may be where: one pass over all graphs and a lattice of places.

Every vertex reads the score map of its own type, anchors lie a few px apart, also before the first
row and column, and each graph names its own best anchors. Banks here have hundreds of graphs, so
their scores (``forward``) at all anchors fit into memory.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.vision.elastic.bank import Bank
from mam.vision.elastic.forward import GRAIN, Tiles, lattice_scores, residue_grids, tiles_of


@dataclass(frozen=True)
class LatticeConfig:
    """Where graphs are tried."""

    step: int = 6  # px between anchors
    border: int = 48  # px before the first row and column where graphs may begin
    each: int = 3  # anchors of each graph that go on
    power: float = 0.6  # of the number of vertices, by which scores are divided; the paper's is .76


class Tried(NamedTuple):
    """The best anchors of each graph, best first."""

    score: Float[np.ndarray, "graphs each"]
    anchor: Int[np.ndarray, "graphs each 2"]  # (row, column) of the graph's corner


def all_tiles(bank: Bank, config: LatticeConfig) -> Tiles:
    """Prepare a bank: all graphs, and some that are none, up to one of few numbers."""
    number = -(-len(bank) // GRAIN) * GRAIN
    tiles = tiles_of(bank, np.arange(len(bank)), number, config.step, config.power)
    return jax.tree.map(jnp.asarray, tiles)


def try_all(
    pooled: Float[Array, "types rows cols"],
    tiles: Tiles,
    graphs: int,
    extent: int,
    outside: float,
    config: LatticeConfig,
) -> Tried:
    """Score every graph at every anchor; keep the best anchors of each."""
    rows, cols = (-(-(n + config.border) // config.step) for n in pooled.shape[1:])
    score, flat = jax.device_get(_try_all(pooled, tiles, outside, (rows, cols), extent, config))
    anchor = np.stack(np.divmod(flat, cols), -1) * config.step - config.border
    return Tried(score[:graphs], anchor[:graphs])


@partial(jax.jit, static_argnames=("lattice", "extent", "config"))
def _try_all(
    pooled: Array,
    tiles: Tiles,
    outside: Array | float,
    lattice: tuple[int, int],
    extent: int,
    config: LatticeConfig,
) -> tuple[Array, Array]:
    before = config.border
    grids = residue_grids(pooled[..., None], lattice, config.step, extent, outside, before)
    return _tops(lattice_scores(grids, tiles, lattice)[..., 0], config.each)


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
