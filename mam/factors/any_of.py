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

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from mam.factors.base import (
    FORBIDDEN,
    Block,
    Factors,
    Leaf,
    Listing,
    Messages,
    Plan,
    Port,
    Temperature,
    Unions,
    check_potentials,
    padded,
    rows_of,
    stack_rows,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged
from mam.factors.reduce import every_configuration, finite, free_and_slack, pick, soft_pair

# Up to here one table over all members, of at most 32 entries; longer lists are joined two by two,
# since elimination then need not hold all members at once.
_NARROW = 5


@dataclass(frozen=True)
class AnyOf(Factors):
    """Scores of having any member ON. ``potentials`` has the columns none, some.

    >>> factors = AnyOf.of([[0, 1, 2], [2]], some=[3.0, -1.0])
    >>> factors.scores(np.array([0, 1, 0])).tolist()
    [3.0, 0.0]
    """

    members: Ragged

    kind: ClassVar[str] = "any of"

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
        if not isinstance(members, Ragged) and any(np.ndim(row) != 1 for row in members):
            raise ValueError("members is a list of lists, one a factor; [members] for a single one")
        rows = Ragged.of(members)
        pairs = np.broadcast_arrays(np.asarray(none, float), np.asarray(some, float))
        potentials = check_potentials(np.stack(pairs, -1), "none, some")
        if potentials.shape[:-1] not in ((), (len(rows),)):
            raise ValueError(
                f"scores of shape {potentials.shape[:-1]} for {len(rows)} lists of members"
            )
        row = np.zeros(len(rows)) if potentials.ndim == 1 else np.arange(len(rows))
        return cls(potentials.reshape(-1, 2), row.astype(np.int64), rows)

    def scopes(self) -> Ragged:
        return self.members

    def moved(self, offset: int) -> "AnyOf":
        return replace(self, members=replace(self.members, values=self.members.values + offset))

    def key(self, states: np.ndarray) -> Hashable:
        wrong = self.members.values[states[self.members.values] != 2]
        if wrong.size:
            raise ValueError(
                f"variable {wrong[0]} of an AnyOf has {states[wrong[0]]} states; members are binary"
            )
        return ()

    @classmethod
    def stack(cls, parts: Sequence["AnyOf"]) -> "AnyOf":
        return cls(*stack_rows(parts), Ragged.stack([part.members for part in parts]))

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        plans = []
        for width, rows in padding.buckets(label, self.members.lengths):
            block = AnyOfBlock(padded(self.row, rows, 0).astype(np.int32))
            port = Port(self.members.rectangle(rows, width), rows, np.zeros_like(rows))
            plans.append(Plan(block, (port,), rows))
        return plans

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

    def take(self, which: np.ndarray, number: np.ndarray) -> "AnyOf":
        members = self.members.take(which)
        members = replace(members, values=number[members.values])
        # Mostly every list has its own row, and a component needs few of them.
        used, row = np.unique(self.row[which], return_inverse=True)
        return AnyOf(self.potentials[used], row.ravel(), members)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class AnyOfBlock(Block):
    """Padded factors; port: members. A padded member is one that cannot be ON."""

    row: Leaf

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

    def take(self, rows: Array) -> tuple["AnyOfBlock", Messages]:
        """One row of members a factor."""
        return replace(self, row=rows_of(self.row, rows)), (rows,)
