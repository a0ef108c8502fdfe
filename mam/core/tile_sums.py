r"""Sums of tiles cut from grids, on a GPU: every row of every sum is one program of the device.

.. math::
    t_g(i, l, b) = \sum_{v < n_g} G_{m_{vg}, p_{vg}, q_{vg}}(k_{vg} + i, h_{vg} + l, b).

Written as a loop over v, each step is a kernel that reads and writes all sums; here a sum never
leaves the registers of its program.
"""

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as gpu
from jaxtyping import Array, Float, Integer

from mam.core.devices import warps

_LANES_A_WARP = 128


def tile_sums(
    grids: Float[Array, "maps step step tall wide images"],
    which: Integer[Array, "vertices sums"],
    tile: Integer[Array, "vertices sums 4"],
    count: Integer[Array, " sums"],
    size: tuple[int, int],
    interpret: bool = False,
) -> Float[Array, "sums places images"]:
    """Sum tiles of ``size``: of map ``which``, grid and first place ``tile``, the first ``count``.

    ``interpret`` runs the programs without a GPU, for tests.
    """
    maps, step, _, tall, wide, images = grids.shape
    rows, cols = size
    lanes = pl.next_power_of_2(cols * images)
    found = pl.pallas_call(
        partial(_run, width=cols * images, images=images),
        out_shape=jax.ShapeDtypeStruct((len(count), rows, cols * images), grids.dtype),
        grid=(len(count), rows),
        compiler_params=gpu.CompilerParams(num_warps=warps(lanes, _LANES_A_WARP)),
        interpret=interpret,
        name="tile_sums",
    )(
        grids.reshape(maps, step, step, tall, wide * images),
        *(numbers.astype(jnp.int32) for numbers in (which, tile, count)),
    )
    return found.reshape(len(count), rows * cols, images)


def _run(
    grids: Any, which: Any, tile: Any, count: Any, found: Any, *, width: int, images: int
) -> None:
    """One row of one sum."""
    own, row = pl.program_id(0), pl.program_id(1)
    lane = jnp.arange(pl.next_power_of_2(width), dtype=jnp.int32)
    real = lane < width

    def add(vertex: Array, total: Array) -> Array:
        down, right, first, start = (tile[vertex, own, k] for k in range(4))
        place = which[vertex, own], down, right, first + row
        part = gpu.load(grids.at[(*place, start * images + lane)], mask=real, other=0.0)
        return total + part

    total = jax.lax.fori_loop(0, count[own], add, jnp.zeros(lane.shape, grids.dtype))
    gpu.store(found.at[own, row, lane], total, mask=real)
