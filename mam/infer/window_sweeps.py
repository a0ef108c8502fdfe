r"""Sweeps over elastic constraints on a GPU: every graph of a batch is one program of the device.

What ``mam.infer.sweeps.Sweeps`` does stage by stage, each a dozen kernels over all graphs that wait
for the host, a graph can do by itself: read what the sender tells, slide the window over it, first
along columns of places and then along rows, and add what is new to the receiver's belief. Messages
and order are the same; only the programs differ.

A program has one lane a place. Lanes read what others wrote: after a barrier.
"""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton as gpu
from jaxtyping import Array

from mam.core.devices import warps
from mam.factors.numeric_limits import limit
from mam.factors.window import WindowBlock
from mam.graph import Wiring
from mam.infer.passing import Store
from mam.infer.stages import Pass, Stages

_LANES_A_WARP = 64  # two places a thread


class _Program(NamedTuple):
    """The memory that programs read and write."""

    ends: tuple[Any, Any]  # (rows,): both variables of each factor
    radius: Any  # (rows,)
    beliefs: Any  # (variables, places)
    messages: Any  # (2 x rows, places): those to the first variables, then to the second
    told: Any  # (2, instances, places): before columns, and between columns and rows


def can_sweep(wiring: Wiring, stages: Stages) -> bool:
    """Whether all there is are windows without offsets, sent over in one orientation a way."""
    ways = [way.sends for way in (*stages.iteration, stages.deciding)]
    alike = [((False, True),), ((True, False),)]
    return (
        len(wiring.states) == 1
        and wiring.states[0] != 2  # of a binary variable one score is stored, not two
        and len(wiring.blocks) == 1
        and isinstance(wiring.blocks[0], WindowBlock)
        and wiring.blocks[0].centred
        and all(way in alike for way in ways)
    )


def sweep_windows(
    wiring: Wiring, evidence: Store, stages: Stages, sweeps: int, interpret: bool = False
) -> Store:
    """The beliefs after so many sweeps there and back and one that decides, as ``Sweeps`` has them.

    ``interpret`` runs the programs without a GPU, for tests.
    """
    [scores] = evidence
    block = wiring.blocks[0]
    assert isinstance(block, WindowBlock)
    first, second = (jnp.asarray(port.index, jnp.int32) for port in wiring.ports[0])
    radius = jnp.max(jnp.asarray(block.width, jnp.int32) // 2, -1)
    ways = (*stages.iteration, stages.deciding)
    orders = [jnp.asarray(way.row[0], jnp.int32) for way in ways]
    counts = jnp.stack([jnp.asarray(way.count, jnp.int32) for way in ways])
    quiet = jnp.zeros((wiring.store_sizes[0], scores.shape[1]), scores.dtype)
    told = jnp.zeros((2, wiring.instances, scores.shape[1]), scores.dtype)
    lanes = pl.next_power_of_2(scores.shape[1])
    known = (first, second, radius, counts, *orders)
    found, _, _ = pl.pallas_call(
        partial(_run, grid=block.grid, ways=ways, sweeps=sweeps, waits=not interpret),
        out_shape=[jax.ShapeDtypeStruct(one.shape, one.dtype) for one in (scores, quiet, told)],
        grid=(wiring.instances,),
        input_output_aliases={len(known) + place: place for place in range(3)},
        compiler_params=gpu.CompilerParams(num_warps=warps(lanes, _LANES_A_WARP)),
        interpret=interpret,
        name="sweep_windows",
    )(*known, scores, quiet, told)
    return (found,)


def _run(
    *refs: Any, grid: tuple[int, int], ways: tuple[Pass, ...], sweeps: int, waits: bool
) -> None:
    """All sweeps of one graph."""
    first, second, radius, counts, *orders = refs[: 4 + len(ways)]
    program = _Program((first, second), radius, *refs[-3:])
    own = pl.program_id(0)

    def go(which: int, decide: bool) -> None:
        towards = ways[which].sends[0].index(True)
        send = partial(_send, program, own, towards, grid, decide, waits)

        def stage(at: Array, carry: Array) -> Array:
            factor = orders[which][at, own]
            pl.when(factor < radius.shape[0])(partial(send, factor))
            return carry

        jax.lax.fori_loop(0, counts[which], stage, jnp.int32(0))

    def there_and_back(sweep: Array, carry: Array) -> Array:
        for which in range(len(ways) - 1):
            go(which, decide=False)
        return carry

    jax.lax.fori_loop(0, sweeps, there_and_back, jnp.int32(0))
    go(len(ways) - 1, decide=True)


def _send(
    program: _Program,
    own: Array,
    towards: int,
    grid: tuple[int, int],
    decide: bool,
    waits: bool,
    factor: Array,
) -> None:
    """One factor sends to its variable ``towards``."""
    size = grid[0] * grid[1]
    place = jnp.arange(pl.next_power_of_2(size), dtype=jnp.int32)
    real = place < size
    big = limit(program.beliefs.dtype)
    rows = program.radius.shape[0]
    source, target = (program.ends[side][factor] for side in (1 - towards, towards))
    radius = program.radius[factor]
    read = partial(gpu.load, mask=real, other=-jnp.inf)

    belief = read(program.beliefs.at[source, place])
    if decide:
        best = jnp.min(jnp.where(belief == jnp.max(belief), place, size))
        told = jnp.where(place == best, 0.0, -big).astype(belief.dtype)
    else:
        told = belief - read(program.messages.at[factor + (1 - towards) * rows, place])
    for axis in (0, 1):
        gpu.store(program.told.at[axis, own, place], told, mask=real)
        if waits:
            gpu.debug_barrier()
        told = _slid(program.told, own, place, real, radius, axis, grid)
    fresh = jnp.maximum(told - jnp.max(told), -big)
    back = factor + towards * rows
    old = read(program.messages.at[back, place])
    gpu.store(
        program.beliefs.at[target, place],
        read(program.beliefs.at[target, place]) + (fresh - old),
        mask=real,
    )
    gpu.store(program.messages.at[back, place], fresh, mask=real)
    if waits:
        gpu.debug_barrier()


def _slid(
    told: Any,
    own: Array,
    place: Array,
    real: Array,
    radius: Array,
    axis: int,
    grid: tuple[int, int],
) -> Array:
    """The best within the radius of each place along one axis."""
    step = grid[1] if axis == 0 else 1
    along = place // grid[1] if axis == 0 else place % grid[1]

    def further(away: Array, best: Array) -> Array:
        there = real & (along + away >= 0) & (along + away < grid[axis])
        beside = gpu.load(told.at[axis, own, place + away * step], mask=there, other=-jnp.inf)
        return jnp.maximum(best, beside)

    nothing = jnp.full(place.shape, -jnp.inf, told.dtype)
    return jax.lax.fori_loop(-radius, radius + 1, further, nothing)
