r"""Which candidates explain the pixels best: max-product, then a climb, and the best by component.

Every pixel is observed, so the messages of its OR factor have a short form. With :math:`m_k` the
messages that reach it from its candidates, gain :math:`g` of an ON and loss :math:`l` of an OFF
pixel, candidate :math:`i` is told

.. math::
    \text{ON:}\; \mathrm{clip}\left(-\max_{k \ne i} m_k,\, 0,\, g\right) \qquad
    \text{OFF:}\; \min\left(\sum_{k \ne i} \max(0, m_k) - l,\, 0\right).

Max-product runs from several starts at once, which are the last axis of all arrays. They differ by
noise on the prior of each candidate; it also settles the many ties between placements a pixel
apart. Every answer then climbs: candidates flip while that raises the score. Regions that share no
pixel are independent, so for each such component the best of all starts is kept.
"""

from dataclasses import dataclass
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from mam.core.padded import PAST, take
from mam.factors.base import Leaf
from mam.infer.loop import run_fixed
from mam.infer.restarts import keys_of
from mam.vision.parts.candidates import Candidates
from mam.vision.parts.cover import Cover, Edges, Pixels, wire

# A candidate may take the place of one of this many others that it overlaps.
_RIVALS = 4


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Rates:
    """Numbers of the model and of the solver, as the compiled functions take them."""

    gain: Leaf  # of covering an ON pixel
    loss: Leaf  # of covering an OFF pixel
    prior: Leaf  # of a placement
    damping: Leaf
    jitter: Leaf  # scale of the logistic noise on the prior


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Explanation:
    """The chosen candidates, with what max-product believes of each, and counts by image."""

    chosen: Leaf  # (candidates,)
    belief: Leaf  # (candidates,)
    lit: Leaf  # (images,): ON pixels covered
    dark: Leaf  # (images,): OFF pixels covered
    parts: Leaf  # (images,): candidates chosen


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class CoverPropagation:
    """A solver for the loop; its state is the messages to candidates, by rectangle."""

    cover: Cover
    rates: Rates
    evidence: Leaf  # (candidates, starts)

    @property
    def instances(self) -> int:
        """All images run for the same number of iterations."""
        return 1

    def init(self) -> list[Array]:
        """Return messages that say nothing."""
        starts = self.evidence.shape[1]
        return [jnp.zeros((*r.parents.shape, starts)) for r in self.cover.rectangles]

    def beliefs(self, messages: list[Array]) -> Float[Array, "candidates starts"]:
        """Return evidence plus messages."""
        starts = self.evidence.shape[1]
        flat = jnp.concatenate([values.reshape(-1, starts) for values in messages])
        return self.evidence + jnp.sum(take(flat, self.cover.slots, 0.0), 1)

    def step(
        self, state: list[Array], active: Array, iteration: Array
    ) -> tuple[list[Array], Array]:
        """Update all messages once."""
        there = self.cover.at_pixels(self.beliefs(state), -jnp.inf)
        damping = self.rates.damping
        new = [
            damping * old + (1 - damping) * _messages(rectangle, belief - old, self.rates)
            for rectangle, belief, old in zip(self.cover.rectangles, there, state, strict=True)
        ]
        return new, active


def _messages(pixels: Pixels, incoming: Array, rates: Rates) -> Array:
    """The formulas above; candidates are the second axis."""
    if pixels.lit:
        top = jnp.max(incoming, 1, keepdims=True)
        below = incoming < top
        second = jnp.max(jnp.where(below, incoming, -jnp.inf), 1, keepdims=True)
        tops = jnp.sum(~below, 1, keepdims=True)
        others = jnp.where(below | (tops > 1), top, second)
        return jnp.clip(-others, 0.0, rates.gain)
    wanted = jnp.maximum(incoming, 0.0)
    return jnp.minimum(jnp.sum(wanted, 1, keepdims=True) - wanted - rates.loss, 0.0)


@jax.jit(static_argnames="fixed")
def explain_edges(
    candidates: Candidates,
    edges: Edges,
    sizes: Int[Array, "images 2"],
    rates: Rates,
    seeds: tuple[Array, Array],
    fixed: tuple[int, tuple[tuple[int, int], ...], int, bool],
) -> Explanation:
    """Wire the candidates and choose among them, in one compilation.

    ``fixed`` are the number of types, the shapes of rectangles, iterations, and whether two types
    of parts may not stand at one position.
    """
    types, shapes, iterations, exclusive = fixed
    cover = wire(candidates, edges, sizes, types=types, shapes=shapes)
    return explain(cover, rates, keys_of(*seeds), iterations, exclusive)


def explain(
    cover: Cover, rates: Rates, keys: Array, iterations: int, exclusive: bool
) -> Explanation:
    """Choose candidates; one start for every key."""
    belief = _propagate(cover, rates, keys, iterations)
    climbed = _climb(cover, rates, _decode(cover, belief, exclusive), exclusive)
    component = _components(cover)
    counts = _counts_by(cover, climbed, component)
    lit, dark, parts = (count.astype(jnp.float32) for count in counts)
    scores = rates.gain * lit - rates.loss * dark + rates.prior * parts
    best = jnp.argmax(scores, 1)[:, None]
    chosen, believed = (
        jnp.take_along_axis(values, best[component], 1)[:, 0] for values in (climbed, belief)
    )
    totals = (
        jax.ops.segment_sum(jnp.take_along_axis(n, best, 1)[:, 0], cover.image, cover.images)
        for n in counts
    )
    return Explanation(chosen, believed, *totals)


def _propagate(cover: Cover, rates: Rates, keys: Array, iterations: int) -> Array:
    """The belief of every candidate in every start, without the noise."""
    draw = jax.vmap(jax.vmap(_logistic, (0, None)), (None, 0))
    noise = rates.jitter * draw(keys, cover.number)
    solver = CoverPropagation(cover, rates, rates.prior + noise)
    belief = solver.beliefs(run_fixed(solver, solver.init(), iterations)) - noise
    return jnp.where((cover.image < cover.images)[:, None], belief, -jnp.inf)


def _logistic(key: Array, number: Array) -> Array:
    return jax.random.logistic(jax.random.fold_in(key, number), (), jnp.float32)


def _decode(cover: Cover, belief: Array, exclusive: bool) -> Bool[Array, "candidates starts"]:
    """ON where believed; of several types at one position only the most certain."""
    if not exclusive:
        return belief > 0
    count = len(belief)
    best = jax.ops.segment_max(belief, cover.same_place, count)[cover.same_place]
    who = jnp.where(belief == best, jnp.arange(count, dtype=jnp.int32)[:, None], count)
    first = jax.ops.segment_min(who, cover.same_place, count)[cover.same_place]
    return (belief > 0) & (who == first)


def _climb(cover: Cover, rates: Rates, chosen: Array, exclusive: bool) -> Array:
    """Add, drop and swap candidates while that raises the score."""

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        chosen, _ = state
        flips = _winning(cover, chosen, _moves(cover, rates, chosen, exclusive))
        return chosen ^ flips, jnp.any(flips)

    return jax.lax.while_loop(lambda state: state[1], step, (chosen, jnp.bool_(True)))[0]


class _Moves(NamedTuple):
    """The best move of every candidate: drop itself, add itself, or take the place of another."""

    rise: Float[Array, "candidates starts"]  # of the score; 0 where there is no good move
    instead: Int[Array, "candidates starts"]  # whose place is taken; past the end: nobody's


def _moves(cover: Cover, rates: Rates, chosen: Array, exclusive: bool) -> _Moves:
    count, number = len(chosen), jnp.arange(len(chosen), dtype=jnp.int32)[:, None]
    free, single, owner = [], [], []
    on = cover.at_pixels(jnp.where(chosen, number, -1), -1)
    for pixels, times, who in zip(cover.rectangles, _times_covered(cover, chosen), on, strict=True):
        value = rates.gain if pixels.lit else -rates.loss
        free.append(jnp.where(times == 0, value, 0.0))
        single.append(jnp.where(times == 1, value, 0.0))
        owner.append(jnp.where(times == 1, jnp.max(who, 1), PAST))
    added = rates.prior + jnp.sum(cover.at_candidates(free, 0.0), 1)
    worth = cover.at_candidates(single, 0.0)
    kept = rates.prior + jnp.sum(worth, 1)
    owners = cover.at_candidates(owner, PAST)
    taken = jax.ops.segment_max(jnp.where(chosen, number, -1), cover.same_place, count)
    resident = taken[cover.same_place] if exclusive else jnp.full_like(chosen, -1, jnp.int32)
    rise, instead = jnp.where(resident < 0, added, 0.0), jnp.full(chosen.shape, PAST, jnp.int32)
    rival = jnp.full(chosen.shape, -1, jnp.int32)
    for _ in range(_RIVALS):  # the owners of its pixels, one after another
        rival = jnp.min(jnp.where(owners > rival[:, None], owners, PAST), 1)
        shared = jnp.sum(jnp.where(owners == rival[:, None], worth, 0.0), 1)
        swap = added + shared - jnp.take_along_axis(kept, jnp.minimum(rival, count - 1), 0)
        good = (rival < PAST) & (swap > rise) & ((resident < 0) | (resident == rival))
        rise, instead = jnp.where(good, swap, rise), jnp.where(good, rival, instead)
    rise = jnp.where(chosen, -kept, rise)
    # Sums of float32 are exact to about 1e-5 here; less than that is no rise.
    real = (cover.image < cover.images)[:, None] & (rise > 1e-4)
    return _Moves(jnp.where(real, rise, 0.0), jnp.where(real & ~chosen, instead, PAST))


def _winning(cover: Cover, chosen: Array, moves: _Moves) -> Bool[Array, "candidates starts"]:
    """The flips of those moves that are the best at every pixel they touch."""
    count, starts = chosen.shape
    number = jnp.arange(count, dtype=jnp.int32)[:, None]
    # A chosen candidate stands for the best move that would drop it, its own or a swap.
    flat = jnp.where(moves.instead < PAST, moves.instead * starts + jnp.arange(starts), PAST)
    wanted = jnp.zeros(chosen.size).at[flat].max(moves.rise, mode="drop").reshape(chosen.shape)
    rise = jnp.maximum(moves.rise, wanted)
    mover = jnp.where(moves.rise == take(wanted.ravel(), flat, -1.0), number, PAST)
    mover = jnp.full(chosen.size, PAST, jnp.int32).at[flat].min(mover, mode="drop")
    mover = jnp.where(moves.rise >= wanted, number, mover.reshape(chosen.shape))
    best = []
    for rises, movers in zip(cover.at_pixels(rise, 0.0), cover.at_pixels(mover, PAST), strict=True):
        top = jnp.max(rises, 1, keepdims=True)
        best.append(jnp.min(jnp.where(rises == top, movers, PAST), 1))
    winner = cover.at_candidates(best, PAST)
    clear = jnp.all((winner == mover[:, None]) | (winner == PAST), 1)
    mine = (mover == number) & (rise > 0) & clear
    other = jnp.minimum(moves.instead, count - 1)
    agreed = jnp.take_along_axis(clear & (mover != number), other, 0)
    agreed &= jnp.take_along_axis(mover, other, 0) == number
    goes = mine & ((moves.instead == PAST) | agreed)
    leaves = jnp.take_along_axis(goes, jnp.minimum(mover, count - 1), 0)
    return goes | (leaves & (mover != number) & (mover < PAST) & chosen)


def _times_covered(cover: Cover, chosen: Array) -> list[Array]:
    return [jnp.sum(x, 1) for x in cover.at_pixels(chosen.astype(jnp.int8), 0)]


def _counts_by(cover: Cover, chosen: Array, component: Array) -> tuple[Array, Array, Array]:
    """ON and OFF pixels covered and candidates chosen, at the first candidate of each component.

    Whole numbers, so that no answer depends on the order of a sum.
    """
    count = len(component)
    pixels = {True: jnp.zeros(chosen.shape, jnp.int32), False: jnp.zeros(chosen.shape, jnp.int32)}
    for some, times in zip(cover.rectangles, _times_covered(cover, chosen), strict=True):
        home = take(component, some.parents[:, 0], count)
        covered = (times > 0).astype(jnp.int32)
        pixels[some.lit] += jax.ops.segment_sum(covered, home, count)
    parts = jax.ops.segment_sum(chosen.astype(jnp.int32), component, count)
    return pixels[True], pixels[False], parts


def _components(cover: Cover) -> Int[Array, " candidates"]:
    """The first candidate of each one's component: those that share pixels, directly or not."""
    count = len(cover.image)

    def step(state: tuple[Array, Array]) -> tuple[Array, Array]:
        label, _ = state
        seen = [jnp.min(values, 1) for values in cover.at_pixels(label, count)]
        new = jnp.minimum(label, jnp.min(cover.at_candidates(seen, count), 1))
        new = jnp.minimum(new, new[new])
        return new, jnp.any(new != label)

    start = jnp.arange(count, dtype=jnp.int32), jnp.bool_(True)
    return jax.lax.while_loop(lambda state: state[1], step, start)[0]
