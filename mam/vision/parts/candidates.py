r"""Which placements of parts are worth a variable: pruning before the sparsifier is solved.

A placement covers :math:`n` ON pixels and :math:`f` OFF pixels of the image. What it adds to the
score is at most its gain bound

.. math:: \mathrm{gain} \cdot n - \mathrm{loss} \cdot f + \mathrm{prior},

and where another placement covers all its ON pixels and no more OFF pixels, that one can take its
place. Both rules count OFF pixels as if no two placements of the best answer covered the same one;
then they lose nothing. ``safe`` pruning makes no such assumption: :math:`f` is left out of the
bound, and the other's OFF pixels must be among the placement's own.

Everything is bits: the neighbourhood of each pixel is packed into words, a part is a word too, and
covering is AND.
"""

from dataclasses import dataclass
from functools import lru_cache, partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Int8, UInt32

from mam.core.chunks import accumulate
from mam.core.columns import Columns
from mam.core.growing import GrowingSizes
from mam.core.padded import PAST, take
from mam.core.pytree import pytree
from mam.factors.base import Leaf
from mam.vision.parts.masks import Parts

PRUNING = ("strong", "safe", "none")
_WORD = 32
# Candidates that are compared with all others, at least: up to here their number costs no time.
_NEAR = 2048


@pytree
@dataclass(frozen=True)
class PartCandidates(Columns):
    """A list of placements, sorted by image, row, column and type; padded at the end."""

    image: Leaf  # (candidates,): number in the batch; past the end: padding
    row: Leaf
    column: Leaf
    type: Leaf


@pytree
@dataclass(frozen=True)
class _Shapes:
    """The parts as bits, alone and seen from a neighbour."""

    own: Leaf  # (words, types)
    shifted: Leaf  # (words, offsets, types): a part moved by an offset, cut to the window
    offsets: Leaf  # (offsets, 2)


@pytree
@dataclass(frozen=True)
class _Spots:
    """The positions near ON pixels, and what every type of part covers there."""

    image: Leaf  # (spots,)
    row: Leaf  # (spots,)
    column: Leaf  # (spots,)
    number: Leaf  # (images, rows, cols): of the spot at each position; past the end: none
    off: Leaf  # (words, spots): OFF pixels around the spot; what is outside or unknown is neither
    on: Leaf  # (words, spots)
    covered: Leaf  # (spots, types): number of ON pixels under each part
    spilled: Leaf  # (spots, types): number of OFF pixels


def prune(
    states: Int8[np.ndarray, "images rows cols"],
    sizes: Int[np.ndarray, "images 2"],
    parts: Parts,
    pruning: str,
    known: GrowingSizes,
) -> tuple[PartCandidates, Bool[Array, " candidates"]]:
    """List placements, and say which of them may be ON in a best explanation of each image.

    ``states`` are 1 (ON), -1 (OFF) or 0 (unknown), of images padded to one shape, ``sizes`` are
    their own; a part is placed by its middle.
    """
    shapes, near = _shapes_of(parts, parts.side - 1), _shapes_of(parts, 1)
    noise = parts.noise
    loss = noise.loss if pruning == "strong" else 0.0
    rates = np.array([noise.gain, loss, noise.prior], np.float32)
    least = int(-noise.prior // noise.gain) + 1
    look = _look(states, sizes.astype(np.int32), np.int16(least), side=parts.side)
    around, promising, count = look
    capacity = known.fit("spots", int(count))
    spots, worthy, count = _spots(around, promising, shapes.own, rates, capacity)
    capacity, by_set = known.fit("worthy", int(count)), pruning == "safe"
    if pruning == "none":
        found = _listed(spots, worthy, capacity)
        return found, found.image < len(states)
    # Most are dominated by a close neighbour; only the others are compared with all.
    found, kept, count = _first_cut(spots, worthy, near, capacity, by_set)
    capacity = known.fit("near", int(count), least=_NEAR)
    return _second_cut(spots, found, kept, shapes, capacity, by_set)


@lru_cache(maxsize=64)
def _bit_places(side: int) -> tuple[tuple[int, int, int, int], ...]:
    """Row and column in the window, word and bit of every pixel of a part."""
    return tuple((i // side, i % side, i // _WORD, i % _WORD) for i in range(side * side))


def _pack(masks: Bool[np.ndarray, "*batch side side"]) -> UInt32[np.ndarray, "words *batch"]:
    side = masks.shape[-1]
    flat = masks.reshape(*masks.shape[:-2], side * side)
    short = -flat.shape[-1] % _WORD
    padded = np.concatenate([flat, np.zeros((*flat.shape[:-1], short), bool)], -1)
    words = padded.reshape(*flat.shape[:-1], -1, _WORD).astype(np.uint32)
    packed = (words << np.arange(_WORD, dtype=np.uint32)).sum(-1, dtype=np.uint32)
    return np.moveaxis(packed, -1, 0)


@lru_cache(maxsize=16)
def _shapes_of(parts: Parts, reach: int) -> _Shapes:
    moved, offsets = parts.moved(reach)
    return _Shapes(_pack(parts.masks), _pack(moved), offsets.astype(np.int32))


def _neighbourhoods(images: Bool[Array, "images rows cols"], side: int) -> Array:
    """Pack the window around every pixel into words."""
    _, rows, cols = images.shape
    reach = side // 2
    wide = jnp.pad(images, ((0, 0), (reach, reach), (reach, reach))).astype(jnp.uint32)
    words = [jnp.zeros(images.shape, jnp.uint32) for _ in range(-(-side * side // _WORD))]
    for row, col, word, bit in _bit_places(side):
        words[word] |= wide[:, row : row + rows, col : col + cols] << jnp.uint32(bit)
    return jnp.stack(words)


def _count(words: UInt32[Array, "words *rest"]) -> Int[Array, "*rest"]:
    return jnp.sum(jax.lax.population_count(words), 0).astype(jnp.int16)


@partial(jax.jit, static_argnames="side")
def _look(states: Array, sizes: Array, least: Array, side: int) -> tuple[Array, Array, Array]:
    """Pack the neighbourhoods; tell which, and how many, have the ``least`` ON pixels.

    Any placement needs these. Here and below, counts come with what they count: a sum of its own
    would be one more compilation.
    """
    _, rows, cols = states.shape
    inside = jnp.arange(rows)[:, None] < sizes[:, 0, None, None]
    inside &= jnp.arange(cols) < sizes[:, 1, None, None]
    on = _neighbourhoods((states > 0) & inside, side)
    off = _neighbourhoods((states < 0) & inside, side)
    promising = (_count(on) >= least) & inside
    return jnp.stack([on, off]), promising, jnp.sum(promising)


@partial(jax.jit, static_argnames="capacity")
def _spots(
    around: Array, promising: Array, own: Array, rates: Array, capacity: int
) -> tuple[_Spots, Bool[Array, "spots types"], Array]:
    """List the promising positions; tell which placements there have a positive gain bound."""
    place = jnp.nonzero(promising, size=capacity, fill_value=PAST)
    numbers = jnp.arange(capacity, dtype=jnp.int32)
    number = jnp.full(promising.shape, capacity, jnp.int32).at[place].set(numbers, mode="drop")
    on, off = around.at[:, :, *place].get(mode="fill", fill_value=0)
    covered, spilled = _count(on[..., None] & own[:, None]), _count(off[..., None] & own[:, None])
    image, row, column = (values.astype(jnp.int32) for values in place)
    gain, loss, prior = rates
    worth = gain * covered.astype(rates.dtype) - loss * spilled.astype(rates.dtype) + prior
    spots = _Spots(image, row, column, number, off, on, covered, spilled)
    return spots, worth > 0, jnp.sum(worth > 0)


@partial(jax.jit, static_argnames="capacity")
def _listed(spots: _Spots, worthy: Array, capacity: int) -> PartCandidates:
    spot, type_ = jnp.nonzero(worthy, size=capacity, fill_value=PAST)
    image, row, column = (take(v, spot, PAST) for v in (spots.image, spots.row, spots.column))
    return PartCandidates(image, row, column, type_.astype(jnp.int32))


@partial(jax.jit, static_argnames=("capacity", "by_set"))
def _first_cut(
    spots: _Spots, worthy: Array, near: _Shapes, capacity: int, by_set: bool
) -> tuple[PartCandidates, Array, Array]:
    """List the worthy placements; tell which, and how many, no close neighbour can replace.

    Steps that share a size are compiled together: a new size then costs one compilation.
    """
    found = _listed(spots, worthy, capacity)
    return found, *_undominated(spots, found, near, by_set)


@partial(jax.jit, static_argnames=("capacity", "by_set"))
def _second_cut(
    spots: _Spots, found: PartCandidates, kept: Array, shapes: _Shapes, capacity: int, by_set: bool
) -> tuple[PartCandidates, Array]:
    """List those that are left; tell which of them nothing within reach can replace."""
    (which,) = jnp.nonzero(kept, size=capacity, fill_value=PAST)
    found = jax.tree.map(lambda values: take(values, which, PAST), found)
    return found, _undominated(spots, found, shapes, by_set)[0]


@partial(jax.jit, static_argnames="by_set")
def _undominated(
    spots: _Spots, found: PartCandidates, window: _Shapes, by_set: bool
) -> tuple[Bool[Array, " candidates"], Array]:
    """Tell which, and how many, candidates no other one within the window can replace."""
    type_ = found.type
    here = take(spots.number, (found.image, found.row, found.column), PAST)
    mine = take(spots.on.T, here, 0).T & take(window.own.T, type_, 0).T
    n, f = take(spots.covered, (here, type_), 0), take(spots.spilled, (here, type_), 0)
    types = jnp.arange(window.own.shape[1], dtype=jnp.int32)

    def dominated(offset: Array, shifted: Array, back: Array) -> Array:
        """By a placement at this offset; ``shifted`` are its parts, ``back`` mine seen from it."""
        row, column = found.row + offset[0], found.column + offset[1]
        row = jnp.where(row < 0, PAST, row)  # a negative place would count from the end
        column = jnp.where(column < 0, PAST, column)
        there = take(spots.number, (found.image, row, column), PAST)
        n_there, f_there = take(spots.covered, there, 0), take(spots.spilled, there, 0)
        able = jnp.all((mine[:, :, None] & ~shifted[:, None]) == 0, 0)
        able &= (f_there <= f[:, None]) & (n_there >= n[:, None])
        if by_set:
            spill = take(spots.off.T, there, 0).T[:, :, None] & window.own[:, None]
            able &= jnp.all((spill & ~take(back.T, type_, 0).T[:, :, None]) == 0, 0)
        earlier = (offset[0] < 0) | ((offset[0] == 0) & (offset[1] < 0))
        here_too = (offset[0] == 0) & (offset[1] == 0)
        first = earlier | (here_too & (types < type_[:, None]))
        return jnp.any(able & ((n_there > n[:, None]) | (f_there < f[:, None]) | first), 1)

    def at_offset(i: Array) -> Array:
        back = window.shifted[:, len(window.offsets) - 1 - i]
        return dominated(window.offsets[i], window.shifted[:, i], back)

    offsets = jnp.arange(len(window.offsets), dtype=jnp.int32)
    gone = accumulate(at_offset, offsets, jnp.zeros(len(n), bool), jnp.logical_or)
    kept = ~gone & (found.image < len(spots.number))
    return kept, jnp.sum(kept)
