r"""Which graphs may be where: one pass over all graphs of a bank and all anchors of an image.

The score of a graph at an anchor lets every vertex go its own way within a small window,

.. math::
    \frac{1}{|V|^{0.76}} \sum_v \max_{0 \le \delta < \eta} s(a + r_v + \delta),

with :math:`s` the evidence under the part at each place. The maximum over the window is taken once
for the whole image. Anchors form a lattice of step 13, so the pooled map is split into 13 x 13
residue grids: what a vertex adds at all anchors is then one contiguous tile of one grid.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.factors.reduce import sliding
from mam.vision.elastic.bank import Bank

_CHUNK = 512  # graphs a step; their scores at 400 anchors take 0.8 MB an image
_GRAIN = 16  # vertices are padded to multiples of this


@dataclass(frozen=True)
class ForwardConfig:
    """Settings of the forward pass (paper, "Efficient inference")."""

    window: int = 15  # px, in which each vertex takes its best place
    step: int = 13  # px between anchors
    power: float = 0.76  # of the number of vertices, by which scores are divided
    each_anchor: int = 3  # graphs kept at an anchor
    kept: int = 140  # candidates kept in all


class Chunk(NamedTuple):
    """Graphs of similar size, on the device."""

    tile: Int[Array, "vertices graphs 4"]  # residues and quotients of each vertex by the step
    there: Float[Array, "vertices graphs"]
    scale: Float[Array, " graphs"]
    graph: Int[Array, " graphs"]


class Ranked(NamedTuple):
    """Candidates of each image, best first."""

    graph: Int[np.ndarray, "images kept"]
    anchor: Int[np.ndarray, "images kept 2"]  # (row, column) px
    score: Float[np.ndarray, "images kept"]  # -inf where there are fewer candidates


def part_scores(
    evidence: Float[Array, "images rows cols"], mask: np.ndarray, outside: float
) -> Float[Array, "images rows cols"]:
    """The evidence under a part placed at each pixel; ``outside`` is that of pixels beyond."""
    reach = len(mask) // 2
    pad = ((0, 0), (reach, reach), (reach, reach))
    padded = jnp.pad(evidence, pad, constant_values=outside)
    rows, cols = evidence.shape[1:]
    places = np.argwhere(mask).tolist()
    total = jnp.zeros_like(evidence)
    for i, j in places:
        total = total + padded[:, i : i + rows, j : j + cols]
    return total


def forward_chunks(bank: Bank, config: ForwardConfig) -> Iterator[Chunk]:
    """The graphs of a bank from small to large, ready for the forward pass."""
    order = np.argsort(bank.vertex_count, kind="stable")
    for start in range(0, len(order), _CHUNK):
        graphs = order[start : start + _CHUNK]
        counts = bank.vertex_count[graphs]
        room = -(-int(counts.max()) // _GRAIN) * _GRAIN
        places = np.zeros((_CHUNK, room, 2), np.int32)
        width = min(room, bank.vertices.shape[1])
        places[: len(graphs), :width] = bank.vertices[graphs, :width]
        there = np.zeros((_CHUNK, room), np.float32)
        there[: len(graphs)] = np.arange(room) < counts[:, None]
        quotient, residue = np.divmod(places, config.step)
        scale = np.zeros(_CHUNK, np.float32)
        scale[: len(graphs)] = counts.astype(np.float32) ** -config.power
        number = np.full(_CHUNK, -1, np.int32)
        number[: len(graphs)] = graphs
        tile = np.concatenate([residue, quotient], -1)
        yield Chunk(*map(jnp.asarray, (tile.swapaxes(0, 1), there.T, scale, number)))


def forward(
    scores: Float[Array, "images rows cols"],
    chunks: list[Chunk],
    config: ForwardConfig,
    largest: int,
    outside: float,
) -> Ranked:
    """Rank all graphs at all anchors; ``largest`` is the greatest extent of a graph."""
    grids = _residue_grids(scores, config.window, config.step, largest, outside)
    images, side = scores.shape[0], -(-scores.shape[1] // config.step)
    wide = -(-scores.shape[2] // config.step)
    best = jnp.full((images, side * wide, config.each_anchor), -jnp.inf)
    who = jnp.full(best.shape, -1, jnp.int32)
    for chunk in chunks:
        best, who = _ranked_chunk(grids, chunk, best, who, side, wide)
    values, graph, anchor = jax.device_get(_top(best, who, config.kept))
    places = np.stack([anchor // wide, anchor % wide], -1) * config.step
    return Ranked(graph, places, values)


@partial(jax.jit, static_argnames=("window", "step", "largest"))
def _residue_grids(
    scores: Float[Array, "images rows cols"], window: int, step: int, largest: int, outside: float
) -> Float[Array, "step step tall wide images"]:
    """Entry [i, j, k, l] is the pooled score at (step k + i, step l + j)."""
    images, rows, cols = scores.shape
    tall, wide = (-(-n // step) + -(-(largest + 1) // step) for n in (rows, cols))
    more = ((0, 0), (0, tall * step - rows + window - 1), (0, wide * step - cols + window - 1))
    pooled = jnp.pad(scores, more, constant_values=outside)
    for axis in (1, 2):
        pooled = sliding(pooled, axis, window, jnp.maximum)
    split = pooled.reshape(images, tall, step, wide, step)
    return split.transpose(2, 4, 1, 3, 0)


@partial(jax.jit, static_argnames=("side", "wide"))
def _ranked_chunk(
    grids: Array, chunk: Chunk, best: Array, who: Array, side: int, wide: int
) -> tuple[Array, Array]:
    """Merge the best of a chunk into the best so far."""
    images = grids.shape[-1]
    cut = jax.vmap(
        lambda tile: jax.lax.dynamic_slice(
            grids, (tile[0], tile[1], tile[2], tile[3], 0), (1, 1, side, wide, images)
        )[0, 0]
    )

    def add(total: Array, vertex: tuple[Array, Array]) -> tuple[Array, None]:
        tile, there = vertex
        return total + cut(tile) * there[:, None, None, None], None

    start = jnp.zeros((len(chunk.scale), side, wide, images))
    total, _ = jax.lax.scan(add, start, (chunk.tile, chunk.there))
    there = (chunk.graph >= 0)[:, None, None, None]
    scores = jnp.where(there, total * chunk.scale[:, None, None, None], -jnp.inf)
    scores = scores.reshape(len(chunk.scale), side * wide, images).transpose(2, 1, 0)
    top, place = jax.lax.top_k(scores, best.shape[-1])
    merged = jnp.concatenate([best, top], -1)
    names = jnp.concatenate([who, chunk.graph[place]], -1)
    best, place = jax.lax.top_k(merged, best.shape[-1])
    return best, jnp.take_along_axis(names, place, -1)


@partial(jax.jit, static_argnames="kept")
def _top(best: Array, who: Array, kept: int) -> tuple[Array, Array, Array]:
    images, _, each = best.shape
    values, place = jax.lax.top_k(best.reshape(images, -1), kept)
    return values, jnp.take_along_axis(who.reshape(images, -1), place, -1), place // each
