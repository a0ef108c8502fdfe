"""What hangs together, and whether it is a tree or tangled.

Variables and factors are nodes, and an edge joins a factor to each of its variables. A component
with n nodes and m edges has m - n + 1 independent cycles.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.graph import GraphUnion, Scores

# What is large, and how many cycles to each of its variables or edges are many.
_MANY_VARIABLES = 2000
_MANY_EDGES = 1 << 13
_MANY_CYCLES = 0.1

Tally = TypeVar("Tally", int, np.ndarray)


@dataclass(frozen=True)
class FactorComponents:
    """The components of factor graphs."""

    component: np.ndarray  # of each variable; -1 where it is not free
    variables: np.ndarray  # of each component: how many
    factors: np.ndarray
    edges: np.ndarray

    @property
    def cycles(self) -> np.ndarray:
        """How many independent cycles each component has; a tree has none."""
        return cycles(self.variables + self.factors, self.edges)

    @property
    def wide(self) -> np.ndarray:
        """Which components an elimination is planned for in vain, mostly, and for long."""
        many = self.cycles > _MANY_CYCLES * self.variables
        return (self.variables > _MANY_VARIABLES) & many

    @property
    def tangled(self) -> np.ndarray:
        """Which components messages alone are quicker for than any look at them.

        Stricter than ``wide``: with fewer cycles branch and bound may still prove the answer.
        """
        return (self.edges >= _MANY_EDGES) & (self.cycles >= _MANY_CYCLES * self.edges)


def number_components(free: np.ndarray, pairs: Sequence[np.ndarray]) -> np.ndarray:
    """The component of each free node, numbered from 0; -1 for the others.

    >>> free = np.array([True, True, False, True])
    >>> number_components(free, [np.array([[0, 2], [3, 1]])]).tolist()
    [0, 1, -1, 1]
    """
    joined = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
    joined = joined[free[joined].all(1)]
    size = len(free)
    matrix = coo_array((np.ones(len(joined), bool), tuple(joined.T)), (size, size))
    label = connected_components(matrix, directed=False)[1] if size else np.zeros(0, np.int64)
    used = np.zeros(size, bool)
    used[label[free]] = True
    found = np.full(size, -1)
    found[free] = (np.cumsum(used) - 1)[label[free]]
    return found


def cycles(nodes: Tally, edges: Tally) -> Tally:
    """How many independent cycles connected graphs have."""
    return 1 + edges - nodes


def factor_components(union: GraphUnion, free: np.ndarray | None = None) -> FactorComponents:
    """The components of the graphs of a union, cut at the variables that are not free."""
    variables, pairs, first = len(union.states), [], len(union.states)
    for group in union.sets:
        scopes = group.factors.scopes()
        pairs.append(np.stack([scopes.values, first + scopes.row_of_value], 1))
        first += len(scopes)
    kept = np.ones(first, bool)
    if free is not None:
        kept[:variables] = free
    component = number_components(kept, pairs)
    count = int(component.max(initial=-1)) + 1
    ends = [component[some[kept[some[:, 0]], 1]] for some in pairs]
    edges = np.bincount(np.concatenate([np.zeros(0, np.int64), *ends]), minlength=count)
    own, factors = component[:variables], component[variables:]
    return FactorComponents(
        own,
        np.bincount(own[own >= 0], minlength=count),
        np.bincount(factors, minlength=count),
        edges,
    )


def forests(union: GraphUnion) -> np.ndarray:
    """Which graphs of a union have no cycle."""
    found = factor_components(union)
    cyclic = found.cycles[found.component] > 0
    return np.bincount(union.instance[cyclic], minlength=len(union.graphs)) == 0


def all_tangled(union: GraphUnion, scores: Sequence[Scores]) -> bool:
    """Whether all that evidence leaves undecided is in large components with many cycles."""
    free = np.ones(len(union.states), bool)
    for some in scores:
        free[some.variables[np.isneginf(some.values).any(1) & (some.values.shape[1] == 2)]] = False
    found = factor_components(union, free)
    undecided = found.component[free]
    return bool(len(undecided)) and bool(found.tangled[undecided].all())
