"""What evidence and hard tables decide: states that cannot occur, and variables with one left.

A state is possible only if every table of its variable has a possible configuration with it (arc
consistency). Variables with one possible state are read off, and the tables that mention them lose
an axis: they no longer join their neighbours.
"""

from dataclasses import dataclass

import numpy as np

from mam.factors.network import Network, Tables
from mam.factors.ragged import distinct_rows
from mam.graph import FactorGraph, GraphUnion, union_scores
from mam.graph.evidence import Evidence
from mam.infer.network_of_tables import write_network

# Every pass over the tables can only take states away; few models need more than a handful.
_MOST_PASSES = 50


@dataclass(frozen=True)
class Conditioned:
    """A network in which every variable that is left has a choice."""

    states: np.ndarray  # the number of states of each variable, as before
    fixed: np.ndarray  # the only possible state of each variable, -1 where there is a choice
    tables: tuple[Tables, ...]  # over free variables, at least one each
    constants: tuple[tuple[np.ndarray, np.ndarray], ...]  # a variable of a table, and its score
    impossible: np.ndarray  # variables of which no state is possible


def condition(network: Network) -> Conditioned:
    """Cut the network at what is certain."""
    tables, domains = network.tables, _narrowed(network)
    fixed = domains.fixed()
    cut = [piece for some in tables for piece in _cut(some, fixed)]
    return Conditioned(
        network.states,
        fixed,
        tuple(piece for piece, _ in cut if piece.scopes.shape[1]),
        tuple(
            (owner, np.broadcast_to(piece.values, (len(piece),)))
            for piece, owner in cut
            if not piece.scopes.shape[1]
        ),
        domains.empty(),
    )


def possible_states(graph: FactorGraph, evidence: Evidence | None = None) -> list[np.ndarray]:
    """Return for each variable which of its states may still occur.

    What is found impossible is so; some impossibilities that only show in combination are missed.

    >>> from mam.factors import And
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("and", And.of([x[:2]], x[2:]))
    >>> states = possible_states(builder.build(), {"x": [0, 0, np.inf]})
    >>> [s.tolist() for s in states]
    [[False, True], [False, True], [False, True]]
    """
    union = GraphUnion.of(graph)
    domains = _narrowed(write_network(union, union_scores(union, evidence))[0])
    ends = domains.start + domains.states
    own = zip(domains.start, ends, strict=True)
    return [domains.possible[a:b] for a, b in list(own)[: len(graph.states)]]


def _narrowed(network: Network) -> "_Domains":
    """Take states away until every one that is left is supported by all tables."""
    domains = _Domains(network.states)
    if any(np.isneginf(some.values).any() for some in network.tables):
        for _ in range(_MOST_PASSES):
            before = domains.possible.sum()
            for some in network.tables:
                domains.narrow(some)
            if domains.possible.sum() == before:
                break
    return domains


class _Domains:
    """The possible states of all variables, one after another."""

    def __init__(self, states: np.ndarray) -> None:
        self.start = np.cumsum(states) - states
        self.states = states
        self.possible = np.ones(int(states.sum()), bool)

    def narrow(self, tables: Tables) -> None:
        """Take away the states that no configuration of some table supports."""
        arity = tables.scopes.shape[1]
        open_ = np.isfinite(tables.values)
        if open_.all() and arity == 1:
            return
        places = [
            self.start[tables.scopes[:, i], None] + np.arange(n) for i, n in enumerate(tables.shape)
        ]
        for i, place in enumerate(places):
            shape = [1] * arity
            shape[i] = tables.shape[i]
            open_ = open_ & self.possible[place].reshape(-1, *shape)
        for i, place in enumerate(places):
            others = tuple(1 + j for j in range(arity) if j != i)
            self.possible[place[~open_.any(others)]] = False

    def _counts(self) -> np.ndarray:
        return np.add.reduceat(self.possible.astype(np.int64), self.start)

    def empty(self) -> np.ndarray:
        """Variables without a possible state."""
        return np.flatnonzero(self._counts() == 0) if len(self.states) else np.zeros(0, np.int64)

    def fixed(self) -> np.ndarray:
        """The only possible state of each variable, or -1."""
        if not len(self.states):
            return np.zeros(0, np.int64)
        within = np.arange(len(self.possible)) - np.repeat(self.start, self.states)
        total = np.add.reduceat(np.where(self.possible, within, 0), self.start)
        counts = self._counts()
        return np.where(counts == 1, total, np.where(counts == 0, 0, -1))


def _cut(tables: Tables, fixed: np.ndarray) -> list[tuple[Tables, np.ndarray]]:
    """Split tables by which of their variables are fixed, and drop those axes.

    Each piece comes with one variable of each of its tables.
    """
    known = fixed[tables.scopes] >= 0
    if not known.any():
        return [(tables, tables.scopes[:, 0])]
    kinds, which = distinct_rows(known)
    pieces = []
    for kind, axes in enumerate(kinds):
        rows = np.flatnonzero(which == kind)
        scopes, values = tables.scopes[rows], tables.rows(rows)
        if axes.any():
            values = np.broadcast_to(values, (len(rows), *tables.shape))
            index = tuple(
                fixed[scopes[:, i]] if certain else slice(None) for i, certain in enumerate(axes)
            )
            # The advanced indices, one of them the row, bring the row to the front.
            values = values[(np.arange(len(rows)), *index)]
        pieces.append((Tables(scopes[:, ~axes], values), scopes[:, 0]))
    return pieces
