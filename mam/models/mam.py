"""Markov Attention Models: a factor graph, and which of its variables pay attention to which.

State 0 of an attention variable is OFF, every other state is ON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mam.factors import Factors, Table
from mam.graph import FactorGraph, GraphBuilder
from mam.models.independence import independent
from mam.models.rules import Attention, check_rules


@dataclass(frozen=True)
class MarkovAttentionModel:
    """A factor graph whose attention variables join pairs of regular variables."""

    graph: FactorGraph
    attention: Attention

    def __post_init__(self) -> None:
        check_rules(self.graph, self.attention)

    def independent(
        self,
        x: str | int,
        y: str | int,
        given: Mapping[str, int] | None = None,
        *,
        others: str = "known",
        method: str = "auto",
    ) -> bool:
        """Whether x and y are independent in the context ``given``; see ``independent``."""
        flags = self.attention.flags(len(self.graph.states))
        return independent(
            self.graph, x, y, given or {}, hidden=flags, others=others, method=method
        )

    def draw(self, axes: Any = None, values: Any = None) -> Any:
        """Draw the factor graph with matplotlib and return the axes.

        ``values`` are states to show, such as ``solution.values``: what is OFF is drawn pale.
        """
        from mam.models.draw import draw_factor_graph

        flags = self.attention.flags(len(self.graph.states))
        return draw_factor_graph(self.graph, flags, axes, values)


class MamBuilder:
    """Write a Markov Attention Model down by names.

    >>> builder = MamBuilder()
    >>> builder.regular("A")
    >>> builder.regular("B")
    >>> builder.attention("AB", between=("A", "B"))
    >>> builder.table("A attends", ("A", "AB"), configurations=[[0, 0], [1, 1]])
    >>> builder.table("B follows", ("AB", "B"), [[0, 0], [-3, 0]])
    >>> model = builder.build()
    >>> model.independent("A", "B")
    False
    """

    def __init__(self) -> None:
        self._graph = GraphBuilder()
        self._attention: list[tuple[int, int, int]] = []
        self._context: list[tuple[int, int]] = []

    def regular(self, name: str, states: int = 2) -> None:
        """Add a regular variable."""
        self._graph.variables(name, (), states)

    def attention(
        self, name: str, between: tuple[str, str], *, context: Sequence[str] = (), states: int = 2
    ) -> None:
        """Add an attention variable that joins two regular ones; state 0 is OFF, the rest ON."""
        first, second = (int(self._graph[end]) for end in between)
        if first == second:
            raise ValueError(f"attention variable {name!r} joins {between[0]!r} to itself")
        others = [int(self._graph[other]) for other in context]
        number = int(self._graph.variables(name, (), states))
        self._attention.append((number, first, second))
        self._context += [(number, other) for other in others]

    def table(
        self,
        name: str,
        variables: Sequence[str],
        log_potentials: object = None,
        *,
        configurations: object = None,
    ) -> None:
        """Add a factor: a tensor of log potentials, or a list of configurations with them."""
        ids = [int(self._graph[variable]) for variable in variables]
        if log_potentials is None:
            if configurations is None:
                raise ValueError(f"factor {name!r} has neither potentials nor configurations")
            log_potentials = np.zeros(len(np.asarray(configurations)))
        listed: Any = configurations
        self.factor(name, Table.of([ids], log_potentials, configurations=listed))

    def factor(self, name: str, factors: Factors) -> None:
        """Add factors of any kind over variables by their numbers."""
        self._graph.add(name, factors)

    def ids(self, name: str) -> int:
        """Return the number of a variable."""
        return int(self._graph[name])

    def build(self) -> MarkovAttentionModel:
        """Check the three rules and return the model."""
        rows = np.array(self._attention, np.int64).reshape(-1, 3)
        context = np.array(self._context, np.int64).reshape(-1, 2)
        return MarkovAttentionModel(
            self._graph.build(), Attention(rows[:, 0], rows[:, 1:], context)
        )
