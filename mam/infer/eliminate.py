r"""Exact answers by variable elimination, for models of small induced width.

One variable after another leaves: the tables that mention it are added up to one table, in which it
is maximised (or summed) out,

.. math:: m_v(x_N) = \max_{x_v} \Big( e_v(x_v) + \sum_{t \ni v} t(x_v, x_N) \Big),

with N the other variables of those tables, its neighbours. States that the evidence forbids are
cut off beforehand, and observed variables with them.
"""

import math
from collections.abc import Callable, Sequence

import numpy as np

from mam.factors import Listing
from mam.graph import FactorGraph
from mam.graph.evidence import Evidence
from mam.infer.exact import listings, unary_scores
from mam.infer.order import LARGEST_TABLE, Elimination, order_of, possible_states
from mam.infer.solution import Solution

_Part = tuple[tuple[int, ...], np.ndarray]  # variables in the order they leave, one axis each
_Reduce = Callable[[int, np.ndarray], np.ndarray]


def eliminate_max(
    graph: FactorGraph, evidence: Evidence | None = None, *, largest: int | float = LARGEST_TABLE
) -> tuple[np.ndarray, float]:
    """Return a best assignment and its score; of several best ones, always the same.

    The score is -inf if no assignment is possible. Raises ``TooLarge``, a ``ValueError``, before
    anything large is allocated.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("differ", Pairwise.of([[0, 1], [1, 2]], [[0, 1], [1, 0]]))
    >>> values, score = eliminate_max(builder.build(), {"x": [0.5, 0, 0]})
    >>> values.tolist(), score
    ([1, 0, 1], 2.5)
    """
    unary = unary_scores(graph, evidence or {})
    possible = possible_states(unary)
    plan = order_of(graph, possible, largest)
    choices: dict[int, np.ndarray] = {}

    def best(variable: int, table: np.ndarray) -> np.ndarray:
        choices[variable] = np.asarray(table.argmax(0), np.min_scalar_type(len(table)))
        return np.asarray(table.max(0))

    score = _run(graph, unary, possible, plan, best)
    values = np.array([states[0] for states in possible], np.int64)
    chosen: dict[int, int] = {}
    for variable, *others in reversed(plan.scopes):
        chosen[variable] = int(choices[variable][tuple(chosen[u] for u in others)])
        values[variable] = possible[variable][chosen[variable]]
    return values, score


def eliminate_sum(
    graph: FactorGraph, evidence: Evidence | None = None, *, largest: int | float = LARGEST_TABLE
) -> float:
    """Return log Z, -inf if no assignment is possible; refuses like ``eliminate_max``.

    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 100)
    >>> round(eliminate_sum(builder.build()) / math.log(2), 6)
    100.0
    """
    unary = unary_scores(graph, evidence or {})
    possible = possible_states(unary)
    plan = order_of(graph, possible, largest)

    def summed(variable: int, table: np.ndarray) -> np.ndarray:
        return np.asarray(np.logaddexp.reduce(table, 0))

    return _run(graph, unary, possible, plan, summed)


def exact_solution(
    graph: FactorGraph, evidence: Evidence | None = None, *, largest: int | float = LARGEST_TABLE
) -> Solution:
    """Return the answer of ``eliminate_max`` as a ``Solution`` whose bound is its score.

    Its margins are not computed, they are NaN.
    """
    values, score = eliminate_max(graph, evidence, largest=largest)
    violated: tuple[str, ...] = ()
    if np.isneginf(score):
        violated = tuple(sorted(_violated(graph, values)))
    return Solution(graph, values, np.full(len(values), np.nan), score, score, True, 0, violated)


def _violated(graph: FactorGraph, values: np.ndarray) -> list[str]:
    return [
        f"{name}[{i}]"
        for name, i, listing in listings(graph)
        if not (listing.configurations == values[listing.variables]).all(1).any()
    ]


def _run(
    graph: FactorGraph,
    unary: Sequence[np.ndarray],
    possible: Sequence[np.ndarray],
    plan: Elimination,
    reduce: _Reduce,
) -> float:
    """Add up the tables of each variable in turn and reduce it out of them."""
    rank = {variable: i for i, variable in enumerate(plan.order)}
    total = math.fsum(s[p[0]] for s, p in zip(unary, possible, strict=True) if len(p) == 1)
    buckets: dict[int, list[_Part]] = {v: [((v,), unary[v][possible[v]])] for v in plan.order}
    for _, _, listing in listings(graph):
        scope, table = _dense(listing, possible, rank)
        if scope:
            buckets[scope[0]].append((scope, table))
        else:
            total += float(table)
    for scope in plan.scopes:
        table = np.zeros([len(possible[v]) for v in scope])
        for own, part in buckets.pop(scope[0]):
            axes = set(own)
            table += part.reshape([len(possible[v]) if v in axes else 1 for v in scope])
        rest = reduce(scope[0], table)
        if scope[1:]:
            buckets[scope[1]].append((scope[1:], rest))
        else:
            total += float(rest)
    return total


def _dense(listing: Listing, possible: Sequence[np.ndarray], rank: dict[int, int]) -> _Part:
    """Return a factor as a table over possible states, its axes in the order they leave."""
    column = {int(v): i for i, v in enumerate(listing.variables)}
    scope = tuple(sorted((v for v in column if v in rank), key=rank.__getitem__))
    allowed = np.ones(len(listing.potentials), bool)
    cell = np.zeros(len(listing.potentials), np.int64)
    for v in (*(v for v in column if v not in rank), *scope):
        states, given = possible[v], listing.configurations[:, column[v]]
        place = np.minimum(np.searchsorted(states, given), len(states) - 1)
        allowed &= states[place] == given
        cell = cell * len(states) + place
    table = np.full(math.prod(len(possible[v]) for v in scope), -np.inf)
    table[cell[allowed]] = listing.potentials[allowed]
    return scope, table.reshape([len(possible[v]) for v in scope])
