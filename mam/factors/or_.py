r"""Noisy OR: a pixel and the parts that may explain it.

.. math::
    f(c) = \begin{cases}
    0 & \text{some parent ON, child ON, or all OFF} \\
    \log \pi_{01} & \text{some parent ON, child OFF} \\
    \log \pi_{10} & \text{all parents OFF, child ON}
    \end{cases}

With ``free`` and ``slack`` of the other parents (see ``free_and_slack``) every message is a
difference of two terms (paper, "MPBP updates for the OR factors").
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from mam.core.pytree import pytree
from mam.factors.base import (
    Block,
    Factors,
    Leaf,
    Listing,
    Messages,
    Plan,
    Port,
    Temperature,
    padded,
    rows_of,
    stack_rows,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids
from mam.factors.reduce import every_configuration, finite, free_and_slack, pick, soft_pair


@dataclass(frozen=True)
class Or(Factors):
    """Noisy ORs. ``potentials`` has the columns log pi01, log pi10.

    >>> factors = Or.of(parents=[[0, 1], [1]], child=[2, 3], pi01=0.07, pi10=0.0019)
    >>> len(factors)
    2
    """

    parents: Ragged
    child: Int[np.ndarray, " factors"]

    kind: ClassVar[str] = "or"

    @classmethod
    def of(
        cls,
        parents: "Ragged | np.ndarray | Sequence",
        child: "np.ndarray | Sequence",
        *,
        pi01: float | np.ndarray = 0.0,
        pi10: float | np.ndarray = 0.0,
    ) -> "Or":
        """Make noisy ORs from the parents of each child; a pi of 0 makes that noise impossible."""
        rows, children = Ragged.of(parents), as_ids(child).ravel()
        if len(rows) != len(children):
            raise ValueError(f"{len(rows)} lists of parents for {len(children)} children")
        noise = np.stack(
            np.broadcast_arrays(np.float64(pi01), np.float64(pi10)), -1
        )  # one row for all, or one per factor
        if not np.all((noise >= 0) & (noise < 0.5)):
            raise ValueError(f"pi01 and pi10 must lie in [0, 0.5), not {pi01}, {pi10}")
        with np.errstate(divide="ignore"):
            potentials = np.log(noise).reshape(-1, 2)
        if len(potentials) not in (1, len(children)):
            raise ValueError(f"{len(potentials)} values of pi for {len(children)} factors")
        row = np.zeros(len(children)) if len(potentials) == 1 else np.arange(len(children))
        return cls(potentials, row.astype(np.int64), rows, children)

    def scopes(self) -> Ragged:
        return Ragged.stack_columns([Ragged.of(self.child[:, None]), self.parents])

    def arities(self) -> np.ndarray:
        return 1 + self.parents.lengths

    def moved(self, offset: int) -> "Or":
        parents = replace(self.parents, values=self.parents.values + offset)
        return replace(self, parents=parents, child=self.child + offset)

    def key(self, states: np.ndarray) -> Hashable:
        ids = np.concatenate([self.child, self.parents.values])
        if np.any(states[ids] != 2):
            raise ValueError(f"variable {ids[states[ids] != 2][0]} of an OR is not binary")
        return ()

    @classmethod
    def stack(cls, parts: Sequence["Or"]) -> "Or":
        child = np.concatenate([part.child for part in parts])
        return cls(*stack_rows(parts), Ragged.stack([part.parents for part in parts]), child)

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        plans = []
        for width, rows in padding.buckets(label, self.parents.lengths):
            block = OrBlock(padded(self.row, rows, 0).astype(np.int32))
            ports = (
                Port(padded(self.child, rows, -1), rows, np.zeros_like(rows)),
                Port(self.parents.rectangle(rows, width), rows, np.ones_like(rows)),
            )
            plans.append(Plan(block, ports, rows))
        return plans

    def table(self, factor: int, states: np.ndarray) -> Listing:
        parents = self.parents[factor]
        cases = every_configuration((2,) * (1 + len(parents)))
        child, some = cases[:, 0] == 1, cases[:, 1:].any(1)
        log_pi01, log_pi10 = self.potentials[self.row[factor]]
        scores = np.where(some & ~child, log_pi01, np.where(~some & child, log_pi10, 0.0))
        ids = np.concatenate([[self.child[factor]], parents])
        return Listing(ids, cases[np.isfinite(scores)], scores[np.isfinite(scores)])

    def scores(self, values: np.ndarray) -> np.ndarray:
        on = values[self.parents.values] == 1
        some = np.bincount(self.parents.row_of_value[on], minlength=len(self)) > 0
        child = values[self.child] == 1
        log_pi01, log_pi10 = self.potentials[self.row].T
        return np.where(some & ~child, log_pi01, np.where(~some & child, log_pi10, 0.0))

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        a, b, either = np.indices((2, 2, 2))
        some = network.joined(self.parents, demand(either == (a | b)))
        tables = np.zeros((len(self.potentials), 2, 2))
        tables[:, 1, 0], tables[:, 0, 1] = self.potentials.T
        own = tables if len(tables) == 1 else tables[self.row]
        network.add(np.stack([some, self.child], 1), own)

    def take(self, which: np.ndarray, number: np.ndarray) -> "Or":
        parents = self.parents.take(which)
        parents = replace(parents, values=number[parents.values])
        return replace(self, row=self.row[which], parents=parents, child=number[self.child[which]])


@pytree
@dataclass(frozen=True)
class OrBlock(Block):
    """Padded noisy ORs; ports: child, parents."""

    row: Leaf

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """The paper's updates; a padded parent is one that cannot be ON."""
        child, parents = incoming
        log_pi01, log_pi10 = self._noise(potentials)
        on, off = self._child(potentials, child, temperature)
        free, slack, free_others, slack_others = free_and_slack(parents, temperature)
        some = free + slack
        # Both sides less max(0, some), so that a parent that is ON for sure costs no digits.
        gain, loss = jnp.minimum(some, 0.0), jnp.minimum(-some, 0.0)
        to_child = soft_pair(gain, log_pi10 + loss, temperature) - soft_pair(
            log_pi01 + gain, loss, temperature
        )
        to_parents = -soft_pair((off - on)[:, None] - free_others, slack_others, temperature)
        return to_child, to_parents

    def score(self, potentials: Array, states: Messages) -> Array:
        """0, log pi01 or log pi10."""
        child, parents = states
        picked = pick(potentials, self.row)
        some = jnp.any(parents == 1, -1)
        unexplained = jnp.where(child == 1, picked[:, 1], 0.0)
        return jnp.where(some, jnp.where(child == 1, 0.0, picked[:, 0]), unexplained)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """Either all parents OFF, or at least one ON."""
        child, parents = incoming
        on, off = self._child(potentials, child, temperature)
        free, slack, _, _ = free_and_slack(parents, temperature)
        return soft_pair(off, on + free + slack, temperature)

    def take(self, rows: Array) -> tuple["OrBlock", Messages]:
        """One row of either port a factor."""
        return replace(self, row=rows_of(self.row, rows)), (rows,) * 2

    def _child(
        self, potentials: Array, child: Array, temperature: Temperature
    ) -> tuple[Array, Array]:
        """Return the best score of the child when some parent is ON, and when all are OFF."""
        log_pi01, log_pi10 = self._noise(potentials)
        on = soft_pair(child, log_pi01, temperature)
        return on, soft_pair(child + log_pi10, jnp.zeros_like(child), temperature)

    def _noise(self, potentials: Array) -> tuple[Array, Array]:
        picked = finite(pick(potentials, self.row))
        return picked[:, 0], picked[:, 1]
