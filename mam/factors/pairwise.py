r"""Pairwise factors: a matrix of log potentials, :math:`f(x, y) = \theta_{x y}`."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

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
    Temperature,
    check_potentials,
    column_ports,
    pad_rows,
    padded,
    potential_rows,
    rows_of,
    stack_rows,
)
from mam.factors.network import NetworkBuilder
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids
from mam.factors.reduce import (
    as_message,
    as_scores,
    every_configuration,
    finite,
    pick,
    soft_maximum,
)


@dataclass(frozen=True)
class Pairwise(Factors):
    """Pairs of variables with a matrix of log potentials, one for all or one for each pair.

    >>> len(Pairwise.of([[0, 1], [1, 2]], np.eye(2)))
    2
    """

    variables: Int[np.ndarray, "factors 2"]
    shape: tuple[int, int]

    kind: ClassVar[str] = "pairwise"

    @classmethod
    def of(cls, variables: "np.ndarray | Sequence", log_potentials: object) -> "Pairwise":
        """Make pairwise factors from ``(factors, 2)`` variables and matrices."""
        pairs = as_ids(variables).reshape(-1, 2)
        matrices = check_potentials(log_potentials, "a pairwise factor")
        rows, row = potential_rows(matrices, 2, len(pairs), "a pairwise factor")
        return cls(rows, row, pairs, (matrices.shape[-2], matrices.shape[-1]))

    def scopes(self) -> Ragged:
        return Ragged.of(self.variables)

    def moved(self, offset: int) -> "Pairwise":
        return replace(self, variables=self.variables + offset)

    def key(self, states: np.ndarray) -> Hashable:
        wrong = np.any(states[self.variables] != self.shape, axis=1)
        if wrong.any():
            pair = self.variables[wrong][0]
            raise ValueError(
                f"a {self.shape[0]} x {self.shape[1]} matrix joins variables {pair.tolist()} "
                f"with {states[pair].tolist()} states"
            )
        return self.shape

    @classmethod
    def stack(cls, parts: Sequence["Pairwise"]) -> "Pairwise":
        variables = np.concatenate([part.variables for part in parts])
        return cls(*stack_rows(parts), variables, parts[0].shape)

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        cost = self.shape[0] * self.shape[1]
        rows = pad_rows(len(self), padding.rows(label, len(self), cost=cost, degree=2))
        ports = column_ports(self.variables, rows)
        block = PairwiseBlock(padded(self.row, rows, 0).astype(np.int32), self.shape)
        return [Plan(block, ports, rows)]

    def held(self, states: np.ndarray) -> float:
        return 3.0 * len(self) * self.potentials.shape[1]

    def table(self, factor: int, states: np.ndarray) -> Listing:
        cases, scores = every_configuration(self.shape), self.potentials[self.row[factor]]
        possible = np.isfinite(scores)
        return Listing(self.variables[factor], cases[possible], scores[possible])

    def scores(self, values: np.ndarray) -> np.ndarray:
        first, second = values[self.variables].T
        return self.potentials[self.row, first * self.shape[1] + second]

    def entries(self, states: np.ndarray) -> float:
        return float(len(self)) * self.potentials.shape[1]

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        tables = self.potentials if len(self.potentials) == 1 else self.potentials[self.row]
        network.add(self.variables, tables.reshape(-1, *self.shape))

    def take(self, which: np.ndarray, number: np.ndarray) -> "Pairwise":
        return replace(self, row=self.row[which], variables=number[self.variables[which]])


@pytree
@dataclass(frozen=True)
class PairwiseBlock(Block):
    """Padded pairwise factors; ports: first variable, second variable."""

    row: Leaf
    shape: tuple[int, int] = field(metadata={"static": True})

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """Maximise the matrix plus the other side's message."""
        matrix = self._matrix(finite(potentials))
        first = as_scores(incoming[0], self.shape[0])
        second = as_scores(incoming[1], self.shape[1])
        to_first = soft_maximum(matrix + second[:, None, :], 2, temperature)
        to_second = soft_maximum(matrix + first[:, :, None], 1, temperature)
        return as_message(to_first, self.shape[0]), as_message(to_second, self.shape[1])

    def score(self, potentials: Array, states: Messages) -> Array:
        """The entry of the matrix."""
        entry = states[0] * self.shape[1] + states[1]
        row = self.row if potentials.shape[0] > 1 else 0
        return potentials[row, entry]

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The largest entry with both messages added."""
        first = as_scores(incoming[0], self.shape[0])
        second = as_scores(incoming[1], self.shape[1])
        scores = self._matrix(potentials) + first[:, :, None] + second[:, None, :]
        return soft_maximum(scores.reshape(len(first), -1), 1, temperature)

    def take(self, rows: Array) -> tuple["PairwiseBlock", Messages]:
        """One row of either port a factor."""
        return replace(self, row=rows_of(self.row, rows)), (rows,) * 2

    def _matrix(self, potentials: Array) -> Array:
        return pick(potentials, self.row).reshape(-1, *self.shape)
