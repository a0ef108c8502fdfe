"""Which graphs may be where: one pass over all graphs of a bank and all anchors of an image.

The score of a graph at an anchor is that of ``forward``, with the evidence under the part at each
place, and by default every other vertex of the walk along a graph counts. The best graphs of each
group (all graphs, or one group a category) are kept at every anchor.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.core.devices import by_device
from mam.core.either import Values
from mam.factors.reduce import sliding
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.forward import Tiles, lattice_scores, residue_grids, tiles_of
from mam.vision.parts.greedy import static_mask, sums_under

# Graphs a step, on a core and on an accelerator; scores of 512 at 400 anchors take 0.8 MB an image.
_CHUNK = 512, 2048
_AHEAD = 16  # chunks that may wait on a device at a time


@dataclass(frozen=True)
class ForwardConfig:
    """Settings of the forward pass; the paper's where nothing else is said."""

    window: int = 15  # px, in which each vertex takes its best place
    step: int = 13  # px between anchors
    power: float = 0.76  # of the number of vertices, by which scores are divided
    by_category: bool = True  # a group for each category; the paper has one group
    each_anchor: int = 1  # graphs of a group kept at an anchor; the paper: 3
    each_group: int = 16  # candidates from each group; the paper: 140 from its one group
    more: int = 100  # candidates from all groups beside those; the paper: none
    every: int = 2  # along the walk of a graph, every so many vertices count; the paper: 1


class Chunk(NamedTuple):
    """Graphs of similar size."""

    tiles: Tiles
    graph: Int[Array | np.ndarray, " graphs"]  # -1: none
    group: Int[Array | np.ndarray, " graphs"]


class Ranked(NamedTuple):
    """Candidates of each image; the score is -inf where there are fewer."""

    graph: Int[Values, "images candidates"]
    anchor: Int[Values, "images candidates 2"]  # (row, column) px
    score: Float[Values, "images candidates"]


def groups_of(bank: Bank, config: ForwardConfig) -> Int[np.ndarray, " graphs"]:
    """The group of every graph, from 0 on."""
    if not config.by_category:
        return np.zeros(len(bank), np.int32)
    return np.unique(bank.category, return_inverse=True)[1].astype(np.int32)


def part_scores(
    evidence: Float[Array | np.ndarray, "images rows cols"], mask: np.ndarray, outside: float
) -> Float[Array, "images rows cols"]:
    """The evidence under a part placed at each pixel; ``outside`` is that of pixels beyond."""
    return _part_scores(evidence, static_mask(mask), outside)


_part_scores = jax.jit(sums_under, static_argnames="mask")


def forward_chunks(bank: Bank, config: ForwardConfig) -> Iterator[Chunk]:
    """The graphs of a bank from small to large, ready for the forward pass."""
    order = np.argsort(-(-bank.vertex_count // config.every), kind="stable")
    groups = groups_of(bank, config)
    size = by_device(*_CHUNK)
    for start in range(0, len(order), size):
        graphs = order[start : start + size]
        number, group = np.full(size, -1, np.int32), np.zeros(size, np.int32)
        number[: len(graphs)], group[: len(graphs)] = graphs, groups[graphs]
        # A walk passes everywhere, so every other vertex tells nearly as much for half the time.
        tiles = tiles_of(bank, graphs, size, config.step, config.power, config.every)
        yield Chunk(tiles, number, group)


def forward(
    scores: Float[Array | np.ndarray, "images rows cols"],
    chunks: Iterable[Chunk],
    groups: int,
    config: ForwardConfig,
    extent: int,
    outside: float,
) -> Ranked:
    """Rank all graphs at all anchors; ``extent`` is that of the largest graph.

    Chunks may come from an iterator: only one is held at a time. What is found is on the device.
    """
    rows, cols = (-(-n // config.step) for n in scores.shape[1:])
    lattice = rows, cols
    grids = _pooled_grids(scores, config.window, config.step, lattice, extent, outside)
    shape = (groups, lattice[0] * lattice[1], scores.shape[0], config.each_anchor)
    best, who = jnp.full(shape, -jnp.inf), jnp.full(shape, -1, jnp.int32)
    for number, chunk in enumerate(chunks, 1):
        best, who = _merge(grids, chunk, best, who, lattice)
        if number % _AHEAD == 0:
            jax.block_until_ready(best)
    return _chosen(best, who, config.each_group, config.more, lattice[1], config.step)


@partial(jax.jit, static_argnames=("window", "step", "lattice", "extent"))
def _pooled_grids(
    scores: Float[Array, "images rows cols"],
    window: int,
    step: int,
    lattice: tuple[int, int],
    extent: int,
    outside: Array | float,
) -> Float[Array, "2 step step tall wide images"]:
    """The best score in the window that begins at each place, as grids."""
    more = (0, window - 1)
    pooled = jnp.pad(scores, ((0, 0), more, more), constant_values=outside)
    for axis in (1, 2):
        pooled = sliding(pooled, axis, window, jnp.maximum)
    maps = jnp.moveaxis(pooled, 0, -1)[None]
    return residue_grids(maps, lattice, step, extent, outside)


@partial(jax.jit, static_argnames="lattice")
def _merge(
    grids: Array, chunk: Chunk, best: Array, who: Array, lattice: tuple[int, int]
) -> tuple[Array, Array]:
    """Merge the best of a chunk into the best so far."""
    groups, each = best.shape[0], best.shape[-1]
    scores = lattice_scores(grids, chunk.tiles, lattice)
    scores = jnp.where((chunk.graph >= 0)[:, None, None], scores, -jnp.inf)
    tops, names = [best], [who]
    for _ in range(each):
        top = jax.ops.segment_max(scores, chunk.group, groups)
        here = jnp.where(scores == top[chunk.group], chunk.graph[:, None, None], -1)
        name = jnp.maximum(jax.ops.segment_max(here, chunk.group, groups), -1)
        scores = jnp.where(chunk.graph[:, None, None] == name[chunk.group], -jnp.inf, scores)
        tops.append(top[..., None])
        names.append(name[..., None])
    joined = jnp.concatenate(tops, -1)
    if each == 1:  # sorting rows of two takes longer than everything else
        new = joined[..., 1] > joined[..., 0]
        return jnp.max(joined, -1, keepdims=True), jnp.where(new[..., None], names[1], who)
    best, place = jax.lax.top_k(joined, each)
    return best, jnp.take_along_axis(jnp.concatenate(names, -1), place, -1)


@partial(jax.jit, static_argnames=("each_group", "more", "cols", "step"))
def _chosen(best: Array, who: Array, each_group: int, more: int, cols: int, step: int) -> Ranked:
    """Graph, anchor and score of the best of each group, then of the best of the rest."""
    groups, anchors, images, each = best.shape
    flat = best.transpose(2, 0, 1, 3).reshape(images, groups, -1)
    quota = min(each_group, flat.shape[-1])
    score, place = jax.lax.top_k(flat, quota)
    number = (place + jnp.arange(groups)[:, None] * flat.shape[-1]).reshape(images, -1)
    flat, score = flat.reshape(images, -1), score.reshape(images, -1)
    rest = flat.at[jnp.arange(images)[:, None], number].set(-jnp.inf)
    second, extra = jax.lax.top_k(rest, min(more, flat.shape[-1]))
    score, number = jnp.concatenate([score, second], 1), jnp.concatenate([number, extra], 1)
    names = who.transpose(2, 0, 1, 3).reshape(images, -1)
    graph = jnp.take_along_axis(names, number, 1)
    anchor = jnp.stack(jnp.divmod(number // each % anchors, cols), -1) * step
    return Ranked(graph, anchor, score)
