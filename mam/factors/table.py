r"""Factors given by a list of configurations with log potentials; the oracle for all others."""

import hashlib
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
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
    check_potentials,
    pad_rows,
    padded,
    potential_rows,
    rows_of,
    stack_rows,
)
from mam.factors.network import NetworkBuilder, demand
from mam.factors.numeric_limits import limit
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged, as_ids, rows_in
from mam.factors.reduce import (
    as_message,
    as_scores,
    every_configuration,
    finite,
    pick,
    soft_maximum,
    sum_of_others,
)

# A table with at most this many joint states is stored densely whatever list it came from, so
# that tables with different lists share one block.
_DENSE = 4096


@dataclass(frozen=True)
class Table(Factors):
    """Tables over any variables; configurations that are not listed are impossible.

    >>> exactly_one = Table.of([[0, 1]], np.zeros(2), configurations=[[0, 1], [1, 0]])
    >>> exactly_one.table(0, np.array([2, 2])).configurations.tolist()
    [[0, 1], [1, 0]]
    """

    variables: Int[np.ndarray, "factors arity"]
    configurations: Int[np.ndarray, "configurations arity"]

    kind: ClassVar[str] = "table"

    @classmethod
    def of(
        cls,
        variables: "np.ndarray | Sequence",
        log_potentials: object,
        *,
        configurations: "np.ndarray | Sequence | None" = None,
        states: Sequence[int] | None = None,
    ) -> "Table":
        """Make tables.

        Without ``configurations`` the log potentials are a tensor with one axis per variable, or
        flat (the last variable changing fastest) when ``states`` tells the axes. With them, there
        is one log potential per configuration. A leading axis gives each factor its own.
        """
        ids = np.atleast_2d(as_ids(variables))
        arity = ids.shape[1]
        if not arity:
            raise ValueError("a table needs at least one variable; its list of variables is empty")
        scores = check_potentials(log_potentials, "a table")
        if configurations is None:
            shape = tuple(states) if states is not None else scores.shape[scores.ndim - arity :]
            cases = every_configuration(shape)
            rows, row = potential_rows(scores, 1 if states is not None else arity, len(ids), "it")
        else:
            cases = as_ids(configurations).reshape(-1, arity)
            rows, row = potential_rows(scores, 1, len(ids), "a table")
        if rows.shape[1] != len(cases):
            raise ValueError(f"{rows.shape[1]} log potentials for {len(cases)} configurations")
        if configurations is not None and len(np.unique(cases, axis=0)) != len(cases):
            raise ValueError("a table lists one of its configurations twice")
        if not len(cases):
            # Nothing is possible: any one configuration says so as well as none.
            cases, rows = np.zeros((1, arity), np.int64), np.full((len(rows), 1), -np.inf)
        return cls(rows, row, ids, cases)

    def scopes(self) -> Ragged:
        return Ragged.of(self.variables)

    def moved(self, offset: int) -> "Table":
        return replace(self, variables=self.variables + offset)

    def key(self, states: np.ndarray) -> Hashable:
        shapes = states[self.variables]
        if not len(shapes):
            return ()
        if (shapes != shapes[0]).any():
            shapes = np.unique(shapes, axis=0)
            raise ValueError(f"a group of tables joins variables of different states: {shapes}")
        shape = tuple(int(n) for n in shapes[0])
        bad = np.any((self.configurations < 0) | (self.configurations >= shape), axis=1)
        if bad.any():
            case = self.configurations[bad][0].tolist()
            raise ValueError(f"a table over {list(shape)} states lists the configuration {case}")
        small = np.prod(shape, dtype=float) <= _DENSE
        # Keys are compared and sorted, and a list may be long: its digest stands for it.
        if small:
            return shape
        return shape, hashlib.sha256(self.configurations.tobytes()).hexdigest()

    @classmethod
    def stack(cls, parts: Sequence["Table"]) -> "Table":
        variables = np.concatenate([part.variables for part in parts])
        first = parts[0].configurations
        if all(np.array_equal(part.configurations, first) for part in parts):
            return cls(*stack_rows(parts), variables, first)
        most = np.max([part.configurations.max(0, initial=0) for part in parts], 0)
        shape = tuple((most + 1).tolist())
        return cls.stack([part._dense(shape) for part in parts])

    def _dense(self, shape: tuple[int, ...]) -> "Table":
        place = np.ravel_multi_index(tuple(self.configurations.T), shape)
        scores = np.full((len(self.potentials), int(np.prod(shape))), -np.inf)
        scores[:, place] = self.potentials
        return replace(self, potentials=scores, configurations=every_configuration(shape))

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        if not len(self):
            return []
        count = len(self)
        shape = states[self.variables[0]]
        capacity = padding.rows(label, count, cost=len(self.configurations), degree=len(shape))
        rows = pad_rows(count, capacity)
        # One port a number of states, not a variable: programs are as long as there are ports.
        ports, listed, by_state, slot = [], [], [], 0
        for n in np.unique(shape):
            mine = np.flatnonzero(shape == n)
            place = np.full(len(rows), slot)
            ports.append(Port(padded(self.variables[:, mine], rows, -1), rows, place))
            listed.append(self.configurations[:, mine].astype(np.int32))
            by_state.append(_cases_by_state(listed[-1], int(n)).astype(np.int32))
            slot += len(mine)
        row = padded(self.row, rows, 0).astype(np.int32)
        block = TableBlock(
            row, tuple(listed), tuple(by_state), tuple(int(n) for n in np.unique(shape))
        )
        return [Plan(block, tuple(ports), rows)]

    def held(self, states: np.ndarray) -> float:
        return 4.0 * len(self) * self.configurations.size

    def cases(self, states: np.ndarray) -> np.ndarray:
        return np.full(len(self), float(len(self.configurations)))

    def table(self, factor: int, states: np.ndarray) -> Listing:
        scores = self.potentials[self.row[factor]]
        possible = np.isfinite(scores)
        return Listing(self.variables[factor], self.configurations[possible], scores[possible])

    def scores(self, values: np.ndarray) -> np.ndarray:
        place = rows_in(self.configurations, values[self.variables])
        found = self.potentials[self.row, np.maximum(place, 0)]
        return np.where(place < 0, -np.inf, found)

    def entries(self, states: np.ndarray) -> float:
        shape = states[self.variables].prod(1, dtype=float).max(initial=0.0)
        listed = float(len(self.configurations))
        if shape <= max(_DENSE, 2 * listed):
            return len(self) * shape
        return len(self) * listed * float(states[self.variables].sum(1).max(initial=0.0))

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        if not len(self):
            return
        shape = tuple(int(n) for n in states[self.variables[0]])
        count = len(self.configurations)
        if np.prod(shape, dtype=float) <= max(_DENSE, 2 * count):
            dense = self._dense(shape).potentials
            tables = dense if len(dense) == 1 else dense[self.row]
            network.add(self.variables, tables.reshape(-1, *shape))
            return
        # A variable says which configuration it is, and each of the others follows it.
        chosen = network.variables(len(self), max(count, 2))
        spare = max(count, 2) - count
        scores = np.pad(self.potentials[self.row], ((0, 0), (0, spare)), constant_values=-np.inf)
        network.add(chosen[:, None], scores)
        for column, n in enumerate(shape):
            follows = self.configurations[:, column, None] == np.arange(n)
            follows = np.pad(follows, ((0, spare), (0, 0)))
            network.add(np.stack([chosen, self.variables[:, column]], 1), demand(follows))

    def take(self, which: np.ndarray, number: np.ndarray) -> "Table":
        return replace(self, row=self.row[which], variables=number[self.variables[which]])


def _cases_by_state(columns: np.ndarray, states: int) -> np.ndarray:
    """List the configurations with each state of each column, padded with their number."""
    count, width = columns.shape
    order = np.argsort(columns, axis=0, kind="stable").T
    place = np.arange(width)[:, None] * states + np.take_along_axis(columns.T, order, 1)
    lengths = np.bincount(place.ravel(), minlength=width * states)
    rows = Ragged(order.ravel(), np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    table = rows.rectangle(np.arange(len(rows)), max(1, int(lengths.max(initial=0))))
    return np.where(table < 0, count, table).reshape(width, states, -1)


@pytree
@dataclass(frozen=True)
class TableBlock(Block):
    """Padded tables with the same configurations; ports: one per number of states."""

    row: Leaf
    configurations: tuple[Leaf, ...]  # for each port (configurations, variables)
    cases_by_state: tuple[Leaf, ...]  # for each port (variables, states, configurations)
    states: tuple[int, ...] = field(metadata={"static": True})

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """For each state of each variable, the best configuration without its own message."""
        theta = finite(pick(potentials, self.row))
        others = theta[..., None] + sum_of_others(self._added(incoming))
        floor = -limit(theta.dtype)
        outgoing, first = [], 0
        for cases, states in zip(self.cases_by_state, self.states, strict=True):
            column = first + np.arange(len(cases))[:, None, None]
            scores = others.at[:, cases, column].get(mode="fill", fill_value=floor)
            outgoing.append(as_message(soft_maximum(scores, -1, temperature), states))
            first += len(cases)
        return tuple(outgoing)

    def score(self, potentials: Array, states: Messages) -> Array:
        """The potential of the listed configuration, -inf if it is not listed."""
        listed = jnp.concatenate(self.configurations, -1)
        same = jnp.concatenate(states, -1)[:, None, :] == listed
        theta = pick(potentials, self.row)
        return jnp.max(jnp.where(jnp.all(same, -1), theta, -jnp.inf), -1, initial=-jnp.inf)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best listed configuration."""
        theta = pick(potentials, self.row)
        return soft_maximum(theta + jnp.sum(self._added(incoming), -1), -1, temperature)

    def take(self, rows: Array) -> tuple["TableBlock", Messages]:
        """One row of every port a factor."""
        return replace(self, row=rows_of(self.row, rows)), (rows,) * len(self.states)

    def _added(self, incoming: Messages) -> Array:
        """What each variable's message adds to each configuration: (factors, cases, arity)."""
        pieces = []
        for message, listed, states in zip(incoming, self.configurations, self.states, strict=True):
            column = np.arange(listed.shape[1])
            pieces.append(as_scores(message, states)[:, column, listed])
        return jnp.concatenate(pieces, -1)
