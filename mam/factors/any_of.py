r"""At least one of several: binary variables that score together once any of them is ON.

.. math::
    f(c) = \begin{cases}
    u_0 & |c| = 0 \\
    u_1 & |c| \ge 1
    \end{cases}

It is the OR whose outcome is known: an observed pixel with :math:`u_1 - u_0` the log odds of being
covered, of either sign. With :math:`u_0 = -\infty` it is a clause: at least one must be ON. What a
member is told is :math:`-\max(u_0 - u_1 - \mathrm{free}, \mathrm{slack})` of the other members.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.core.pytree import pytree
from mam.factors.base import (
    FORBIDDEN,
    Listing,
    Messages,
    Temperature,
    Unions,
    check_potentials,
)
from mam.factors.member_lists import MemberBlock, MemberLists, as_member_lists
from mam.factors.network import NetworkBuilder, demand
from mam.factors.ragged import Ragged
from mam.factors.reduce import every_configuration, finite, free_and_slack, pick, soft_pair

# Up to here one table over all members, of at most 32 entries; longer lists are joined two by two,
# since elimination then need not hold all members at once.
_NARROW = 5


@pytree
@dataclass(frozen=True)
class AnyOfBlock(MemberBlock):
    """Padded factors; port: members."""

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """What a member is worth if it is ON, and if it need not be."""
        (members,) = incoming
        scores = finite(pick(potentials, self.row))
        missing = (scores[:, 0] - scores[:, 1])[:, None]
        _, _, free, slack = free_and_slack(members, temperature)
        return (-soft_pair(missing - free, slack, temperature),)

    def score(self, potentials: Array, states: Messages) -> Array:
        """The potential of none or of some."""
        (members,) = states
        scores = pick(potentials, self.row)
        return jnp.where(jnp.any(members == 1, -1), scores[:, 1], scores[:, 0])

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """Either all members OFF, or at least one ON."""
        (members,) = incoming
        scores = pick(potentials, self.row)
        free, slack, _, _ = free_and_slack(members, temperature)
        return soft_pair(scores[:, 0], scores[:, 1] + free + slack, temperature)


@dataclass(frozen=True)
class AnyOf(MemberLists):
    """Scores of having any member ON. ``potentials`` has the columns none, some.

    >>> factors = AnyOf.of([[0, 1, 2], [2]], some=[3.0, -1.0])
    >>> factors.scores(np.array([0, 1, 0])).tolist()
    [3.0, 0.0]
    """

    kind: ClassVar[str] = "any of"
    block: ClassVar[type[MemberBlock]] = AnyOfBlock

    @classmethod
    def of(
        cls,
        members: "Ragged | np.ndarray | Sequence",
        some: "float | np.ndarray | Sequence" = 0.0,
        none: "float | np.ndarray | Sequence" = 0.0,
    ) -> "AnyOf":
        """Make factors from lists of members, one list a factor, of any lengths.

        ``some`` is the score if any member is ON, ``none`` if all are OFF, once or for each list.
        """
        rows = as_member_lists(members)
        pairs = np.broadcast_arrays(np.asarray(none, float), np.asarray(some, float))
        potentials = check_potentials(np.stack(pairs, -1), "none, some")
        if potentials.shape[:-1] not in ((), (len(rows),)):
            raise ValueError(
                f"scores of shape {potentials.shape[:-1]} for {len(rows)} lists of members"
            )
        row = np.zeros(len(rows)) if potentials.ndim == 1 else np.arange(len(rows))
        return cls(potentials.reshape(-1, 2), row.astype(np.int64), rows)

    def table(self, factor: int, states: np.ndarray) -> Listing:
        ids = self.members[factor]
        cases = every_configuration((2,) * len(ids))
        scores = self.potentials[self.row[factor]][cases.any(1).astype(np.int64)]
        return Listing(ids, cases[np.isfinite(scores)], scores[np.isfinite(scores)])

    def scores(self, values: np.ndarray) -> np.ndarray:
        on = values[self.members.values] == 1
        some = np.bincount(self.members.row_of_value[on], minlength=len(self)) > 0
        return self.potentials[self.row, some.astype(np.int64)]

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        lengths, own = self.members.lengths, self.potentials[self.row]
        for length in np.unique(lengths[(lengths > 0) & (lengths <= _NARROW)]).tolist():
            rows = np.flatnonzero(lengths == length)
            values = np.repeat(own[rows, 1:], 2**length, 1)
            values[:, 0] = own[rows, 0]
            ids = self.members.rectangle(rows, length)
            network.add(ids, values.reshape(-1, *[2] * length))
        rows = np.flatnonzero((lengths == 0) | (lengths > _NARROW))
        a, b, either = np.indices((2, 2, 2))
        some = network.joined(self.members.take(rows), demand(either == (a | b)))
        network.add(some[:, None], own[rows])

    def unions(self) -> Unions:
        scores = np.maximum(self.potentials[self.row], FORBIDDEN)
        return Unions(self.members, scores[:, 1] - scores[:, 0])
