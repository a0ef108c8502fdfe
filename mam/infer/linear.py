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
from scipy.sparse import csr_array

from mam.factors import Ragged
from mam.graph import FactorGraph, GraphUnion, Scores, union_scores
from mam.graph.evidence import Evidence
from mam.infer.few import WAY
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

    def solve(self, whole: bool, seconds: float) -> Any:
        """Ask HiGHS; ``whole``: x is 0 or 1, and so is z then."""
        # A quarter of a second to load, which those who never ask need not wait for.
        from scipy.optimize import Bounds, LinearConstraint, milp

        rest = np.tile([0.0, 1.0], (len(self.value) - len(self.fixed), 1))
        least, most = np.concatenate([self.fixed, rest]).T
        return milp(
            -self.value,
            constraints=LinearConstraint(self.rules, self.least, self.most),  # type: ignore
            bounds=Bounds(least, most),  # type: ignore
            integrality=np.where(np.arange(len(self.value)) < len(self.fixed), int(whole), 0),
            options={"mip_rel_gap": 0.0, "time_limit": seconds},
        )


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
    found = program.solve(whole=True, seconds=seconds)
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
    found = program.solve(whole=False, seconds=seconds)
    return -float(found.fun) if found.x is not None else np.inf


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
