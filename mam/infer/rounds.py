"""In which order variables leave when a model is solved by elimination: many of them at a time.

Variables of which no two share a table can leave together. Each round takes out those whose tables
are the smallest around, so a tree loses its leaves and every other variable of its long branches:
a chain of n variables is gone after about log n rounds. All components of all graphs of a batch
leave at the same time. Nothing here looks at a potential.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mam.factors import Ragged
from mam.infer.twins import GOLDEN, mixed

# Bits of a table that costs nothing: up to here the inside of a chain need not wait for its ends.
_CHEAP = 8.0
# So few pairs of neighbours are no reason to give up.
_FEW_PAIRS = 1 << 13
NEVER = np.iinfo(np.int64).max  # the round of a variable that stays


@dataclass(frozen=True)
class Round:
    """Variables that leave together, and the neighbours that each of them joins."""

    variables: np.ndarray
    neighbours: Ragged  # in rising order


@dataclass(frozen=True)
class Rounds:
    """A whole order; variables in tables that would grow too large stay."""

    rounds: tuple[Round, ...]
    left: np.ndarray  # (variables,): the round in which each leaves; past the last: it stays
    entries: np.ndarray  # (variables,): of the table in which it leaves; inf if it stays


def plan_rounds(
    states: np.ndarray,
    scopes: Sequence[np.ndarray],
    component: np.ndarray,
    place: np.ndarray,
    largest: np.ndarray,
    growth: float = 1e9,
) -> Rounds:
    """Choose an order for the variables of all components, -1 being none.

    No table of a component gets more than its ``largest`` number of entries, and its neighbours
    must not become ``growth`` times as many as at first. The order in it depends on nothing
    outside: ``place`` numbers its variables.

    >>> chain, one = np.stack([np.arange(99), np.arange(1, 100)], 1), np.zeros(100, int)
    >>> plan = plan_rounds(np.full(100, 2), [chain], one, np.arange(100), np.array([8.0]))
    >>> int(plan.left.max()) < 15
    True
    """
    size, most = np.log2(states.astype(float)), np.append(np.log2(largest) + 1e-9, 0.0)
    alive = component >= 0
    graph = _Neighbours.of(scopes, len(states), alive)
    tier = np.full(len(largest), _CHEAP)
    left = np.full(len(states), NEVER)
    entries = np.full(len(states), np.inf)
    rounds: list[Round] = []
    most_pairs = _FEW_PAIRS + growth * graph.pairs(component, len(largest))
    while alive.any():
        cost = size + graph.sums(size)
        lowest = np.full(len(tier), np.inf)
        np.minimum.at(lowest, component[alive], cost[alive])
        tier = np.maximum(tier, lowest)
        alive &= np.append(lowest, 0.0)[component] <= most[component]
        ready = alive & (cost <= np.minimum(np.append(tier, 0.0) + 1e-9, most)[component])
        chosen = graph.least(np.lexsort((_shuffled(place), cost)), ready)
        if not len(chosen):
            break
        near = graph.lists(chosen)
        left[chosen], entries[chosen] = len(rounds), 2.0 ** cost[chosen]
        rounds.append(Round(chosen, near))
        alive[chosen] = False
        graph = graph.without(chosen, near)
        grown = graph.pairs(component, len(largest)) > most_pairs
        if grown.any():
            alive &= ~np.append(grown, False)[component]
            graph = graph.among(alive)
    return Rounds(tuple(rounds), left, entries)


def _shuffled(numbers: np.ndarray) -> np.ndarray:
    """A fixed shuffle, to break ties: by number, a chain would leave from one end only."""
    return mixed(numbers.astype(np.uint64) * GOLDEN)


@dataclass(frozen=True)
class _Neighbours:
    """Who shares a table with whom, as sorted pairs in both directions."""

    first: np.ndarray
    second: np.ndarray
    count: int

    @classmethod
    def of(cls, scopes: Sequence[np.ndarray], count: int, wanted: np.ndarray) -> "_Neighbours":
        pairs = [_all_pairs(scope) for scope in scopes]
        keys = np.concatenate([np.zeros((0, 2), np.int64), *pairs])
        keys = keys[wanted[keys].all(1)]
        return cls._sorted(keys[:, 0] * count + keys[:, 1], count)

    @classmethod
    def _sorted(cls, keys: np.ndarray, count: int) -> "_Neighbours":
        both = np.unique(keys)
        return cls(both // max(count, 1), both % max(count, 1), count)

    def sums(self, values: np.ndarray) -> np.ndarray:
        """The sum over the neighbours of each variable."""
        return np.bincount(self.first, values[self.second], minlength=self.count)

    def pairs(self, component: np.ndarray, components: int) -> np.ndarray:
        """How many pairs each component has."""
        return np.bincount(component[self.first], minlength=components)

    def among(self, wanted: np.ndarray) -> "_Neighbours":
        """Only pairs of wanted variables."""
        kept = wanted[self.first]
        return self if kept.all() else _Neighbours(self.first[kept], self.second[kept], self.count)

    def least(self, order: np.ndarray, candidate: np.ndarray) -> np.ndarray:
        """The candidates that come before all their neighbours that are candidates too."""
        rank = np.empty(self.count, np.int64)
        rank[order] = np.arange(self.count)
        rank[~candidate] = self.count
        beaten = np.zeros(self.count, bool)
        beaten[self.first[rank[self.second] < rank[self.first]]] = True
        return np.flatnonzero(candidate & ~beaten)

    def lists(self, which: np.ndarray) -> Ragged:
        """The neighbours of some variables."""
        offsets = np.searchsorted(self.first, np.arange(self.count + 1))
        return Ragged(self.second, offsets).take(which)

    def without(self, gone: np.ndarray, near: Ragged) -> "_Neighbours":
        """Take variables out and join the neighbours of each with one another."""
        stays = np.ones(self.count, bool)
        stays[gone] = False
        kept = stays[self.first] & stays[self.second]
        keys = [self.first[kept] * self.count + self.second[kept]]
        for width in np.unique(near.lengths[near.lengths > 1]):
            rows = np.flatnonzero(near.lengths == width)
            pairs = _all_pairs(near.rectangle(rows, int(width)))
            keys.append(pairs[:, 0] * self.count + pairs[:, 1])
        return self._sorted(np.concatenate(keys), self.count)


def _all_pairs(scopes: np.ndarray) -> np.ndarray:
    """Every ordered pair of different places of each row."""
    places = [(a, b) for a in range(scopes.shape[1]) for b in range(scopes.shape[1]) if a != b]
    if not places:
        return np.zeros((0, 2), np.int64)
    return np.concatenate([scopes[:, pair] for pair in places])
