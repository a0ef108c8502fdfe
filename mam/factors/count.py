r"""How many of several: binary variables that score by the number of them that are ON.

.. math::
    f(c) = \begin{cases}
    u_{|c|} & |c| \le K \\
    -\infty & \text{otherwise}
    \end{cases}

"Exactly k of n", "at most k" and "at least k" are of this form; so is any price by number. Members
are counted one after another, from the first on and from the last on: what member i is told joins
both counts, so that a whole list takes :math:`n K` steps.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from scipy.special import comb

from mam.core.pytree import pytree
from mam.factors.base import (
    Limits,
    Listing,
    Messages,
    Temperature,
    check_potentials,
    potential_rows,
)
from mam.factors.member_lists import MemberBlock, MemberLists, as_member_lists
from mam.factors.network import NetworkBuilder, demand
from mam.factors.numeric_limits import limit
from mam.factors.ragged import Ragged
from mam.factors.reduce import finite, pick, soft_maximum, soft_pair


@pytree
@dataclass(frozen=True)
class CountBlock(MemberBlock):
    """Padded counts; port: members."""

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """The best of all others with one more counted, and without."""
        (members,) = incoming
        on, off = _apart(members)
        scores = self._scores(potentials, len(members))
        before = _counted(on, off, _none(scores), temperature, more=1)[:-1]
        after = _counted(on[::-1], off[::-1], scores, temperature, more=-1)[-2::-1]
        with_it = soft_maximum(before + _shifted(after, -1), -1, temperature)
        without = soft_maximum(before + after, -1, temperature)
        return (jnp.moveaxis(with_it - without, 0, -1),)

    def score(self, potentials: Array, states: Messages) -> Array:
        """The potential of as many as are ON."""
        (members,) = states
        scores = pick(potentials, self.row)
        scores = jnp.broadcast_to(scores, (len(members), scores.shape[1]))
        count = jnp.sum(members, -1)[:, None]
        return jnp.take_along_axis(scores, count, 1, mode="fill", fill_value=-jnp.inf)[:, 0]

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best number of members, each time the best ones."""
        (members,) = incoming
        on, off = _apart(members)
        scores = pick(potentials, self.row)
        counted = _counted(on, off, _none(self._scores(potentials, len(members))), temperature, 1)
        total = soft_maximum(scores + counted[-1], -1, temperature)
        return total + jnp.sum(jnp.maximum(members, 0.0), -1)

    def _scores(self, potentials: Array, rows: int) -> Float[Array, "rows counts"]:
        scores = finite(pick(potentials, self.row))
        return jnp.broadcast_to(scores, (rows, scores.shape[1]))


def _apart(members: Float[Array, "rows n"]) -> tuple[Array, Array]:
    """Scores of ON and of OFF, the better one 0, by member: no sum then hides what is certain."""
    members = jnp.moveaxis(members, -1, 0)
    return jnp.minimum(members, 0.0), jnp.minimum(-members, 0.0)


def _none(scores: Float[Array, "rows counts"]) -> Float[Array, "rows counts"]:
    """Nothing counted so far."""
    first = jnp.arange(scores.shape[1]) == 0
    return jnp.broadcast_to(jnp.where(first, 0.0, -limit(scores.dtype)), scores.shape).astype(
        scores.dtype
    )


def _shifted(counts: Array, by: int) -> Array:
    """Scores by count, moved up or down by one; what comes in is impossible."""
    floor = -limit(counts.dtype)
    wide = [(0, 0)] * (counts.ndim - 1)
    moved = (slice(None, -1), slice(1, None))[by < 0]
    pad = ((1, 0), (0, 1))[by < 0]
    return jnp.pad(counts[..., moved], [*wide, pad], constant_values=floor)


def _counted(
    on: Float[Array, "n rows"],
    off: Float[Array, "n rows"],
    start: Float[Array, "rows counts"],
    temperature: Temperature,
    more: int,
) -> Float[Array, "steps rows counts"]:
    """Scores by count, before any member and after each of them."""
    floor = jnp.asarray(-limit(start.dtype), start.dtype)

    def step(counts: Array, member: tuple[Array, Array]) -> tuple[Array, Array]:
        with_it, without = (scores[:, None] for scores in member)
        both = soft_pair(counts + without, _shifted(counts, more) + with_it, temperature)
        # Impossible twice is no worse than once.
        counts = jnp.maximum(both, floor)
        return counts, counts

    _, after = jax.lax.scan(step, start, (on, off))
    return jnp.concatenate([start[None], after])


@dataclass(frozen=True)
class Count(MemberLists):
    """Scores of how many members are ON. ``potentials`` has a column a number, from 0.

    >>> factors = Count.of([[0, 1, 2]], [0.0, 3.0, 5.0])
    >>> [float(factors.scores(np.array(x))[0]) for x in ([0, 0, 0], [1, 0, 1], [1, 1, 1])]
    [0.0, 5.0, -inf]
    """

    kind: ClassVar[str] = "count"
    block: ClassVar[type[MemberBlock]] = CountBlock

    @classmethod
    def of(
        cls,
        members: "Ragged | np.ndarray | Sequence",
        scores: "np.ndarray | Sequence",
    ) -> "Count":
        """Make factors from lists of members, one list a factor, of any lengths.

        ``scores`` are those of 0, 1, ... members ON, once for all lists or for each of them; more
        than are named is impossible.
        """
        rows = as_member_lists(members)
        potentials = check_potentials(scores, "scores of counts")
        if potentials.ndim not in (1, 2) or not potentials.shape[-1]:
            raise ValueError("scores of counts: give that of none ON, of one, of two, ...")
        if potentials.shape[-1] == 1:
            wide = [(0, 0)] * (potentials.ndim - 1)
            potentials = np.pad(potentials, [*wide, (0, 1)], constant_values=-np.inf)
        found, row = potential_rows(potentials, 1, len(rows), "scores of counts")
        counts = np.arange(found.shape[1])
        possible = np.isfinite(found)[row] & (counts <= rows.lengths[:, None])
        none = np.flatnonzero(~possible.any(1))
        if none.size:
            raise ValueError(
                f"count {none[0]} has {rows.lengths[none[0]]} members, and no number of them may "
                "be ON: give a finite score to one, or leave it out"
            )
        return cls(found, row, rows)

    @classmethod
    def between(
        cls, members: "Ragged | np.ndarray | Sequence", least: int, most: int | None = None
    ) -> "Count":
        """At least and at most so many are ON; exactly ``least`` if no other number is given.

        >>> Count.between([[0, 1, 2]], 2).table(0, np.full(3, 2)).configurations.tolist()
        [[1, 1, 0], [1, 0, 1], [0, 1, 1]]
        """
        most = least if most is None else most
        if not 0 <= least <= most:
            raise ValueError(f"between {least} and {most} members: 0 <= least <= most is needed")
        return cls.of(members, np.where(np.arange(most + 1) < least, -np.inf, 0.0))

    @property
    def most(self) -> int:
        """The greatest number that has a score."""
        return self.potentials.shape[1] - 1

    def key(self, states: np.ndarray) -> Hashable:
        return super().key(states), self.most

    def scores(self, values: np.ndarray) -> np.ndarray:
        on = values[self.members.values] == 1
        count = np.bincount(self.members.row_of_value[on], minlength=len(self))
        known = self.potentials[self.row, np.minimum(count, self.most)]
        return np.where(count <= self.most, known, -np.inf)

    def held(self, states: np.ndarray) -> float:
        return 4.0 * float(self.members.lengths.sum()) * (self.most + 1)

    def entries(self, states: np.ndarray) -> float:
        return 2.0 * float(self.members.lengths.sum()) * (self.most + 1) ** 2

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        """A counter behind each member: as many as before, or one more."""
        width = self.most + 1
        lengths = self.members.lengths
        start = network.variables(len(self), width)
        network.add(start[:, None], demand(np.arange(width) == 0))
        counter = start.copy()
        before, member, now = np.indices((width, 2, width))
        counting = demand(now == before + member)
        for place in range(int(lengths.max(initial=0))):
            rows = np.flatnonzero(lengths > place)
            own = self.members.values[self.members.offsets[rows] + place]
            following = network.variables(len(rows), width)
            network.add(np.stack([counter[rows], own, following], 1), counting)
            counter[rows] = following
        network.add(counter[:, None], self.potentials[self.row])

    def limits(self) -> Limits | None:
        possible = np.isfinite(self.potentials)
        least = possible.argmax(1)
        most = self.most - possible[:, ::-1].argmax(1)
        whole = possible.sum(1) == most - least + 1
        free = (np.where(possible, self.potentials, 0.0) == 0).all()
        if not (free and whole.all()):
            return None
        return Limits(self.members, least[self.row], most[self.row])

    def cases(self, states: np.ndarray) -> np.ndarray:
        counts = np.arange(self.most + 1)
        listed = np.isfinite(self.potentials[self.row])
        return (comb(self.members.lengths[:, None], counts) * listed).sum(1)

    def table(self, factor: int, states: np.ndarray) -> Listing:
        ids, own = self.members[factor], self.potentials[self.row[factor]]
        cases, scores = [], []
        for count in np.flatnonzero(np.isfinite(own[: len(ids) + 1])).tolist():
            for chosen in combinations(range(len(ids)), count):
                cases.append(np.isin(np.arange(len(ids)), chosen))
                scores.append(own[count])
        found = np.array(cases, np.int64).reshape(len(cases), len(ids))
        return Listing(ids, found, np.array(scores, float))
