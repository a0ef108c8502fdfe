"""Factor graphs as a user writes them: named variables, named groups of factors."""

import difflib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape

import numpy as np

from mam.core.words import counted
from mam.factors import Factors
from mam.graph.sizes import checked_shape


@dataclass(frozen=True)
class VariableGroup:
    """An array of variables with the same number of states.

    >>> group = VariableGroup("pixel", (2, 3), states=2, start=10)
    >>> group.ids[1, 2], group.label(15)
    (np.int64(15), 'pixel[1, 2]')
    """

    name: str
    shape: tuple[int, ...]
    states: int
    start: int

    @property
    def size(self) -> int:
        """The number of variables."""
        return math.prod(self.shape)

    @property
    def ids(self) -> np.ndarray:
        """The numbers of the variables, in the shape of the group."""
        return (self.start + np.arange(self.size)).reshape(self.shape)

    def label(self, variable: int) -> str:
        """Return the name of one variable of the group."""
        if not self.shape:
            return self.name
        place = np.unravel_index(variable - self.start, self.shape)
        return f"{self.name}[{', '.join(str(int(i)) for i in place)}]"

    def variable(self, label: str) -> int:
        """Return the number of one variable of the group from its label."""
        _, _, place = label.partition("[")
        try:
            index = tuple(int(i) for i in place.rstrip("]").split(",")) if place else ()
            if len(index) != len(self.shape):
                raise IndexError
            return int(self.ids[index])
        except (IndexError, ValueError):
            raise ValueError(
                f"{label!r} names no single variable of {self.name!r} {self.shape}"
            ) from None


@dataclass(frozen=True)
class FactorGraph:
    """Named groups of variables and named groups of factors over them, all on the host."""

    variables: tuple[VariableGroup, ...]
    factors: tuple[tuple[str, Factors], ...]

    def __repr__(self) -> str:
        size = f"{counted(len(self.states), 'variable')}, {counted(self._factor_count, 'factor')}"
        return f"<FactorGraph: {size}: {', '.join(name for name, _ in self.factors)}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a table of the groups of variables and of factors."""
        rows = [(g.name, "variables", g.size, f"{g.states} states") for g in self.variables]
        rows += [(n, "factors", len(some), type(some).__name__) for n, some in self.factors]
        cells = ["".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows]
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"

    @property
    def _factor_count(self) -> int:
        return sum(len(some) for _, some in self.factors)

    @cached_property
    def states(self) -> np.ndarray:
        """The number of states of each variable."""
        groups = self.variables
        return np.repeat([g.states for g in groups], [g.size for g in groups]).astype(np.int64)

    @cached_property
    def edges(self) -> int:
        """The number of (factor, variable) pairs."""
        return int(sum(factors.arities().sum() for _, factors in self.factors))

    @cached_property
    def _by_name(self) -> dict[str, VariableGroup]:
        return {group.name: group for group in self.variables}

    @cached_property
    def _starts(self) -> np.ndarray:
        return np.array([group.start for group in self.variables], np.int64)

    def group(self, name: str) -> VariableGroup:
        """Return a group of variables by its name."""
        if name not in self._by_name:
            raise ValueError(unknown("variable", name, self._by_name))
        return self._by_name[name]

    def ids(self, name: str) -> np.ndarray:
        """Return the numbers of the variables of a group, in its shape."""
        return self.group(name).ids

    def label(self, variable: int) -> str:
        """Return the name of a variable."""
        place = int(np.searchsorted(self._starts, variable, "right")) - 1
        return self.variables[place].label(variable)

    def labels(self) -> list[str]:
        """Return the names of all variables."""
        return [group.label(int(v)) for group in self.variables for v in group.ids.ravel()]

    def variable(self, label: str | int | np.integer) -> int:
        """Return the number of a variable from its label, such as ``x`` or ``x[1, 2]``."""
        if not isinstance(label, str):
            if not 0 <= label < len(self.states):
                raise ValueError(f"there is no variable number {label}")
            return int(label)
        return self.group(label.partition("[")[0]).variable(label)

    def observe(self, known: Mapping[str, int]) -> dict[str, np.ndarray]:
        """Return evidence that puts single variables, named by label, into given states.

        >>> builder = GraphBuilder()
        >>> _ = builder.variables("x", 2)
        >>> builder.build().observe({"x[1]": 1})["x"].tolist()
        [[0.0, 0.0], [0.0, inf]]
        """
        evidence: dict[str, np.ndarray] = {}
        for label, state in known.items():
            variable = self.variable(label)
            if not 0 <= state < self.states[variable]:
                last = self.states[variable] - 1
                raise ValueError(f"{self.label(variable)} has states 0 to {last}, not {state}")
            group = self.group(self.label(variable).partition("[")[0])
            scores = evidence.setdefault(group.name, np.zeros((*group.shape, group.states)))
            scores.reshape(group.size, group.states)[variable - group.start, state] = np.inf
        return evidence

    def split(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """Cut an array over all variables into named arrays in the shape of their groups."""
        return {
            group.name: values[group.start : group.start + group.size].reshape(group.shape)
            for group in self.variables
        }


class GraphBuilder:
    """Collect variables and factors, then ``build`` a graph.

    >>> from mam.factors import Pairwise
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("agree", Pairwise.of([[x[0], x[1]], [x[1], x[2]]], np.eye(2)))
    >>> graph = builder.build()
    >>> graph.edges
    4
    """

    def __init__(self) -> None:
        self._variables: dict[str, VariableGroup] = {}
        self._factors: dict[str, Factors] = {}
        self._states = np.zeros(0, np.int64)  # doubled when full: adding costs what is added
        self._count = 0

    def variables(
        self, name: str, shape: int | tuple[int, ...] = (), states: int = 2
    ) -> np.ndarray:
        """Add a group of variables and return their numbers."""
        if name in self._variables:
            raise ValueError(f"there is a variable group {name!r} already")
        axes = checked_shape(name, shape, states, self._count)
        group = VariableGroup(name, axes, int(states), self._count)
        self._variables[name] = group
        self._count += group.size
        if self._count > len(self._states):
            more = max(self._count, 2 * len(self._states)) - len(self._states)
            self._states = np.pad(self._states, (0, more))
        self._states[group.start : self._count] = group.states
        return group.ids

    def __getitem__(self, name: str) -> np.ndarray:
        """The numbers of a group of variables, or of one of them such as ``x[1, 2]``."""
        if name in self._variables:
            return self._variables[name].ids
        group, bracket, _ = name.partition("[")
        if bracket and group in self._variables:
            return np.array(self._variables[group].variable(name))
        raise ValueError(unknown("variable", name, self._variables))

    def add(self, name: str, factors: Factors) -> None:
        """Add a group of factors over variables that exist already."""
        if name in self._factors:
            raise ValueError(f"there is a factor group {name!r} already")
        try:
            self._check(factors)
        except ValueError as error:
            raise ValueError(f"factor group {name!r}: {error}") from None
        self._factors[name] = factors

    def build(self) -> FactorGraph:
        """Return the graph; the builder may go on growing."""
        return FactorGraph(tuple(self._variables.values()), tuple(self._factors.items()))

    def _check(self, factors: Factors) -> None:
        scopes = factors.scopes()
        missing = (scopes.values < 0) | (scopes.values >= self._count)
        if missing.any():
            at = int(np.flatnonzero(missing)[0])
            raise ValueError(
                f"factor {scopes.row_of_value[at]} names variable {scopes.values[at]}, "
                f"but there are only {self._count}"
            )
        factors.key(self._states[: self._count])
        pairs = np.sort(scopes.row_of_value * max(self._count, 1) + scopes.values)
        twice = np.flatnonzero(pairs[1:] == pairs[:-1])
        if twice.size:
            factor, variable = divmod(int(pairs[twice[0]]), self._count)
            label = self.build().label(variable)
            raise ValueError(f"factor {factor} names variable {label} twice")


def unknown(what: str, name: str, known: Iterable[str]) -> str:
    """Say that a name is unknown, and which one may have been meant."""
    names = list(known)
    close = difflib.get_close_matches(name, names, 1)
    hint = f"did you mean {close[0]!r}?" if close else f"known: {', '.join(names[:10]) or 'none'}"
    return f"there is no {what} {name!r}; {hint}"
