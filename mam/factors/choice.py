r"""One of several: exactly one of some binary variables is ON, or at most one.

.. math::
    f(c) = \begin{cases}
    0 & |c| = 1 \\
    u & |c| = 0 \\
    -\infty & \text{otherwise}
    \end{cases}

with :math:`u = -\infty` where one must be ON and :math:`u = 0` where none may be. A member that is
ON leaves the others OFF, so its message is minus the best of ``u`` and the other members: two
numbers for a whole list, however long it is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.core.pytree import pytree
from mam.factors.base import FORBIDDEN, Limits, Listing, Messages, Temperature, Unions
from mam.factors.member_lists import MemberBlock, MemberLists, as_member_lists
from mam.factors.network import NetworkBuilder, demand
from mam.factors.ragged import Ragged
from mam.factors.reduce import (
    finite,
    first_best,
    leave_one_out,
    pick,
    soft_maximum,
    soft_pair,
)

# A variable for the member that is ON takes tables that grow with the square of the list; longer
# lists than this are joined two by two, which is linear, but gives weaker bounds.
_LONG = 256
# Pairs of longer lists are too many, and their configurations anyhow.
_MANY = 64


@pytree
@dataclass(frozen=True)
class ChoiceBlock(MemberBlock):
    """Padded choices; port: members."""

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """Nothing if the member is ON, the best of the others or none if it is OFF."""
        (members,) = incoming
        _, others = leave_one_out(members, temperature)
        none = jnp.broadcast_to(finite(pick(potentials, self.row)), others.shape)
        return (-soft_pair(none, others, temperature),)

    def score(self, potentials: Array, states: Messages) -> Array:
        """0 where one is ON, the potential where none is."""
        (members,) = states
        count = jnp.sum(members, -1)
        none = jnp.broadcast_to(pick(potentials, self.row)[:, 0], count.shape)
        hard = jnp.where(count == 1, jnp.zeros_like(none), -jnp.inf)
        return jnp.where(count == 0, none, hard)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best member, or none."""
        (members,) = incoming
        best = soft_maximum(members, -1, temperature)
        none = jnp.broadcast_to(pick(potentials, self.row)[:, 0], best.shape)
        return soft_pair(none, best, temperature)

    def best_members(self, beliefs: Messages) -> tuple[Array, ...]:
        """A list is one group."""
        return (first_best(beliefs[0]),)


@dataclass(frozen=True)
class Choice(MemberLists):
    """Choices of one member each. ``potentials`` has one column, the score of choosing none.

    >>> factors = Choice.of([[0, 1, 2], [3]])
    >>> factors.table(0, np.full(4, 2)).configurations.tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """

    kind: ClassVar[str] = "choice"
    block: ClassVar[type[MemberBlock]] = ChoiceBlock

    @classmethod
    def of(
        cls,
        members: "Ragged | np.ndarray | Sequence",
        *,
        optional: "bool | np.ndarray | Sequence[bool]" = False,
    ) -> "Choice":
        """Make choices from lists of members, one list a factor, of any lengths.

        With ``optional``, given once or for each list, at most one is ON instead of exactly one.
        """
        rows = as_member_lists(members)
        may = np.asarray(optional)
        if may.dtype != bool:
            raise ValueError(f"optional is True or False, or one of them a list, not {optional!r}")
        if may.shape not in ((), (len(rows),)):
            raise ValueError(f"{may.size} values of optional for {len(rows)} lists of members")
        empty = np.flatnonzero((rows.lengths == 0) & ~may)
        if empty.size:
            raise ValueError(
                f"choice {empty[0]} has no members, so none can be ON; leave it out, or make it "
                "optional"
            )
        row = np.zeros(len(rows), np.int64) if may.ndim == 0 else np.arange(len(rows))
        return cls(np.where(may.reshape(-1, 1), 0.0, -np.inf), row, rows)

    def scores(self, values: np.ndarray) -> np.ndarray:
        on = values[self.members.values] == 1
        count = np.bincount(self.members.row_of_value[on], minlength=len(self))
        none = self.potentials[self.row, 0]
        return np.where(count == 0, none, np.where(count == 1, 0.0, -np.inf))

    def entries(self, states: np.ndarray) -> float:
        lengths = self.members.lengths.astype(float)
        return float(np.where(lengths <= _LONG, 2 * lengths * (lengths + 1), 8 * lengths).sum())

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        lengths = self.members.lengths
        for length in np.unique(lengths[(lengths > 0) & (lengths <= _LONG)]):
            rows = np.flatnonzero(lengths == length)
            self._encode_short(rows, self.members.rectangle(rows, int(length)), network)
        rows = np.flatnonzero(lengths > _LONG)
        a, b, one = np.indices((2, 2, 2))
        some = network.joined(self.members.take(rows), demand(one == a + b))
        none = self.potentials[self.row[rows]]
        network.add(some[:, None], np.concatenate([none, np.zeros_like(none)], 1))

    def _encode_short(self, rows: np.ndarray, ids: np.ndarray, network: NetworkBuilder) -> None:
        """A variable a list says which member is ON, from 1; 0 is none. Bounds are tight so."""
        selected = network.variables(len(rows), ids.shape[1] + 1)
        scores = np.zeros((len(rows), ids.shape[1] + 1))
        scores[:, 0] = self.potentials[self.row[rows], 0]
        network.add(selected[:, None], scores)
        state = np.arange(ids.shape[1] + 1)
        for place, member in enumerate(ids.T):
            follows = (state == place + 1)[:, None] == [False, True]
            network.add(np.stack([selected, member], 1), demand(follows))

    def limits(self) -> Limits:
        least = np.isneginf(self.potentials[self.row, 0]).astype(np.int64)
        return Limits(self.members, least, np.ones_like(least))

    def unions(self) -> Unions | None:
        """Two at once are forbidden: a AND b is a plus b less a OR b; and so may be none."""
        if self.members.lengths.max(initial=0) > _MANY:
            return None
        rows = self.members.row_of_value
        alone = FORBIDDEN * (self.members.lengths[rows] - 1)
        none = np.maximum(self.potentials[self.row, 0], FORBIDDEN)
        pairs, start = [np.zeros((0, 2), np.int64)], self.members.offsets[:-1]
        for length in np.unique(self.members.lengths[self.members.lengths > 1]):
            first, second = np.triu_indices(length, 1)
            mine = start[self.members.lengths == length][:, None]
            both = np.stack([mine + first, mine + second], -1).reshape(-1, 2)
            pairs.append(self.members.values[both])
        joined = np.concatenate(pairs)
        return Unions(
            Ragged.stack(
                [Ragged.of(self.members.values[:, None]), Ragged.of(joined), self.members]
            ),
            np.concatenate([alone, np.full(len(joined), -FORBIDDEN), -none]),
        )

    def cases(self, states: np.ndarray) -> np.ndarray:
        return 1.0 + self.members.lengths

    def table(self, factor: int, states: np.ndarray) -> Listing:
        ids, none = self.members[factor], self.potentials[self.row[factor], 0]
        cases, scores = np.eye(len(ids), dtype=np.int64), np.zeros(len(ids))
        if np.isfinite(none):
            cases, scores = np.pad(cases, ((1, 0), (0, 0))), np.append(none, scores)
        return Listing(ids, cases, scores)
