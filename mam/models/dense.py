"""Graphs in the plain terms of other programs: full tables."""

from collections.abc import Iterator

import numpy as np

from mam.factors import Factors, Pairwise
from mam.graph import FactorGraph

# A full table with more entries than this is refused: written down it takes over 50 MB.
_MOST_ENTRIES = 1 << 22


def check_sizes(graph: FactorGraph, name: str, factors: Factors) -> None:
    """Refuse to list factors with too many joint states."""
    scopes = factors.scopes()
    entries = np.ones(len(scopes))
    with np.errstate(over="ignore"):
        np.multiply.at(entries, scopes.row_of_value, graph.states[scopes.values].astype(float))
    wrong = np.flatnonzero(entries > _MOST_ENTRIES)
    if wrong.size:
        raise ValueError(
            f"factor {name}[{wrong[0]}] has {entries[wrong[0]]:.3g} joint states, too many to "
            f"list (at most {_MOST_ENTRIES}); to_toulbar2 needs no list"
        )


def full_tables(
    graph: FactorGraph, name: str, factors: Factors
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield variables and log potentials of each factor, one axis a variable, -inf if forbidden."""
    check_sizes(graph, name, factors)
    for i in range(len(factors)):
        if isinstance(factors, Pairwise):
            yield factors.variables[i], factors.potentials[factors.row[i]].reshape(factors.shape)
            continue
        listing = factors.table(i, graph.states)
        table = np.full(tuple(graph.states[listing.variables]), -np.inf)
        table[tuple(listing.configurations.T)] = listing.potentials
        yield listing.variables, table
