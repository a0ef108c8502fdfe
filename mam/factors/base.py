"""What every kind of factor offers.

A kind has two faces. ``Factors`` is what a user writes down: plain numpy arrays on the host, any
sizes. ``Block`` is what the solvers run: padded arrays for many factors of one shape, with pure
functions over all of them at once.

The edges of a block come in *ports*: arrays of variables that all have the same number of states.
A port of shape ``(rows,)`` or ``(rows, width)`` receives messages of that shape when its variables
are binary, with one more axis of states otherwise. The message to a binary variable is one number,
score(ON) - score(OFF); to any other it is a vector with maximum 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from mam.factors.network import NetworkBuilder
from mam.factors.numeric_limits import limit
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged

Messages = tuple[Array, ...]
Leaf = Any  # an array of a pytree: numpy on the host, JAX on the device
Temperature = Any  # the Python number 0, or a positive number that may be traced


@dataclass(frozen=True)
class Listing:
    """All configurations of one factor that are not impossible."""

    variables: Int[np.ndarray, " arity"]
    configurations: Int[np.ndarray, "configurations arity"]
    potentials: Float[np.ndarray, " configurations"]


class Block(ABC):
    """Padded factors of one shape: structure only, the potentials come as an argument."""

    @abstractmethod
    def messages(
        self, potentials: Float[Array, "rows width"], incoming: Messages, temperature: Temperature
    ) -> Messages:
        """Return the messages to all variables, given those from them."""

    @abstractmethod
    def score(
        self, potentials: Float[Array, "rows width"], states: Messages
    ) -> Float[Array, " factors"]:
        """Return the log potential of each factor at the given states, -inf where forbidden."""

    @abstractmethod
    def best(
        self, potentials: Float[Array, "rows width"], incoming: Messages, temperature: Temperature
    ) -> Float[Array, " factors"]:
        """Return the (soft) maximum over configurations of potential plus incoming messages."""

    @abstractmethod
    def take(self, rows: Int[Array, " some"]) -> "tuple[Block, Messages]":
        """Return the block of some rows alone, and for each port which of its rows are theirs.

        As many of a port's rows for every row taken, one after another; a number past the last row
        of a port is padding. Rows past the last one may be asked for: what they say is not read.
        """

    def best_members(self, beliefs: Messages) -> tuple[Array | None, ...]:
        """Return for each port which of its members believe most in being ON in their group.

        A group is a list of binary variables of which one may be ON; the first wins a tie. None
        for a port without groups.
        """
        return (None,) * len(beliefs)

    def home(self, port: int) -> Int[Array, " rows"] | None:
        """The factor of each row of a port, any for padding; None: one row a factor."""
        return None


def rows_of(values: Array, rows: Array) -> Array:
    """Return some rows of an array; past the end is the last one."""
    return jnp.asarray(values).at[rows].get(mode="clip")


@dataclass(frozen=True)
class Port:
    """Edges of a block on the host.

    ``variables`` holds variable numbers (-1 is padding); for each of its rows, ``factor`` is the
    factor (-1 is padding) and ``slot`` the place of the first variable in that factor's scope.
    """

    variables: np.ndarray
    factor: np.ndarray
    slot: np.ndarray


@dataclass(frozen=True)
class Plan:
    """A block together with its wiring on the host."""

    block: Block
    ports: tuple[Port, ...]
    factor: np.ndarray  # which factor stands in each row of the block, -1 is padding


@dataclass(frozen=True)
class Unions:
    """Lists of binary variables, each with a weight that counts once any of its members is ON.

    Their sum is the score of the factors up to a constant. What is forbidden weighs ``FORBIDDEN``.
    """

    members: Ragged
    weights: Float[np.ndarray, " lists"]


@dataclass(frozen=True)
class Limits:
    """Lists of binary variables of which so many are ON, at least and at most."""

    members: Ragged
    least: Int[np.ndarray, " lists"]
    most: Int[np.ndarray, " lists"]


# Far more than any score that listing all states is meant for, and exact to 1e-8 in sums.
FORBIDDEN = -limit(np.float64)


@dataclass(frozen=True)
class Factors(ABC):
    """Factors of one kind; each uses one row of ``potentials``."""

    potentials: Float[np.ndarray, "rows width"]
    row: Int[np.ndarray, " factors"]

    kind: ClassVar[str]

    def __len__(self) -> int:
        return len(self.row)

    @abstractmethod
    def scopes(self) -> Ragged:
        """The variables of each factor."""

    def arities(self) -> np.ndarray:
        """The number of variables of each factor."""
        return self.scopes().lengths

    @abstractmethod
    def moved(self, offset: int) -> "Factors":
        """The same factors over variables numbered from ``offset`` on."""

    @abstractmethod
    def key(self, states: np.ndarray) -> Hashable:
        """Factors of one kind with equal keys can be stacked; raise ValueError on bad states."""

    @classmethod
    @abstractmethod
    def stack(cls, parts: "Sequence[Any]") -> "Factors":
        """Several groups with equal keys as one, their potentials below each other."""

    @abstractmethod
    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        """Split into padded blocks."""

    def held(self, states: np.ndarray) -> float:
        """About how many numbers one update of all factors holds at once."""
        scopes = self.scopes()
        return 4.0 * float(states[scopes.values].sum())

    def cases(self, states: np.ndarray) -> np.ndarray:
        """How many configurations ``table`` goes through for each factor, inf beyond a double."""
        scopes = self.scopes()
        counts = np.ones(len(scopes))
        with np.errstate(over="ignore"):
            np.multiply.at(counts, scopes.row_of_value, states[scopes.values].astype(float))
        return counts

    @abstractmethod
    def table(self, factor: int, states: np.ndarray) -> Listing:
        """List the configurations of one factor (small factors only)."""

    @abstractmethod
    def scores(self, values: np.ndarray) -> np.ndarray:
        """The log potential of each factor at the given states of all variables."""

    def entries(self, states: np.ndarray) -> float:
        """How many numbers the tables of ``encode`` hold, about."""
        return 8.0 * float(self.arities().sum())

    @abstractmethod
    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        """Write all factors as small tables."""

    def unions(self) -> "Unions | None":
        """The factors as weighted ORs of binary variables; None if they are nothing of the kind."""
        return None

    def limits(self) -> "Limits | None":
        """The factors as limits to how many variables are ON; None if they are no such thing."""
        return None

    @abstractmethod
    def take(self, which: np.ndarray, number: np.ndarray) -> "Factors":
        """Some of the factors, over variables with new numbers: ``number[old]``."""


def check_potentials(potentials: object, what: str, *, infinite: bool = True) -> np.ndarray:
    """Return log potentials in double precision; refuse NaN and +inf."""
    array = np.asarray(potentials, dtype=np.float64)
    if np.isnan(array).any():
        where = tuple(int(i) for i in np.argwhere(np.isnan(array))[0])
        raise ValueError(f"{what} has NaN at {where}")
    if np.isposinf(array).any() or (not infinite and np.isneginf(array).any()):
        where = tuple(int(i) for i in np.argwhere(np.isinf(array))[0])
        raise ValueError(f"{what} has {array[where]} at {where}; log potentials are below +inf")
    return array


def potential_rows(
    potentials: np.ndarray, item_axes: int, count: int, what: str
) -> tuple[np.ndarray, np.ndarray]:
    """Split potentials given once for all, or once per factor, into ``(rows, row of factor)``."""
    if potentials.ndim == item_axes:
        return potentials.reshape(1, -1), np.zeros(count, np.int64)
    if potentials.ndim == item_axes + 1 and len(potentials) == count:
        return potentials.reshape(count, int(np.prod(potentials.shape[1:]))), np.arange(count)
    raise ValueError(
        f"{what} has shape {potentials.shape}: give {item_axes} axes for all {count} factors, "
        f"or a leading axis of {count}"
    )


def stack_rows(parts: Sequence[Factors]) -> tuple[np.ndarray, np.ndarray]:
    """Stack the potentials of several groups and renumber the rows of their factors."""
    starts = np.cumsum([0, *(len(part.potentials) for part in parts)])
    rows = [part.row + start for part, start in zip(parts, starts, strict=False)]
    return np.concatenate([part.potentials for part in parts]), np.concatenate(rows)


def padded(values: np.ndarray, rows: np.ndarray, fill: int) -> np.ndarray:
    """Return ``values[rows]`` with ``fill`` where the row number is -1."""
    if not len(values):
        return np.full((len(rows), *values.shape[1:]), fill, values.dtype)
    picked = values[np.maximum(rows, 0)]
    return np.where((rows >= 0).reshape(-1, *[1] * (picked.ndim - 1)), picked, fill)


def column_ports(variables: np.ndarray, rows: np.ndarray) -> tuple[Port, ...]:
    """Return one port for each column of a ``(factors, arity)`` array."""
    return tuple(
        Port(padded(column, rows, -1), rows, np.full(len(rows), place))
        for place, column in enumerate(variables.T)
    )


def pad_rows(count: int, capacity: int) -> np.ndarray:
    """Return ``0 .. count - 1`` followed by -1 up to the capacity."""
    return np.pad(np.arange(count), (0, capacity - count), constant_values=-1)
