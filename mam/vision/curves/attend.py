r"""Which strokes attend to which: max-product over the ends of strokes, for a batch of images.

Every stroke is a part with two sides. A pair of facing ends is an attention variable with
potential :math:`w`, and a member of one group at either stroke. The factor of a stroke lets at most
one attention of each side be ON; it scores

.. math::
    0 \text{ alone}, \quad p + t \text{ at the end of a contour}, \quad p \text{ inside of one}

(presence :math:`p`, termination :math:`t < 0`). With :math:`a` and :math:`b` the best incoming
messages on the side of an attention (its own left out) and on the other side, it is told

.. math::
    p + \max(t, b) - \max\left(0,\; p + t + \max(a, b),\; p + a + b\right).

This is the ``Pattern`` factor with the patterns 00, 01, 10 and 11, for parts with evidence p; the
formal model is built by ``contour_model``.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.growing import GrowingSizes
from mam.core.padded import PAST, take
from mam.factors import PatternSet
from mam.factors.base import Leaf
from mam.factors.reduce import leave_one_out
from mam.infer import solve
from mam.infer.loop import run_fixed
from mam.models import MarkovAttentionModel, PartKind, part_attention_model

Presence = Float[np.ndarray, " strokes"]  # what a stroke scores as part of a contour

_NEVER = -1e4  # the message of a place without an attention variable


@dataclass(frozen=True)
class ContourPotentials:
    """What the factor of a stroke scores, and how the messages run."""

    presence: float = 4.0  # of a stroke that is part of a contour, against one alone
    termination: float = -1.6  # of a contour's end (paper, "Pathfinder model")
    iterations: int = 30  # of max-product (facts: the authors' value)
    damping: float = 0.5  # new message = damping * old + (1 - damping) * new
    noise: float = 1e-3  # scale of the logistic noise that settles ties

    def __post_init__(self) -> None:
        if self.termination > 0:
            raise ValueError(f"termination is a penalty: {self.termination} should be at most 0")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")
        if self.iterations < 1:
            raise ValueError(f"iterations must be at least 1, not {self.iterations}")

    @property
    def hopeless(self) -> float:
        """A link with no more than this is OFF in every best answer: without it, both of its
        strokes together lose less."""
        return -2 * max(self.presence + self.termination, -self.termination)


@dataclass(frozen=True, eq=False)
class Links:
    """Attention variables between ends of strokes: a batch of images, or one of them."""

    stroke: Int[np.ndarray, "links 2"]
    side: Int[np.ndarray, "links 2"]
    score: Float[np.ndarray, " links"]  # potential of the attention variable

    def __len__(self) -> int:
        return len(self.stroke)

    def take(self, which: np.ndarray | slice) -> "Links":
        """Return some of the links."""
        return Links(self.stroke[which], self.side[which], self.score[which])


def joined_links(several: Sequence[Links]) -> Links:
    """Return all links of several lists, one list after another."""
    fields = zip(*((some.stroke, some.side, some.score) for some in several), strict=True)
    return Links(*(np.concatenate(values) for values in fields))


def score_of(
    links: Links, on: Bool[np.ndarray, " links"], presence: Presence, potentials: ContourPotentials
) -> float:
    """Return the score of an assignment; the assignment is taken to be possible."""
    joins = np.bincount(links.stroke[on].ravel(), minlength=len(presence))
    factors = potentials.termination * (joins == 1).sum() + presence[joins > 0].sum()
    # Scores come in single precision; their sum must not end above the bound of the solver.
    return float(links.score[on].sum(dtype=np.float64) + factors)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class _Ends:
    """The wiring in both directions."""

    members: Leaf  # (strokes, 2, width): the messages on each side, by 2 * link + end; PAST: none
    slots: Leaf  # (links, 2): where each end of a link stands among the members


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class EndPropagation:
    """A solver for the loop; its state is the messages of the strokes to both ends of links."""

    ends: _Ends
    score: Leaf  # (links,)
    presence: Leaf  # (strokes,)
    rates: Leaf  # (2,): termination, damping

    @property
    def instances(self) -> int:
        """All images run for the same number of iterations."""
        return 1

    def init(self) -> Float[Array, "links 2"]:
        """Return messages that say nothing."""
        return jnp.zeros((*self.score.shape, 2), self.score.dtype)

    def beliefs(self, messages: Float[Array, "links 2"]) -> Float[Array, " links"]:
        """Return potential plus messages."""
        return self.score + jnp.sum(messages, 1)

    def step(self, state: Array, active: Array, iteration: Array) -> tuple[Array, Array]:
        """Update all messages once."""
        termination, damping = self.rates
        presence = self.presence[:, None, None]
        incoming = self.score[:, None] + state[:, ::-1]
        there = take(incoming.ravel(), self.ends.members, _NEVER)
        best, a = leave_one_out(there, 0)
        b = best[:, ::-1, None]
        on = presence + jnp.maximum(termination, b)
        ended = presence + termination + jnp.maximum(a, b)
        off = jnp.maximum(jnp.maximum(0.0, ended), presence + a + b)
        new = take((on - off).ravel(), self.ends.slots, 0.0)
        return damping * state + (1 - damping) * new, active


@jax.jit(static_argnames="iterations")
def _propagate(
    ends: _Ends,
    score: Array,
    presence: Array,
    rates: Array,
    ties: tuple[Array, Array, Array],
    iterations: int,
) -> tuple[Array, Array]:
    """Return which links are ON, and the belief of each.

    ``ties`` are settled by the seed, each link's number and the scale of the noise.
    """
    seed, number, scale = ties
    key = jax.random.key(seed)
    draw = jax.vmap(lambda n: jax.random.logistic(jax.random.fold_in(key, n), (), score.dtype))
    noise = scale * draw(number)
    solver = EndPropagation(ends, score + noise, presence, rates)
    messages = run_fixed(solver, solver.init(), iterations)
    shaken = solver.beliefs(messages)
    # A link is ON when it is wanted and the best one at both of its ends: no end has two.
    there = take(shaken, ends.members // 2, _NEVER)
    best = jnp.max(there, -1).ravel()
    own = take(best, ends.slots // ends.members.shape[2], jnp.inf)
    on = (shaken > 0) & jnp.all(shaken[:, None] >= own, 1)
    return on, shaken - noise


def attend(
    links: Links,
    presence: Presence,
    number: Int[np.ndarray, " links"],
    potentials: ContourPotentials,
    seed: int,
    room: GrowingSizes,
) -> tuple[np.ndarray, np.ndarray]:
    """Return which links are ON, and by how much max-product believes so (below 0: OFF).

    ``number`` counts the links of an image, so that ties fall the same way in any batch.
    """
    count = len(links)
    if not count:
        return np.zeros(0, bool), np.zeros(0)
    size, height = room.fit("links", count), room.fit("strokes", len(presence))
    ends = _wired(links, size, height, room)
    score, numbers = np.full(size, _NEVER, np.float32), np.zeros(size, np.int32)
    score[:count], numbers[:count] = links.score, number
    wanted = np.zeros(height, np.float32)
    wanted[: len(presence)] = presence
    rates = np.array([potentials.termination, potentials.damping], np.float32)
    ties = np.uint32(seed), numbers, np.float32(potentials.noise)
    found = _propagate(ends, score, wanted, rates, ties, potentials.iterations)
    on, belief = jax.device_get(found)
    return on[:count], belief[:count].astype(float)


def attend_each(
    links: Sequence[Links],
    presence: Sequence[Float[np.ndarray, "_"]],
    potentials: ContourPotentials,
    seed: int,
    room: GrowingSizes,
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Decide the links of several images at once; the answers come by image."""
    if not links:
        return []
    first = np.cumsum([0, *(len(some) for some in presence)])
    moved = [replace(some, stroke=some.stroke + at) for some, at in zip(links, first, strict=False)]
    number = np.concatenate([np.arange(len(some)) for some in links])
    found = attend(joined_links(moved), np.concatenate(presence), number, potentials, seed, room)
    borders = np.cumsum([len(some) for some in links])[:-1]
    return list(zip(*(np.split(values, borders) for values in found), strict=True))


def _wired(links: Links, size: int, height: int, room: GrowingSizes) -> _Ends:
    """List the links at every end of a stroke."""
    end = (2 * links.stroke + links.side).ravel()
    order = np.argsort(end, kind="stable")
    in_order = end[order]
    rank = np.arange(len(end)) - np.searchsorted(in_order, in_order)
    width = room.fit("links at an end", int(rank.max()) + 1, least=4)
    members = np.full((height * 2, width), PAST, np.int32)
    members[in_order, rank] = order
    slots = np.full(2 * size, PAST, np.int32)
    slots[order] = in_order * width + rank
    return _Ends(members.reshape(height, 2, width), slots.reshape(size, 2))


def contour_model(
    links: Links, presence: Presence, potentials: ContourPotentials
) -> tuple[MarkovAttentionModel, dict[str, np.ndarray]]:
    """Build the Markov Attention Model of one image, and the evidence to solve it with."""
    sides = PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]])
    end = potentials.termination
    kind = PartKind(sides, [0.0, end, end, 0.0])
    model = part_attention_model(links.stroke, links.side, kind, vertices=len(presence))
    evidence = {"part": presence, "attention": links.score}
    return model, evidence


def bound_of(links: Links, presence: Presence, potentials: ContourPotentials) -> float:
    """Return what no assignment can exceed, by the dual of the formal model."""
    model, evidence = contour_model(links, presence, potentials)
    return float(solve(model.graph, evidence, bound=True).bound)
