r"""Logical AND of two inputs: :math:`o = a \wedge b`, for learning parts from images."""

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
    Listing,
    Messages,
    Plan,
    Temperature,
    column_ports,
    pad_rows,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids
from mam.factors.reduce import soft_pair

_CASES = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 1]])


@dataclass(frozen=True)
class And(Factors):
    """ANDs over the columns first input, second input, output; they have no potentials.

    >>> len(And.of(inputs=[[0, 1], [0, 2]], output=[3, 4]))
    2
    """

    variables: Int[np.ndarray, "factors 3"]

    kind: ClassVar[str] = "and"

    @classmethod
    def of(cls, inputs: "np.ndarray | Sequence", output: "np.ndarray | Sequence") -> "And":
        """Make ANDs from pairs of inputs and their outputs."""
        pairs, outputs = as_ids(inputs).reshape(-1, 2), as_ids(output).ravel()
        if len(pairs) != len(outputs):
            raise ValueError(f"{len(pairs)} pairs of inputs for {len(outputs)} outputs")
        nothing = np.zeros((1, 0)), np.zeros(len(outputs), np.int64)
        return cls(*nothing, np.concatenate([pairs, outputs[:, None]], 1))

    def scopes(self) -> Ragged:
        return Ragged.of(self.variables)

    def moved(self, offset: int) -> "And":
        return replace(self, variables=self.variables + offset)

    def key(self, states: np.ndarray) -> Hashable:
        wrong = self.variables[states[self.variables] != 2]
        if wrong.size:
            raise ValueError(f"variable {wrong[0]} of an AND is not binary")
        return ()

    @classmethod
    def stack(cls, parts: Sequence["And"]) -> "And":
        variables = np.concatenate([part.variables for part in parts])
        return cls(np.zeros((1, 0)), np.zeros(len(variables), np.int64), variables)

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        rows = pad_rows(len(self), padding.rows(label, len(self), degree=3))
        ports = column_ports(self.variables, rows)
        return [Plan(AndBlock(), ports, rows)]

    def table(self, factor: int, states: np.ndarray) -> Listing:
        return Listing(self.variables[factor], _CASES, np.zeros(len(_CASES)))

    def scores(self, values: np.ndarray) -> np.ndarray:
        a, b, output = values[self.variables].T
        return demand(output == a * b)

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        a, b, output = np.indices((2, 2, 2))
        network.add(self.variables, demand(output == a * b))

    def take(self, which: np.ndarray, number: np.ndarray) -> "And":
        return replace(self, row=self.row[which], variables=number[self.variables[which]])


@pytree
@dataclass(frozen=True)
class AndBlock(Block):
    """Padded ANDs; ports: first input, second input, output."""

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """Maxima over the four cases, written so that no large message is subtracted."""
        a, b, output = incoming
        either = soft_pair(-a, -b, temperature)
        to_output = -soft_pair(either, -a - b, temperature)
        return _to_input(b, output, temperature), _to_input(a, output, temperature), to_output

    def score(self, potentials: Array, states: Messages) -> Array:
        """0 where the output is the AND of the inputs."""
        a, b, output = states
        zero = jnp.zeros(a.shape, potentials.dtype)
        return jnp.where(output == a * b, zero, -jnp.inf)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best of the four cases."""
        a, b, output = incoming
        not_both = soft_pair(soft_pair(a, b, temperature), jnp.zeros_like(a), temperature)
        return soft_pair(not_both, a + b + output, temperature)

    def take(self, rows: Array) -> tuple["AndBlock", Messages]:
        """All rows are alike."""
        return self, (rows,) * 3


def _to_input(other: Array, output: Array, temperature: Temperature) -> Array:
    """Return max(0, other + output) - max(0, other), both shifted by max(0, other)."""
    positive = jnp.maximum(other, 0.0)
    rest = jnp.minimum(other, 0.0)
    on = soft_pair(-positive, rest + output, temperature)
    return on - soft_pair(-positive, rest, temperature)
