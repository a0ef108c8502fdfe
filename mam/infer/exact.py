"""Exact answers for small models: every configuration that is not impossible.

Factors are joined one after another like tables of a database, those that share most with what is
joined already first, so models with hard constraints stay small although they have many variables.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mam.core.memory import TooLarge
from mam.factors import Listing
from mam.factors.numeric_limits import check_magnitude, magnitudes
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence, group_scores

# A listing with more numbers than this is refused: 256 MB.
_MOST_LISTED = 1 << 25


@dataclass(frozen=True)
class Exact:
    """All possible configurations of a graph with their scores."""

    graph: FactorGraph
    values: np.ndarray  # (configurations, variables)
    scores: np.ndarray

    @property
    def score(self) -> float:
        """The score of the best configuration."""
        return float(self.scores.max(initial=-np.inf))

    @property
    def best(self) -> np.ndarray:
        """The best configurations, one a row: several if they tie."""
        return self.values[self.scores >= self.score - 1e-9]

    @property
    def log_partition(self) -> float:
        """The logarithm of the sum of exp(score)."""
        return float(np.logaddexp.reduce(self.scores)) if len(self.scores) else -np.inf

    def marginal(self, variables: Sequence[int]) -> np.ndarray:
        """Return the joint probabilities of some variables, one axis each."""
        shape = tuple(int(self.graph.states[v]) for v in variables)
        weight = np.exp(self.scores - self.log_partition)
        table = np.zeros(shape)
        np.add.at(table, tuple(self.values[:, v] for v in variables), weight)
        return table

    def given(self, known: dict[int, int]) -> "Exact":
        """Return the configurations with some variables at given states."""
        keep = np.all([self.values[:, v] == s for v, s in known.items()], axis=0)
        rows = np.broadcast_to(keep, len(self.scores))
        return Exact(self.graph, self.values[rows], self.scores[rows])


def enumerate_exactly(
    graph: FactorGraph, evidence: Evidence | None = None, limit: int = 1_000_000
) -> Exact:
    """List every possible configuration; refuse models with more than ``limit`` partial ones.

    >>> from mam.factors import Table
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> cases = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    >>> builder.add("one of three", Table.of([x], np.zeros(3), configurations=cases))
    >>> float(np.exp(enumerate_exactly(builder.build()).log_partition).round(6))
    3.0
    """
    unary = unary_scores(graph, evidence or {})
    waiting = [_without_impossible(listing, unary) for _, _, listing in listings(graph)]
    bound: list[int] = []
    values, scores = np.zeros((1, 0), np.int64), np.zeros(1)
    while waiting:
        known = set(bound)
        cheapest = min(range(len(waiting)), key=lambda i: _growth(waiting[i], known))
        listing = waiting.pop(cheapest)
        values, scores = _join(bound, values, scores, listing, limit)
        bound += [int(v) for v in listing.variables if v not in known]
    for variable in sorted(set(range(len(graph.states))) - set(bound)):
        states = np.arange(graph.states[variable])
        alone = Listing(np.array([variable]), states[:, None], np.zeros(len(states)))
        values, scores = _join(bound, values, scores, _without_impossible(alone, unary), limit)
        bound.append(variable)
    ordered = values[:, np.argsort(bound)] if bound else values
    for variable, own in enumerate(unary):
        scores = scores + own[ordered[:, variable]]
    return Exact(graph, ordered, scores)


def listings(graph: FactorGraph) -> Iterator[tuple[str, int, Listing]]:
    """List every factor with its group's name and its place; refuse at once if one is too large."""
    for name, factors in graph.factors:
        sizes = magnitudes(factors.potentials)
        check_magnitude(sizes, np.float64, f"factor group {name!r} has a log potential")
        cases = factors.cases(graph.states)
        wrong = np.flatnonzero(cases * factors.arities() > _MOST_LISTED)
        if wrong.size:
            raise TooLarge(
                f"factor {name}[{wrong[0]}] has {cases[wrong[0]]:.3g} configurations: "
                "too many to list"
            )
    for name, factors in graph.factors:
        for i in range(len(factors)):
            yield name, i, factors.table(i, graph.states)


def unary_scores(graph: FactorGraph, evidence: Evidence) -> list[np.ndarray]:
    """Return the evidence as one array of scores per state for each variable."""
    unary = [np.zeros(n) for n in graph.states]
    for name, values in evidence.items():
        group = graph.group(name)
        for variable, scores in zip(group.ids.ravel(), group_scores(group, values), strict=True):
            unary[int(variable)] = scores
    return unary


def _without_impossible(listing: Listing, unary: list[np.ndarray]) -> Listing:
    possible = np.ones(len(listing.potentials), bool)
    for i, variable in enumerate(listing.variables):
        possible &= np.isfinite(unary[int(variable)][listing.configurations[:, i]])
    return Listing(
        listing.variables, listing.configurations[possible], listing.potentials[possible]
    )


def _growth(listing: Listing, known: set[int]) -> tuple[float, int]:
    """Rough factor by which joining a factor multiplies the configurations."""
    fresh = sum(int(v) not in known for v in listing.variables)
    share = fresh / max(1, len(listing.variables))
    return share * np.log(max(1, len(listing.potentials))), fresh


def _join(
    bound: list[int], values: np.ndarray, scores: np.ndarray, listing: Listing, limit: int
) -> tuple[np.ndarray, np.ndarray]:
    shared = [(bound.index(int(v)), i) for i, v in enumerate(listing.variables) if v in bound]
    fresh = [i for i, v in enumerate(listing.variables) if v not in bound]
    both = np.concatenate(
        [values[:, [a for a, _ in shared]], listing.configurations[:, [b for _, b in shared]]]
    )
    key = np.unique(both, axis=0, return_inverse=True)[1].ravel() if shared else np.zeros(len(both))
    left, right = key[: len(values)], key[len(values) :]
    order = np.argsort(right, kind="stable")
    first = np.searchsorted(right[order], left, "left")
    count = np.searchsorted(right[order], left, "right") - first
    if count.sum() > limit:
        raise TooLarge(f"more than {limit} configurations: too many to enumerate")
    row = np.repeat(np.arange(len(values)), count)
    within = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    match = order[first[row] + within] if len(row) else np.zeros(0, np.int64)
    joined = np.concatenate([values[row], listing.configurations[match][:, fresh]], 1)
    return joined, scores[row] + listing.potentials[match]
