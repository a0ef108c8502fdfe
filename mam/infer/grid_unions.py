r"""Max-product where every factor is the ``AnyOf`` of one pattern, shifted over a grid.

A variable stands at every cell; the factor at cell :math:`p` has the members at :math:`p - o_k` for
the offsets :math:`o_k` of the pattern, and the weight :math:`w_p`. The messages are those of
``mam.factors.any_of``, but nothing is wired: where a message goes is a sum of cell and offset. So a
batch takes no work of the host, and holds nothing but its messages.

Grids are rows of cells, each with a width of its own. Offsets lead round their ends: cells near the
border must have no candidates, see ``GridUnions``.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.pytree import pytree
from mam.factors.base import Leaf
from mam.factors.numeric_limits import limit
from mam.infer.loop import run

_STRIDE = 5  # iterations between two looks whether messages still move


class GridUnions(NamedTuple):
    """A batch of grids; what is no ``candidate`` is OFF.

    A candidate is at least as far from the border of its grid as the pattern reaches.
    """

    weight: Float[np.ndarray, "grids cells"]  # score of having any member ON, less that of none
    candidate: Bool[np.ndarray, "grids cells"]
    prior: float  # score of a candidate that is ON
    width: Int[np.ndarray, " grids"]  # cells of a line
    offset: Int[np.ndarray, "members 2"]  # (lines, cells) from a variable to its factors


class GridOptions(NamedTuple):
    """Settings; they are those of ``Options`` of the same names."""

    iterations: int = 300
    damping: float = 0.1
    noise: float = 0.01
    tolerance: float = 1e-4
    blocks: int = 4
    seed: int = 0


class Covered(NamedTuple):
    """Answers."""

    belief: Float[np.ndarray, "grids cells"]
    rested: Bool[np.ndarray, " grids"]
    iterations: Int[np.ndarray, " grids"]

    @property
    def on(self) -> Bool[np.ndarray, "grids cells"]:
        """Which variables are ON."""
        return self.belief > 0


def solve_grids(grids: GridUnions, options: GridOptions) -> Covered:
    """Run messages until they rest; a variable is ON if its belief is above 0.

    >>> weight, width = np.full((1, 9), -1.0, np.float32), np.array([9])
    >>> weight[0, 3:6] = 2.0
    >>> inside = np.pad(np.ones((1, 7), bool), ((0, 0), (1, 1)))
    >>> grids = GridUnions(weight, inside, -1.0, width, np.array([[0, -1], [0, 0], [0, 1]]))
    >>> np.flatnonzero(solve_grids(grids, GridOptions()).on).tolist()
    [4]
    """
    shift = grids.width[:, None] * grids.offset[:, 0] + grids.offset[:, 1]
    settings = options.damping, options.noise, options.tolerance
    found = _solve(
        grids.weight.astype(np.float32),
        np.where(grids.candidate, grids.prior, -limit(np.float32)).astype(np.float32),
        shift.astype(np.int32),
        tuple(np.float32(value) for value in settings),
        np.int32(-(-options.iterations // _STRIDE)),
        np.uint32(options.seed),
        options.blocks,
    )
    belief, rested, looks = jax.device_get(found)
    return Covered(belief, rested, looks * _STRIDE)


@partial(jax.jit, static_argnames="blocks")
def _solve(
    weight: Array,
    evidence: Array,
    shift: Array,
    settings: tuple[Array, Array, Array],
    looks: Array,
    seed: Array,
    blocks: int,
) -> tuple[Array, Array, Array]:
    damping, noise, tolerance = settings
    key = jax.random.key(seed)
    solver = _Messages(weight, evidence, shift, key, damping, tolerance, blocks)
    draws = jax.random.logistic(key, (shift.shape[1], weight.shape[1]), weight.dtype)
    first = jnp.broadcast_to(noise * draws, (len(weight), *draws.shape))
    messages, info = run(solver, first, looks)
    return solver.beliefs(messages), info.converged, info.iterations


@pytree
@dataclass(frozen=True)
class _Messages:
    """A solver for ``loop.run``; its state are the messages from factors to their members."""

    weight: Leaf
    evidence: Leaf
    shift: Leaf  # (grids, members): from a variable to its factors, in cells of the row
    key: Leaf
    damping: Leaf
    tolerance: Leaf
    blocks: int = field(metadata={"static": True})

    @property
    def instances(self) -> int:
        """The number of grids."""
        return len(self.weight)

    def beliefs(self, messages: Float[Array, "grids members cells"]) -> Float[Array, "grids cells"]:
        """The evidence of every variable and all messages to it."""
        grids, members, cells = messages.shape
        row = jnp.arange(grids * members, dtype=jnp.int32).reshape(grids, members, 1)
        place = row * cells + self._cells(self.shift)
        said = messages.reshape(-1).at[place].get(mode="promise_in_bounds")
        return self.evidence + jnp.sum(said, 1)

    def step(
        self, state: Array, active: Bool[Array, " grids"], iteration: Int[Array, ""]
    ) -> tuple[Array, Bool[Array, " grids"]]:
        """Make some iterations; the last one tells which grids still move."""

        def before(i: Array, messages: Array) -> Array:
            return self._iterate(messages, active, iteration * _STRIDE + i)

        messages = jax.lax.fori_loop(0, _STRIDE - 1, before, state)
        updated = self._iterate(messages, active, iteration * _STRIDE + _STRIDE - 1)
        return updated, jnp.max(jnp.abs(updated - messages), (1, 2)) > self.tolerance

    def _iterate(self, messages: Array, active: Array, iteration: Array) -> Array:
        """Update every factor once, in blocks that are drawn by cell."""
        key = jax.random.fold_in(jax.random.fold_in(self.key, 1), iteration)
        bits = jax.random.bits(key, self.weight.shape[1:])
        block_of = (bits % self.blocks).astype(jnp.int32)

        def one_block(block: Array, messages: Array) -> Array:
            mine = (block_of == block) & active[:, None]
            return self._update(messages, mine)

        return jax.lax.fori_loop(0, self.blocks, one_block, messages)

    def _update(self, messages: Array, mine: Bool[Array, "grids cells"]) -> Array:
        grids, _, cells = messages.shape
        own = jnp.arange(grids, dtype=jnp.int32)[:, None, None] * cells
        there = self.beliefs(messages).reshape(-1)
        place = own + self._cells(-self.shift)
        incoming = there.at[place].get(mode="promise_in_bounds") - messages
        gain = jnp.maximum(incoming, 0.0)
        free, top, second = _summed_and_best(gain, incoming)
        # What the other members give if they are free, and what it costs to have one of them ON.
        others = free[:, None] - gain
        slack = jnp.minimum(jnp.where(incoming < top[:, None], top[:, None], second[:, None]), 0.0)
        new = jnp.minimum(self.weight[:, None] + others, -slack)
        mixed = self.damping * messages + (1 - self.damping) * new
        return jnp.where(mine[:, None], mixed, messages)

    def _cells(self, shift: Int[Array, "grids members"]) -> Int[Array, "grids members cells"]:
        """The cell at a distance from each cell, round the ends of the row."""
        cells = self.weight.shape[1]
        place = jnp.arange(cells, dtype=jnp.int32) + shift[..., None]
        place = jnp.where(place < 0, place + cells, place)
        return jnp.where(place >= cells, place - cells, place)


def _summed_and_best(
    gain: Float[Array, "grids members cells"], incoming: Float[Array, "grids members cells"]
) -> tuple[Array, Array, Array]:
    """The sum of the gains of all members, and the best two messages, in one pass."""

    def merged(one: tuple, other: tuple) -> tuple:
        top = jnp.maximum(one[1], other[1])
        lower = jnp.minimum(one[1], other[1])
        return one[0] + other[0], top, jnp.maximum(lower, jnp.maximum(one[2], other[2]))

    least = jnp.asarray(-2 * limit(np.float32), incoming.dtype)
    start = jnp.zeros((), gain.dtype), least, least
    values = gain, incoming, jnp.full_like(incoming, least)
    return jax.lax.reduce(values, start, merged, (1,))
