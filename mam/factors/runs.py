"""Soft maxima over runs of a row, without subtraction, by one table of half-block scans.

Level h cuts the row into blocks of 2^(h+1) entries and stores, from the middle of each block,
scans towards both ends. A run [i, j] with i < j is then two entries of the level of the highest
bit in which i and j differ, whatever its length (a "disjoint sparse table"). The indices depend on
the structure only and are planned once; the values are a few scans.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.factors.base import Temperature
from mam.factors.numeric_limits import limit
from mam.factors.reduce import soft_maximum, soft_pair


def plan_runs(inside: np.ndarray, length: int) -> tuple[np.ndarray, np.ndarray]:
    """Plan the runs of ``0 .. length - 1`` that avoid the given places.

    ``inside`` has one row of sorted places a query, padded with -1. The result has two flat
    indices (both ends) into the table for each of the runs between places; an index past the
    table stands for an empty run.
    """
    size = _table_width(length)
    cuts = np.where(inside < 0, length, inside)
    edge = np.full((len(cuts), 1), -1)
    start = np.concatenate([edge, cuts], 1) + 1
    stop = np.concatenate([cuts, edge * 0 + length], 1) - 1
    empty = start > stop
    level = np.zeros(start.shape, np.int64)
    differ = np.where(empty, 0, start ^ stop)
    for bit in range(1, size.bit_length()):
        level += differ >= (1 << bit)
    # A run of one entry reads that entry twice at level "entries", kept in front of the scans.
    single = start == stop
    first = np.where(single, start, (level + 1) * size + start)
    last = np.where(single, start, (level + 1) * size + stop)
    outside = size * (1 + max(1, size.bit_length()))
    return (
        np.where(empty, outside, first).astype(np.int32),
        np.where(empty | single, outside, last).astype(np.int32),
    )


def join_runs(scores: Array, runs: tuple[Array, Array], temperature: Temperature) -> Array:
    """Return for each query the soft maximum of ``scores[:, run]`` over its runs."""
    floor = -limit(scores.dtype)
    size = _table_width(scores.shape[1])
    row = jnp.pad(scores, ((0, 0), (0, size - scores.shape[1])), constant_values=floor)
    levels = [row]
    for level in range(max(1, size.bit_length() - 1)):
        levels.append(_half_block_scans(row, 1 << level, temperature))
    table = jnp.concatenate(levels, 1)
    first, last = (table.at[:, ends].get(mode="fill", fill_value=floor) for ends in runs)
    return soft_maximum(soft_pair(first, last, temperature), -1, temperature)


def _half_block_scans(row: Array, half: int, temperature: Temperature) -> Array:
    blocks = row.reshape(len(row), -1, 2, half)

    def scan(values: Array, reverse: bool) -> Array:
        return jax.lax.associative_scan(
            lambda a, b: soft_pair(a, b, temperature), values, axis=2, reverse=reverse
        )

    halves = jnp.stack([scan(blocks[:, :, 0], True), scan(blocks[:, :, 1], False)], 2)
    return halves.reshape(row.shape)


def _table_width(length: int) -> int:
    return max(2, 1 << int(length - 1).bit_length())
