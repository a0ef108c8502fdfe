"""How good an answer is that was found elsewhere: its score beside a bound of its model."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int

from mam.graph import FactorGraph, GraphUnion, union_scores
from mam.graph.evidence import Evidence
from mam.infer.options import Options
from mam.infer.score import graph_scores
from mam.infer.solution import NO_GAP, gap_between, lifted
from mam.infer.solve import solve

_ROUNDING = 1e-5  # relative: scores and bounds are sums in single precision


class Certificate(NamedTuple):
    """What an answer scores, what none can exceed, and how that is known."""

    score: float
    bound: float | None = None
    proof: str | None = None  # "exact", "bound" or None, as of a ``Solution``

    @property
    def gap(self) -> float | None:
        """Bound minus score: 0 proves the answer optimal."""
        return gap_between(self.score, self.bound)

    @classmethod
    def below(cls, score: float, bound: float) -> "Certificate":
        """Certify an answer by a bound. One clearly below the score bounds another model: no proof.

        >>> Certificate.below(2.0, 2.0).proof, Certificate.below(2.0, 2.5).gap
        ('bound', 0.5)
        >>> Certificate.below(2.0, 1.5)
        Certificate(score=2.0, bound=None, proof=None)
        """
        if bound < score - _ROUNDING * (1 + abs(score)):
            return cls(score)
        return cls(score, lifted(bound, score), "bound" if bound - score <= NO_GAP else None)


def certify_states(
    graphs: Sequence[FactorGraph],
    evidence: Sequence[Evidence],
    values: Sequence[Int[np.ndarray, "_"]],
    options: Options | None = None,
) -> list[Certificate]:
    """Bound each model, and compare the score of given states of its variables.

    >>> from mam.factors import Pairwise
    >>> from mam.graph import GraphBuilder
    >>> builder = GraphBuilder()
    >>> x = builder.variables("x", 2)
    >>> builder.add("agree", Pairwise.of([[0, 1]], [[1, 0], [0, 1]]))
    >>> certify_states([builder.build()], [{"x": [1.0, 0.0]}], [np.array([0, 0])])[0].gap
    1.0
    """
    union = GraphUnion.of(graphs)
    scores = graph_scores(union, union_scores(union, evidence), np.concatenate(values))
    found = solve(graphs, evidence, options, bound=True)
    return [
        Certificate.below(float(score), float(best.bound))
        for score, best in zip(scores, found, strict=True)
    ]
