"""Part/attention factors as the solvers run them; ``pattern.py`` defines them."""

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import jax.numpy as jnp
from jaxtyping import Array

from mam.core.pytree import pytree
from mam.factors.base import Block, Leaf, Messages, Temperature, rows_of
from mam.factors.numeric_limits import limit
from mam.factors.patterns import DensePatterns, SparsePatterns
from mam.factors.reduce import (
    finite,
    first_best,
    is_zero,
    leave_one_out,
    pick,
    soft_maximum,
    soft_pair,
    top_two,
)


@pytree
@dataclass(frozen=True)
class PatternBlock(Block):
    """Padded pattern factors; ports: part, then the group members, one port a bucket of sizes."""

    row: Leaf
    place: Leaf  # (factors, groups): where the group's total stands among those of all buckets
    group: tuple[Leaf, ...]  # for each bucket, which entry of (factors x groups) a row is
    patterns: DensePatterns | SparsePatterns

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """The paper's updates; a padded member is one that cannot be ON."""
        part, *members = incoming
        theta = finite(pick(potentials, self.row))
        nonzero = self.patterns.nonzero
        groups = self._groups([soft_maximum(rows, -1, temperature) for rows in members])
        # The part's message, less max(0, message) on both sides: see DensePatterns.combine.
        asked = jnp.where(
            nonzero, jnp.minimum(part, 0.0)[:, None], jnp.minimum(-part, 0.0)[:, None]
        )
        having, lacking = self.patterns.combine(theta + asked, groups, temperature)
        unasked = self.patterns.scores(theta, groups)
        on = self._extreme(unasked, nonzero, temperature)
        off = self._extreme(theta, ~nonzero, temperature)
        outgoing = [on - off]
        for rows, index in zip(members, self.group, strict=True):
            with_group, without_group = (x.reshape(-1)[index] for x in (having, lacking))
            outgoing.append(_to_members(rows, with_group, without_group, temperature))
        return tuple(outgoing)

    def score(self, potentials: Array, states: Messages) -> Array:
        """The potential of the pattern that the states follow, -inf if they follow none."""
        part, *members = states
        ones = jnp.concatenate([jnp.sum(rows, -1) for rows in members])
        counts = ones.at[self.place].get(mode="fill", fill_value=0)
        fits = self.patterns.matches(counts) & (self.patterns.nonzero == (part == 1)[:, None])
        return jnp.max(jnp.where(fits, pick(potentials, self.row), -jnp.inf), -1)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best pattern with the best member of each of its groups."""
        part, *members = incoming
        groups = self._groups([soft_maximum(rows, -1, temperature) for rows in members])
        base = pick(potentials, self.row) + jnp.where(self.patterns.nonzero, part[:, None], 0.0)
        return soft_maximum(self.patterns.scores(base, groups), -1, temperature)

    def take(self, rows: Array) -> tuple["PatternBlock", Messages]:
        """A row of every bucket for each group, padding but in the one that the group is in."""
        place, there = rows_of(self.place, rows), (rows < len(self.place))[:, None]
        ends = list(accumulate((len(group) for group in self.group), initial=0))
        count = place.size
        own = jnp.arange(count, dtype=place.dtype).reshape(place.shape)
        ports, moved = [rows], jnp.full_like(place, count * len(self.group))
        for bucket, (start, end) in enumerate(pairwise(ends)):
            here = there & (place >= start) & (place < end)
            ports.append(jnp.where(here, place - start, end - start).ravel())
            moved = jnp.where(here, bucket * count + own, moved)
        group = (own.ravel(),) * len(self.group)
        taken = replace(self, row=rows_of(self.row, rows), place=moved, group=group)
        return taken, tuple(ports)

    def home(self, port: int) -> Array | None:
        """Members stand in one row a group."""
        if port == 0:
            return None
        return jnp.asarray(self.group[port - 1]) // self.place.shape[1]

    def best_members(self, beliefs: Messages) -> tuple[Array | None, ...]:
        """The part is no member."""
        return None, *(first_best(rows) for rows in beliefs[1:])

    def _groups(self, totals: list[Array]) -> Array:
        floor = -limit(totals[0].dtype)
        return jnp.concatenate(totals).at[self.place].get(mode="fill", fill_value=floor)

    def _extreme(self, scores: Array, which: Array, temperature: Temperature) -> Array:
        return soft_maximum(jnp.where(which, scores, -limit(scores.dtype)), -1, temperature)


def _to_members(
    rows: Array, with_group: Array, without_group: Array, temperature: Temperature
) -> Array:
    """Return with - max(without, with + the best other member) for every member of a group."""

    def against(others: Array) -> Array:
        return with_group - soft_pair(without_group, with_group + others, temperature)

    if is_zero(temperature):  # two values a row: one for the best member, one for all others
        first, second = top_two(rows)
        return jnp.where(rows < first[:, None], against(first)[:, None], against(second)[:, None])
    with_group, without_group = with_group[:, None], without_group[:, None]
    return against(leave_one_out(rows, temperature)[1])
