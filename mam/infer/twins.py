"""Components that are equal in structure, potentials and evidence: one of them is solved for all.

Two components are twins if their tables, written with the places of the variables in the component
instead of their numbers, are the same in the same order. They are told apart by 128 bits of a hash.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors.network import Tables

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2^64 over the golden ratio: spreads small numbers


@dataclass(frozen=True)
class Twins:
    """Which component stands for which, and the variables that stand for each other."""

    place: np.ndarray  # of each variable in its component, by rising number; 0 where it has none
    first: np.ndarray  # of each component: the first one that is equal to it
    variable: np.ndarray  # of each variable: that in its place in the first twin; itself if fixed

    @property
    def alone(self) -> np.ndarray:
        """Which components are solved: the first of their kind."""
        return self.first == np.arange(len(self.first))


def find_twins(
    tables: Sequence[Tables], component: np.ndarray, states: np.ndarray, unlike: np.ndarray
) -> Twins:
    """Compare all components; those that are ``unlike`` have tables that nobody knows, and no twin.

    >>> pairs = Tables(np.array([[0, 1], [2, 3], [4, 5]]), np.zeros((3, 2, 2)))
    >>> pairs.values[2, 0, 0] = 1.0
    >>> component, states = np.array([0, 0, 1, 1, 2, 2]), np.full(6, 2)
    >>> find_twins([pairs], component, states, np.zeros(3, bool)).variable.tolist()
    [0, 1, 0, 1, 4, 5]
    """
    count = int(component.max(initial=-1)) + 1
    free = np.flatnonzero(component >= 0)
    order = free[np.argsort(component[free], kind="stable")]
    start = np.searchsorted(component[order], np.arange(count))
    place = np.zeros(len(component), np.int64)
    place[order] = np.arange(len(order)) - start[component[order]]
    total = np.zeros((count, 2), np.uint64)
    _add(total, component[order], mixed(_weighed(np.stack([place, states], 1)[order], 0)))
    for number, some in enumerate(tables):
        if len(some):
            _add(total, component[some.scopes[:, 0]], _table_codes(some, number, component, place))
    own = np.flatnonzero(unlike)
    _add(total, own, mixed(_weighed(own[:, None] + 1, 3)))
    _, first, which = np.unique(total, axis=0, return_index=True, return_inverse=True)
    first = first[which.ravel()]
    variable = np.arange(len(component))
    variable[order] = order[start[first[component[order]]] + place[order]]
    return Twins(place, first, variable)


def _table_codes(some: Tables, number: int, component: np.ndarray, place: np.ndarray) -> np.ndarray:
    """Two codes a table, of its values, its variables' places and its turn in the component."""
    owner = component[some.scopes[:, 0]]
    order = np.argsort(owner, kind="stable")
    turn = np.empty(len(owner), np.int64)
    turn[order] = np.arange(len(owner)) - np.searchsorted(owner[order], owner[order])
    # Adding 0 turns -0 into 0.
    values = (some.values.reshape(len(some.values), -1) + 0.0).view(np.uint64)
    kind = np.full(len(owner), number)
    where = np.concatenate([place[some.scopes], turn[:, None], kind[:, None]], 1)
    return mixed(mixed(_weighed(values, 1)) + _weighed(where, 2))


def _weighed(rows: np.ndarray, seed: int) -> np.ndarray:
    """Two sums a row, with fixed random weights, modulo 2^64."""
    draw = np.random.default_rng(seed).integers(0, 1 << 63, (rows.shape[1], 2), dtype=np.uint64)
    return rows.astype(np.uint64) @ (2 * draw + np.uint64(1))


def mixed(codes: np.ndarray) -> np.ndarray:
    """Spread every bit over all others, so that sums of codes do not cancel (splitmix64)."""
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        codes = (codes ^ (codes >> np.uint64(shift))) * np.uint64(factor)
    return codes ^ (codes >> np.uint64(31))


def _add(total: np.ndarray, owner: np.ndarray, codes: np.ndarray) -> None:
    """Add codes to those of their components."""
    np.add.at(total, owner, np.broadcast_to(codes, (len(owner), 2)))
