"""Factors as small tables: what exact solvers work on.

The table of a Pattern or of a large Or is exponential. Auxiliary variables, determined by the
others through hard tables, keep all tables small and leave the score of every assignment as it is.
Every kind of factor writes itself down here (``Factors.encode``), all of its factors at once.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors.ragged import Ragged


@dataclass(frozen=True)
class Tables:
    """Tables of one shape: ``values[i]`` scores the joint states of the variables ``scopes[i]``."""

    scopes: np.ndarray  # (tables, arity)
    values: np.ndarray  # (tables, *states); a leading axis of 1 is shared by all

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each variable of a scope."""
        return self.values.shape[1:]

    def __len__(self) -> int:
        return len(self.scopes)

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Return the values of some tables, one axis more than their shape."""
        return self.values if len(self.values) == 1 else self.values[which]


@dataclass(frozen=True)
class Network:
    """Variables, those of the graph first, and tables over them."""

    states: np.ndarray
    tables: tuple[Tables, ...]


class NetworkBuilder:
    """Collect tables and auxiliary variables.

    >>> network = NetworkBuilder(np.array([2, 2]))
    >>> network.add([[0, 1]], np.zeros((2, 2)))
    >>> network.variables(3, states=4).tolist(), len(network.build().states)
    ([2, 3, 4], 5)
    """

    def __init__(self, states: np.ndarray) -> None:
        self._states = [np.asarray(states, np.int64)]
        self._count = len(states)
        self._found: list[Tables] = []

    def variables(self, count: int, states: int = 2) -> np.ndarray:
        """Add auxiliary variables and return their numbers."""
        first = self._count
        self._count += count
        self._states.append(np.full(count, states, np.int64))
        return np.arange(first, self._count)

    def add(self, scopes: "np.ndarray | Sequence", values: np.ndarray) -> None:
        """Add tables: values for all of them alike, or with a leading axis of one a table."""
        ids = np.asarray(scopes, np.int64)
        own = values if values.ndim == ids.shape[1] + 1 else values[None]
        if len(ids):
            self._found.append(Tables(ids, own))

    def build(self) -> Network:
        """Return what was collected."""
        return Network(np.concatenate(self._states), tuple(self._found))

    def joined(self, lists: Ragged, table: np.ndarray) -> np.ndarray:
        """Join the binary variables of every list two by two, until one a list is left.

        ``table[a, b, c]`` scores that c stands for a and b. The joints form a balanced tree, so
        that no chain gets long. An empty list gets a variable that is OFF.
        """
        values, row = lists.values, lists.row_of_value
        while len(values):
            first = np.searchsorted(row, row)
            place = np.arange(len(row)) - first
            paired = np.append((row[1:] == row[:-1]) & (place[:-1] % 2 == 0), False)
            if not paired.any():
                break
            left = np.flatnonzero(paired)
            made = self.variables(len(left))
            self.add(np.stack([values[left], values[left + 1], made], 1), table)
            values = values.copy()
            values[left] = made
            keep = np.ones(len(values), bool)
            keep[left + 1] = False
            values, row = values[keep], row[keep]
        result = np.full(len(lists), -1, np.int64)
        result[row] = values
        empty = np.flatnonzero(result < 0)
        result[empty] = self.variables(len(empty))
        self.add(result[empty][:, None], np.array([0.0, -np.inf]))
        return result


def demand(allowed: np.ndarray) -> np.ndarray:
    """Return the table of a hard constraint."""
    return np.where(allowed, 0.0, -np.inf)
