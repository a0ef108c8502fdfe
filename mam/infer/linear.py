r"""Components of weighted ORs and limits as linear programs in whole numbers, solved by HiGHS.

With :math:`z_j` for "some member of list j is ON" the best assignment maximises

.. math:: \sum_i s_i x_i + \sum_j w_j z_j, \qquad
    z_j \le \sum_{i \in M_j} x_i \text{ if } w_j > 0, \quad z_j \ge x_i \text{ if } w_j < 0,

and a limit demands :math:`a \le \sum_i x_i \le b`. Branch and bound proves it, and for
some dozens of variables takes milliseconds; nothing is compiled.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.sparse import csr_array, vstack

from mam.factors import Ragged
from mam.graph import FactorGraph, GraphUnion, Scores, union_scores
from mam.graph.evidence import Evidence
from mam.infer.few_on import WAY
from mam.infer.score import graph_scores
from mam.infer.solution import Solution
from mam.infer.weighted_ors import WeightedOrs

# Programs with more rules take HiGHS longer than what they prove is worth.
_MOST_RULES = 1 << 13


@dataclass(frozen=True)
class _Program:
    """Maximise value (x, z) under least <= rules (x, z) <= most; x comes first."""

    value: np.ndarray
    rules: csr_array
    least: np.ndarray
    most: np.ndarray
    fixed: np.ndarray  # (variables, 2): the least and the most that each x may be

    @property
    def ranges(self) -> Float[np.ndarray, "variables 2"]:
        """The least and the most that each variable may be."""
        rest = np.tile([0.0, 1.0], (len(self.value) - len(self.fixed), 1))
        return np.concatenate([self.fixed, rest])

    def solve(self, seconds: float) -> Any:
        """Ask HiGHS for the best x of 0 and 1; z is so then."""
        # A quarter of a second to load, which those who never ask need not wait for.
        from scipy.optimize import Bounds, LinearConstraint, milp

        least, most = self.ranges.T
        return milp(
            -self.value,
            constraints=LinearConstraint(self.rules, self.least, self.most),  # type: ignore
            bounds=Bounds(least, most),  # type: ignore
            integrality=np.arange(len(self.value)) < len(self.fixed),
            options={"mip_rel_gap": 0.0, "time_limit": seconds},
        )

    def limit(self, seconds: float) -> float:
        r"""What no values between exceed, by the prices :math:`y \ge 0` of the rules.

        For any prices :math:`c v \le y b + \max_v (c - A^T y) v` where :math:`A v \le b`: HiGHS is
        asked for good ones, and how exact they are makes the limit no less true.
        """
        from scipy.optimize import linprog

        above, below = np.isfinite(self.most), np.isfinite(self.least)
        rules = vstack([self.rules[above], -self.rules[below]]).tocsr()
        most = np.concatenate([self.most[above], -self.least[below]])
        options = {"time_limit": seconds}
        found = linprog(-self.value, rules, most, bounds=self.ranges, options=options)
        if found.x is None:
            return np.inf
        price = np.maximum(-found.ineqlin.marginals, 0.0)
        left = self.value - rules.T @ price
        return float(price @ most + (left[:, None] * self.ranges).max(1).sum())


def branch_and_bound(
    graph: FactorGraph, evidence: Evidence | None, seconds: float
) -> Solution | None:
    """Return a proved answer; None if the graph is not of this form, too large, or time is over.

    >>> from mam.factors import AnyOf
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 3)
    >>> builder.add("any", AnyOf.of([[0, 1], [1, 2]], some=[2.0, 2.0]))
    >>> found = branch_and_bound(builder.build(), {"x": [-1.5, -1.0, -1.5]}, 1.0)
    >>> found["x"].tolist(), found.score, found.proof
    ([0, 1, 0], 3.0, 'exact')
    """
    union = GraphUnion.of(graph)
    scores = union_scores(union, evidence)
    program = _program(union, scores)
    if program is None or len(program.most) > _MOST_RULES:
        return None
    found = program.solve(seconds)
    if found.status != 0:
        return None
    count = len(union.states)
    values = np.rint(found.x[:count]).astype(np.int64)
    score = float(graph_scores(union, scores, values)[0])
    if not np.isfinite(score):
        return None
    unknown = np.full(count, np.nan)
    return Solution(graph, values, unknown, score, score, True, 0, (), ways={WAY: 1})


def relaxed_maximum(graph: FactorGraph, evidence: Evidence | None, seconds: float = 600.0) -> float:
    """What no assignment exceeds, variables between OFF and ON allowed; inf if that is not known.

    The score of ORs of which no member is ON counts as 0.
    """
    union = GraphUnion.of(graph)
    program = _program(union, union_scores(union, evidence))
    if program is None:
        return np.inf
    if not len(program.value):
        return 0.0
    return program.limit(seconds)


def _program(union: GraphUnion, scores: tuple[Scores, ...]) -> _Program | None:
    """The program of a union, if it is of this form."""
    form = WeightedOrs.of(union, scores)
    if form is None:
        return None
    rows, count = _Rows(), len(form.own)
    rows.add_sums(form.limited, form.least, form.most)
    rows.add_ors(form.lists, form.weights, count)
    values = np.concatenate([form.own, form.weights])
    fixed = np.stack([form.forced[:, 1], ~form.forced[:, 0]], 1).astype(float)
    return _Program(values, *rows.built(len(values)), fixed)


class _Rows:
    """Rules, gathered entry by entry."""

    def __init__(self) -> None:
        self._entries: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._bounds: list[tuple[np.ndarray, np.ndarray]] = []
        self._count = 0

    def add_sums(self, members: Ragged, least: np.ndarray, most: np.ndarray) -> None:
        """At least and at most so many members are ON."""
        ones = np.ones(len(members.values))
        bounds = least.astype(float), most.astype(float)
        self._append(members.row_of_value, members.values, ones, *bounds)

    def add_ors(self, members: Ragged, weights: np.ndarray, first: int) -> None:
        """The variables from ``first`` on say whether some member is ON."""
        wanted = np.flatnonzero(weights > 0)
        place = np.full(len(weights), -1)
        place[wanted] = np.arange(len(wanted))
        mine = weights[members.row_of_value] > 0
        own, other = members.row_of_value[mine], members.row_of_value[~mine]
        self._append(
            np.concatenate([place[own], np.arange(len(wanted))]),
            np.concatenate([members.values[mine], first + wanted]),
            np.repeat([-1.0, 1.0], [len(own), len(wanted)]),
            np.full(len(wanted), -np.inf),
            np.zeros(len(wanted)),
        )
        rule = np.arange(len(other))
        self._append(
            np.tile(rule, 2),
            np.concatenate([members.values[~mine], first + other]),
            np.repeat([1.0, -1.0], len(other)),
            np.full(len(other), -np.inf),
            np.zeros(len(other)),
        )

    def _append(
        self,
        rule: np.ndarray,
        column: np.ndarray,
        value: np.ndarray,
        least: np.ndarray,
        most: np.ndarray,
    ) -> None:
        self._entries.append((self._count + rule, column, value))
        self._bounds.append((least, most))
        self._count += len(most)

    def built(self, width: int) -> tuple[csr_array, np.ndarray, np.ndarray]:
        """The rules as a sparse matrix with their bounds."""
        if not self._entries:
            return csr_array((0, width)), np.zeros(0), np.zeros(0)
        rule, column, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        least, most = (np.concatenate(part) for part in zip(*self._bounds, strict=True))
        return csr_array((value, (rule, column)), (self._count, width)), least, most
