"""A batch of graphs with its evidence as a network of small tables."""

from collections.abc import Sequence

from mam.factors import Factors
from mam.factors.network import Network, NetworkBuilder
from mam.graph import GraphUnion, Scores

# Entries that the tables of one group of factors may have: 256 MB in double precision.
_MOST_WRITTEN = 1 << 25


def write_network(
    union: GraphUnion, scores: Sequence[Scores]
) -> tuple[Network, tuple[Factors, ...]]:
    """Return the network, and the factors that are too large to be written."""
    builder = NetworkBuilder(union.states)
    for some in scores:
        builder.add(some.variables[:, None], some.values)
    unwritten = []
    for group in union.sets:
        if group.factors.entries(union.states) > _MOST_WRITTEN:
            unwritten.append(group.factors)
        else:
            group.factors.encode(union.states, builder)
    return builder.build(), tuple(unwritten)
