r"""A graph as weighted ORs and limits of binary variables, if it is nothing else.

.. math:: \sum_i s_i x_i + \sum_j w_j \max_{i \in M_j} x_i, \qquad
    a_k \le \sum_{i \in C_k} x_i \le b_k.

The score is 0 where no variable is ON. Coverings and hitting sets are of this form, so are pixels
that are explained by parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import Ragged
from mam.factors.base import FORBIDDEN, Limits
from mam.graph import GraphUnion, Scores


@dataclass(frozen=True)
class WeightedOrs:
    """What each variable, list and limit says; the lists hold numbers of variables."""

    own: Float[np.ndarray, " variables"]  # the score of being ON
    forced: Bool[np.ndarray, "variables 2"]  # whether it must be OFF, and whether it must be ON
    lists: Ragged
    weights: Float[np.ndarray, " lists"]  # the score of having a member ON
    limited: Ragged
    least: Int[np.ndarray, " limits"]  # members that must be ON
    most: Int[np.ndarray, " limits"]  # members that may be ON

    @classmethod
    def of(cls, union: GraphUnion, scores: Sequence[Scores]) -> "WeightedOrs | None":
        """Read a union with its evidence; None if it has other factors or variables."""
        count = len(union.states)
        if (union.states != 2).any():
            return None
        own, forced = np.zeros(count), np.zeros((count, 2), bool)
        for some in scores:
            finite = np.isfinite(some.values).all(1)
            own[some.variables[finite]] = np.diff(some.values[finite])[:, 0]
            forced[some.variables] = np.isneginf(some.values)[:, ::-1]
        lists, weights = [Ragged.of([])], [np.zeros(0)]
        limits = [Limits(Ragged.of([]), *np.zeros((2, 0), np.int64))]
        for group in union.sets:
            if (limit := group.factors.limits()) is not None:
                limits.append(limit)
                continue
            terms = group.factors.unions()
            if terms is None or np.abs(terms.weights).max(initial=0.0) > -FORBIDDEN / 4:
                return None
            lists.append(terms.members)
            weights.append(terms.weights)
        return cls(
            own,
            forced,
            Ragged.stack(lists),
            np.concatenate(weights),
            Ragged.stack([one.members for one in limits]),
            np.concatenate([one.least for one in limits]),
            np.concatenate([one.most for one in limits]),
        )
