r"""Sets of interaction patterns over groups, dense or sparse.

A pattern b switches on one member in each of its groups. Given the (soft) best score g_k of each
group, and a base score for each pattern (its potential, and what the part says of being ON), three
sums are wanted:

.. math::
    S_b = \text{base}_b + \sum_l b_l g_l, \qquad
    \text{with}_k = \max_{b: b_k = 1} (S_b - g_k), \qquad
    \text{without}_k = \max_{b: b_k = 0} S_b

The sparse form never makes a (patterns x groups) array: patterns list their groups, groups list
their places in patterns, and ``without`` joins the runs of patterns between those places.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool

from mam.core.pytree import pytree
from mam.factors.base import Leaf, Temperature
from mam.factors.numeric_limits import limit
from mam.factors.ragged import Ragged
from mam.factors.reduce import soft_maximum, sum_of_others
from mam.factors.runs import join_runs, plan_runs

# Up to here (patterns x groups) a dense array is faster than lists.
_DENSE = 2048


@dataclass(frozen=True)
class PatternSet:
    """The allowed patterns of a factor, each a set of groups.

    >>> two_sides = PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> two_sides.groups, len(two_sides)
    (2, 4)
    >>> len(PatternSet.sparse([[], [0, 1, 2], [3, 4]], groups=5))
    3
    """

    members: Ragged
    groups: int

    @classmethod
    def of(cls, patterns: "np.ndarray | Sequence") -> "PatternSet":
        """Make a set from binary vectors, one row a pattern."""
        rows = np.asarray(patterns)
        if rows.ndim != 2 or not np.isin(rows, (0, 1)).all():
            raise ValueError("patterns are rows of zeros and ones, one column a group")
        lists = Ragged(
            np.nonzero(rows)[1], np.concatenate([[0], np.cumsum(rows.sum(1), dtype=np.int64)])
        )
        return cls._checked(lists, rows.shape[1])

    @classmethod
    def sparse(cls, patterns: "Ragged | Sequence", groups: int) -> "PatternSet":
        """Make a set from lists of groups, each naming a group at most once, in any order."""
        lists = Ragged.of(patterns)
        order = np.lexsort((lists.values, lists.row_of_value))
        return cls._checked(Ragged(lists.values[order], lists.offsets), groups)

    @classmethod
    def _checked(cls, members: Ragged, groups: int) -> "PatternSet":
        bad = members.values[(members.values < 0) | (members.values >= groups)]
        if bad.size:
            raise ValueError(f"a pattern names group {bad[0]} of {groups}")
        same = (np.diff(members.values) == 0) & (np.diff(members.row_of_value) == 0)
        if same.any():
            at = int(np.flatnonzero(same)[0])
            row, group = members.row_of_value[at], members.values[at]
            raise ValueError(f"pattern {row} names group {group} twice")
        seen = {members[i].tobytes(): i for i in range(len(members))}
        if len(seen) < len(members):
            raise ValueError("a pattern is listed twice")
        if len(members) == 0 or groups < 1:
            raise ValueError("a set of patterns needs at least one pattern and one group")
        return cls(members, groups)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def identity(self) -> bytes:
        """Equal for equal sets."""
        return bytes(f"{self.groups}|", "ascii") + b"|".join(
            (self.members.values.tobytes(), self.members.offsets.tobytes())
        )

    def dense(self) -> Bool[np.ndarray, "patterns groups"]:
        """Return the patterns as a binary matrix."""
        rows = np.zeros((len(self), self.groups), bool)
        rows[self.members.row_of_value, self.members.values] = True
        return rows

    def compiled(self) -> "DensePatterns | SparsePatterns":
        """Return the form that the solvers run."""
        if len(self) * self.groups <= _DENSE:
            return DensePatterns(self.dense())
        return SparsePatterns.of(self)


@pytree
@dataclass(frozen=True)
class DensePatterns:
    """Patterns as a (patterns x groups) array."""

    rows: Leaf

    def combine(self, base: Array, groups: Array, temperature: Temperature) -> tuple[Array, Array]:
        """Return with and without, both (factors, groups), up to a common shift.

        Each group counts min(g, 0) in patterns that have it and min(-g, 0) in those that lack it:
        both less max(g, 0), so that a group that is ON for sure costs no digits.
        """
        own = groups[:, None, :]
        parts = jnp.where(self.rows, jnp.minimum(own, 0.0), jnp.minimum(-own, 0.0))
        others = base[:, :, None] + sum_of_others(parts)
        floor = -4 * limit(base.dtype)
        having = soft_maximum(jnp.where(self.rows, others, floor), 1, temperature)
        lacking = soft_maximum(jnp.where(self.rows, floor, others), 1, temperature)
        return having, lacking

    def scores(self, base: Array, groups: Array) -> Array:
        """Return the scores S."""
        return base + jnp.sum(jnp.where(self.rows, groups[:, None, :], 0.0), -1)

    @property
    def nonzero(self) -> Array:
        """Which patterns switch on any group."""
        return jnp.any(self.rows, 1)

    def matches(self, counts: Array) -> Array:
        """Which pattern has exactly these numbers of ON members: (factors, patterns)."""
        return jnp.all(self.rows.astype(counts.dtype) == counts[:, None, :], -1)


@pytree
@dataclass(frozen=True)
class SparsePatterns:
    """Patterns as lists of groups, and groups as lists of places in patterns."""

    members: Leaf  # (patterns, most groups of a pattern), padded with the number of groups
    places: Leaf  # (groups, most patterns of a group), index into members, padded out of range
    runs: tuple[Leaf, Leaf]  # (groups, runs) of patterns that lack the group, see runs.py
    groups: int = field(metadata={"static": True})

    @classmethod
    def of(cls, patterns: PatternSet) -> "SparsePatterns":
        """Build the lists in both directions."""
        width = max(1, int(patterns.members.lengths.max()))
        members = patterns.members.rectangle(np.arange(len(patterns)), width)
        flat = members.ravel()
        present = np.flatnonzero(flat >= 0)
        present = present[np.argsort(flat[present], kind="stable")]
        counts = np.bincount(flat[present], minlength=patterns.groups)
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        every = np.arange(patterns.groups)
        most = max(1, int(counts.max(initial=0)))
        places = Ragged(present, offsets).rectangle(every, most)
        inside = Ragged(present // width, offsets).rectangle(every, most)
        return cls(
            np.where(members < 0, patterns.groups, members).astype(np.int32),
            np.where(places < 0, members.size, places).astype(np.int32),
            plan_runs(inside, len(patterns)),
            patterns.groups,
        )

    def combine(self, base: Array, groups: Array, temperature: Temperature) -> tuple[Array, Array]:
        """Return with and without, both (factors, groups)."""
        chosen = self._chosen(groups)
        scores = base + jnp.sum(chosen, -1)
        others = (base[:, :, None] + sum_of_others(chosen)).reshape(len(scores), -1)
        floor = -4 * limit(base.dtype)
        having = others.at[:, self.places].get(mode="fill", fill_value=floor)
        return soft_maximum(having, -1, temperature), join_runs(scores, self.runs, temperature)

    def scores(self, base: Array, groups: Array) -> Array:
        """Return the scores S."""
        return base + jnp.sum(self._chosen(groups), -1)

    @property
    def nonzero(self) -> Array:
        """Which patterns switch on any group."""
        return self.members[:, 0] < self.groups

    def matches(self, counts: Array) -> Array:
        """Which pattern has exactly these numbers of ON members: (factors, patterns)."""
        ones = counts.at[:, self.members].get(mode="fill", fill_value=1) == 1
        sizes = jnp.sum(self.members < self.groups, -1, dtype=counts.dtype)
        return jnp.all(ones, -1) & (jnp.sum(counts, -1, dtype=counts.dtype)[:, None] == sizes)

    def _chosen(self, groups: Array) -> Array:
        return groups.at[:, self.members].get(mode="fill", fill_value=0.0)
