"""Markov Attention Models: a factor graph, and which of its variables pay attention to which.

State 0 of an attention variable is OFF, every other state is ON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.core.words import counted
from mam.factors import Factors, Table
from mam.factors.ragged import as_ids
from mam.graph import FactorGraph, GraphBuilder
from mam.models.independence import independent
from mam.models.rules import AttentionVariables, check_rules

Variables = str | int | np.ndarray | Sequence[int]  # by name, or by number


@dataclass(frozen=True)
class MarkovAttentionModel:
    """A factor graph whose attention variables join pairs of regular variables."""

    graph: FactorGraph
    attention: AttentionVariables

    def __post_init__(self) -> None:
        check_rules(self.graph, self.attention)

    def __repr__(self) -> str:
        joins = counted(len(self.attention.variables), "attention variable")
        return f"<MarkovAttentionModel: {joins}, {self.graph!r}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of the graph."""
        return self.graph._repr_html_()

    def independent(
        self,
        x: str | int,
        y: str | int,
        given: Mapping[str, int] | None = None,
        *,
        others: str = "known",
        marginal: Sequence[str | int] = (),
        method: str = "auto",
    ) -> bool:
        """Whether x and y are independent in the context ``given``; see ``independent``.

        Attention variables are summed out, and those that ``marginal`` names.
        """
        flags = self.attention.flags(len(self.graph.states))
        how = {"others": others, "marginal": marginal, "method": method}
        return independent(self.graph, x, y, given or {}, hidden=flags, **how)

    def draw(self, axes: Any = None, values: Any = None) -> Any:
        """Draw the factor graph with matplotlib and return the axes.

        ``values`` are states to show, such as ``solution.values``: what is OFF is drawn pale.
        """
        from mam.show.factor_graph import draw_factor_graph

        flags = self.attention.flags(len(self.graph.states))
        return draw_factor_graph(self.graph, flags, axes, values)


class MamBuilder:
    """Write a Markov Attention Model down by names.

    >>> builder = MamBuilder()
    >>> _ = builder.regular("A")
    >>> _ = builder.regular("B")
    >>> _ = builder.attention("AB", between=("A", "B"))
    >>> builder.table("A attends", ("A", "AB"), configurations=[[0, 0], [1, 1]])
    >>> builder.table("B follows", ("AB", "B"), [[0, 0], [-3, 0]])
    >>> model = builder.build()
    >>> model.independent("A", "B")
    False

    Variables also come in arrays. Wherever a name may stand, so may an array of their numbers: one
    attention variable, or one table, is made for each entry.

    >>> builder = MamBuilder()
    >>> x = builder.regular("x", shape=100)
    >>> a = builder.attention("a", between=(x[:-1], x[1:]))
    >>> builder.table("left", (x[:-1], a), configurations=[[0, 0], [1, 1]])
    >>> builder.table("right", (a, x[1:]), [[0, 0], [-3, 0]])
    >>> builder.build().graph.edges
    396
    """

    def __init__(self) -> None:
        self._graph = GraphBuilder()
        self._attention: list[np.ndarray] = [np.zeros((0, 3), np.int64)]
        self._context: list[np.ndarray] = [np.zeros((0, 2), np.int64)]

    def regular(
        self, name: str, states: int = 2, *, shape: int | tuple[int, ...] = ()
    ) -> np.ndarray:
        """Add a regular variable, or an array of them; return their numbers."""
        return self._graph.variables(name, shape, states)

    def attention(
        self,
        name: str,
        between: tuple[Variables, Variables],
        *,
        context: Sequence[Variables] = (),
        states: int = 2,
    ) -> np.ndarray:
        """Add attention variables that join two regular ones; state 0 is OFF, the rest ON.

        There is one for each pair of ends. Return their numbers.
        """
        ends = self._together(f"attention variable {name!r}", between)
        same = np.argwhere(ends[0] == ends[1])
        if len(same):
            end = self._graph.build().label(int(ends[0][tuple(same[0])]))
            raise ValueError(f"attention variable {name!r} joins {end!r} to itself")
        others = [np.broadcast_to(self._numbers(other), ends[0].shape) for other in context]
        own = self._graph.variables(name, ends[0].shape, states)
        self._attention.append(np.stack([own, *ends], -1).reshape(-1, 3))
        self._context += [np.stack([own, other], -1).reshape(-1, 2) for other in others]
        return own

    def table(
        self,
        name: str,
        variables: Sequence[Variables],
        log_potentials: object = None,
        *,
        configurations: object = None,
    ) -> None:
        """Add a factor: a tensor of log potentials, or a list of configurations with them."""
        ids = self._together(f"factor {name!r}", variables)
        if log_potentials is None:
            if configurations is None:
                raise ValueError(f"factor {name!r} has neither potentials nor configurations")
            log_potentials = np.zeros(len(np.asarray(configurations)))
        listed: Any = configurations
        scopes = np.stack(ids, -1).reshape(-1, len(ids)) if ids else []
        self.factor(name, Table.of(scopes, log_potentials, configurations=listed))

    def factor(self, name: str, factors: Factors) -> None:
        """Add factors of any kind over variables by their numbers."""
        self._graph.add(name, factors)

    def ids(self, name: str) -> "int | np.ndarray":
        """Return the number of a variable, or the numbers of an array of them."""
        numbers = self._graph[name]
        return numbers if numbers.ndim else int(numbers)

    def build(self) -> MarkovAttentionModel:
        """Check the three rules and return the model."""
        rows, context = np.concatenate(self._attention), np.concatenate(self._context)
        return MarkovAttentionModel(
            self._graph.build(), AttentionVariables(rows[:, 0], rows[:, 1:], context)
        )

    def _numbers(self, variables: Variables) -> np.ndarray:
        return self._graph[variables] if isinstance(variables, str) else as_ids(variables)

    def _together(self, what: str, variables: Sequence[Variables]) -> list[np.ndarray]:
        """Return the numbers of several arrays of variables, brought to one shape."""
        numbers = [self._numbers(each) for each in variables]
        try:
            return [np.asarray(array) for array in np.broadcast_arrays(*numbers)]
        except ValueError:
            shapes = ", ".join(str(array.shape) for array in numbers)
            raise ValueError(f"{what} joins arrays of different shapes: {shapes}") from None
