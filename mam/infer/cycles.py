r"""Frustrated cycles of pairwise tables: where the linear program is loose, and by how much.

For the pair tables :math:`b` that the dual leaves, a cycle C promises

.. math::
    \sum_{e \in C} \max b_e - \max_x \sum_{e \in C} b_e(x_e) \ge 0:

so much lower the bound gets if the cycle is solved as one (Sontag, Choe and Li 2012). Candidates
are found in a signed graph. A node is a state of a variable, an edge says whether two nodes are
better both taken or both left (+), or one of them (-); a cycle with an odd number of minus signs
cannot please all of its edges.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

Pair = tuple[int, int]  # of variables, the smaller number first
Cycle = tuple[int, ...]  # of variables; the last is joined with the first

# Nodes of the signed graph, at most: shortest paths are tables of twice as many rows and columns.
MOST_NODES = 2000
# Signs that matter this little, compared with the strongest one, are tried last.
_SHARES = (0.5, 0.1, 0.001)
_LONGEST = 12


@dataclass(frozen=True)
class _Signed:
    """The signed graph, every node twice: v and v + count are a node and its opposite."""

    variable: np.ndarray  # of each node
    ends: np.ndarray  # (edges, 2) nodes
    weight: np.ndarray  # (edges,), the sign is that of the edge

    @property
    def count(self) -> int:
        return len(self.variable)


def frustrated_cycles(
    tables: Mapping[Pair, np.ndarray], states: np.ndarray
) -> list[tuple[float, Cycle]]:
    """Return cycles with what the bound falls by when they are solved, the best first."""
    signed = _signed(tables, states)
    found: dict[frozenset[int], tuple[float, Cycle]] = {}
    if not len(signed.weight):
        return []
    strongest = np.abs(signed.weight).max()
    for share in _SHARES:
        for cycle in _candidates(signed, max(share * strongest, 1e-6)):
            if frozenset(cycle) not in found:
                found[frozenset(cycle)] = promise(tables, cycle), cycle
    return sorted((one for one in found.values() if one[0] > 1e-6), key=lambda one: (-one[0], one))


def nodes_of(pairs: Iterable[Pair], states: np.ndarray) -> int:
    """The number of nodes that the signed graph of some pairs has: one for a binary variable."""
    used = states[list({variable for pair in pairs for variable in pair})]
    return int(np.where(used > 2, used, 1).sum())


def promise(tables: Mapping[Pair, np.ndarray], cycle: Cycle) -> float:
    """Return the sum of the maxima around a cycle less the maximum of the sum.

    >>> differ = np.array([[0.0, 1.0], [1.0, 0.0]])
    >>> promise({(0, 1): differ, (1, 2): differ, (0, 2): differ}, (0, 1, 2))
    1.0
    """
    around = [
        tables[u, v] if u < v else tables[v, u].T
        for u, v in zip(cycle, cycle[1:] + cycle[:1], strict=True)
    ]
    best = around[0]
    for table in around[1:-1]:
        best = (best[:, :, None] + table[None]).max(1)
    together = (best + around[-1].T).max()
    return float(sum(table.max() for table in around) - together)


def _signed(tables: Mapping[Pair, np.ndarray], states: np.ndarray) -> _Signed:
    used = np.unique(np.array(list(tables), np.int64).reshape(-1, 2))
    nodes = [(int(v), s) for v in used for s in (range(states[v]) if states[v] > 2 else (1,))]
    number = {node: i for i, node in enumerate(nodes)}
    ends, weight = [], []
    for (u, v), table in tables.items():
        for s in range(states[u]):
            for t in range(states[v]):
                if (u, s) in number and (v, t) in number:
                    same = (np.arange(states[u]) == s)[:, None] == (np.arange(states[v]) == t)
                    ends.append((number[u, s], number[v, t]))
                    weight.append(table[same].max() - table[~same].max())
    variable = np.array([v for v, _ in nodes], np.int64)
    return _Signed(variable, np.array(ends, np.int64).reshape(-1, 2), np.array(weight, np.float64))


def _candidates(signed: _Signed, threshold: float) -> list[Cycle]:
    """Return the shortest frustrated cycle through every edge, by edges above a threshold."""
    strong = np.abs(signed.weight) >= threshold
    (u, v), count = signed.ends[strong].T, signed.count
    minus = signed.weight[strong] < 0
    row, column = np.concatenate([u, u + count]), np.concatenate([v + count * minus, v])
    column[len(u) :] += count * ~minus
    matrix = coo_array((np.ones(len(row)), (row, column)), (2 * count, 2 * count))
    _, last = shortest_path(matrix, directed=False, unweighted=True, return_predecessors=True)
    cycles = []
    for one, other, negative in zip(u.tolist(), v.tolist(), minus.tolist(), strict=True):
        path, here = [], other + count * (not negative)
        while here >= 0 and len(path) <= _LONGEST:
            path.append(int(signed.variable[here % count]))
            here = int(last[one, here])
        # A cycle may pass no variable twice, in another of its states either.
        if here < 0 and 3 <= len(path) == len(set(path)) and path[-1] == signed.variable[one]:
            cycles.append(tuple(path))
    return cycles
