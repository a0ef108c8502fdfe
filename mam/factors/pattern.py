r"""The higher-order factor of a Markov Attention Model.

A part x has attention variables in groups; a pattern b says in which groups exactly one of them is
ON, and x is ON unless b = 0:

.. math::
    f(c) = U(b) \text{ if } |c \cap a^{(k)}| = b_k \;\forall k \text{ and } x = [b \ne 0],
    \quad -\infty \text{ otherwise.}

An update costs a pass over the members plus (patterns x groups), never the number of
configurations (paper, "MPBP updates for the HOFs in MAMs"; the second-largest message of a group
with one member is -inf, see ``leave_one_out``).
"""

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int

from mam.factors.base import (
    Block,
    Factors,
    Leaf,
    Listing,
    Messages,
    Plan,
    Port,
    Temperature,
    check_potentials,
    pad_rows,
    padded,
    potential_rows,
    stack_rows,
)
from mam.factors.limits import limit
from mam.factors.network import NetworkBuilder, demand
from mam.factors.padding import Padding
from mam.factors.patterns import DensePatterns, PatternSet, SparsePatterns
from mam.factors.ragged import Ragged, as_ids, rows_in
from mam.factors.reduce import (
    finite,
    is_zero,
    leave_one_out,
    pick,
    soft_maximum,
    soft_pair,
    top_two,
)


@dataclass(frozen=True)
class Pattern(Factors):
    """Part/attention factors; row ``i * groups + k`` of ``members`` is group k of factor i.

    >>> sides = PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> contour = Pattern.of([0], [[[1, 2], [3]]], sides, [0, -1.6, -1.6, 0])
    >>> len(contour.table(0, np.full(4, 2)).configurations)
    6
    """

    part: Int[np.ndarray, " factors"]
    members: Ragged
    patterns: PatternSet

    kind: ClassVar[str] = "pattern"

    @classmethod
    def of(
        cls,
        part: "np.ndarray | Sequence",
        members: "Ragged | np.ndarray | Sequence",
        patterns: "PatternSet | np.ndarray | Sequence",
        log_potentials: object = None,
    ) -> "Pattern":
        """Make part/attention factors.

        ``members`` holds the attention variables of every group: a list of groups for each
        factor, or a flat ``Ragged`` with the groups of all factors one after another.
        ``log_potentials`` has one value a pattern (default 0), for all or for each factor.
        """
        chosen = patterns if isinstance(patterns, PatternSet) else PatternSet.of(patterns)
        parts = as_ids(part).ravel()
        groups = members if isinstance(members, Ragged) else _flat_groups(members)
        if len(groups) != len(parts) * chosen.groups:
            raise ValueError(
                f"{len(parts)} factors with {chosen.groups} groups need "
                f"{len(parts) * chosen.groups} lists of members, not {len(groups)}"
            )
        given = np.zeros(len(chosen)) if log_potentials is None else log_potentials
        scores = check_potentials(given, "a pattern factor")
        if scores.shape[-1:] != (len(chosen),):
            raise ValueError(f"{len(chosen)} patterns, but potentials of shape {scores.shape}")
        rows, row = potential_rows(scores, 1, len(parts), "a pattern factor")
        return cls(rows, row, parts, groups, chosen)

    def scopes(self) -> Ragged:
        joined = Ragged(self.members.values, self.members.offsets[:: self.patterns.groups])
        return Ragged.stack_columns([Ragged.of(self.part[:, None]), joined])

    def arities(self) -> np.ndarray:
        return 1 + np.diff(self.members.offsets[:: self.patterns.groups])

    def moved(self, offset: int) -> "Pattern":
        members = replace(self.members, values=self.members.values + offset)
        return replace(self, members=members, part=self.part + offset)

    def key(self, states: np.ndarray) -> Hashable:
        ids = np.concatenate([self.part, self.members.values])
        if np.any(states[ids] != 2):
            wrong = ids[states[ids] != 2][0]
            raise ValueError(f"variable {wrong} of a pattern factor is not binary")
        return self.patterns.identity

    @classmethod
    def stack(cls, parts: Sequence["Pattern"]) -> "Pattern":
        part = np.concatenate([p.part for p in parts])
        members = Ragged.stack([p.members for p in parts])
        return cls(*stack_rows(parts), part, members, parts[0].patterns)

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        groups = self.patterns.groups
        cost = len(self.patterns) * groups
        capacity = padding.rows(label, len(self), cost=cost)
        rows = pad_rows(len(self), capacity)
        ports = [Port(padded(self.part, rows, -1), rows, np.zeros_like(rows))]
        first = self.members.offsets[:-1] - np.repeat(self.members.offsets[:-1:groups], groups)
        buckets = padding.buckets(f"{label}/members", self.members.lengths)
        # Where the total of each group will stand once those of all buckets are put together.
        total = sum(len(members) for _, members in buckets)
        place = np.full(capacity * groups, total, np.int64)
        start = 0
        for width, members in buckets:
            present = members >= 0
            place[members[present]] = start + np.flatnonzero(present)
            start += len(members)
            factor = np.where(present, members // groups, -1)
            slot = 1 + padded(first, members, 0)
            ports.append(Port(self.members.rectangle(members, width), factor, slot))
        block = PatternBlock(
            padded(self.row, rows, 0).astype(np.int32),
            place.reshape(capacity, groups).astype(np.int32),
            tuple(np.maximum(members, 0).astype(np.int32) for _, members in buckets),
            self.patterns.compiled(),
        )
        return [Plan(block, tuple(ports), rows)]

    def cases(self, states: np.ndarray) -> np.ndarray:
        chosen = self.patterns.members
        counts = np.zeros(len(self))
        lengths = self.members.lengths.reshape(len(self), self.patterns.groups)
        for factor, sizes in enumerate(lengths.astype(float)):
            choices = np.ones(len(self.patterns))
            with np.errstate(over="ignore"):
                np.multiply.at(choices, chosen.row_of_value, sizes[chosen.values])
            counts[factor] = choices.sum()
        return counts

    def table(self, factor: int, states: np.ndarray) -> Listing:
        groups = self.patterns.groups
        lists = [self.members[factor * groups + k] for k in range(groups)]
        ids = np.concatenate([[self.part[factor]], *lists]).astype(np.int64)
        starts = 1 + np.cumsum([0, *(len(group) for group in lists)])
        cases, scores = [], []
        for i in range(len(self.patterns)):
            chosen = self.patterns.members[i]
            for picks in itertools.product(*(range(len(lists[k])) for k in chosen)):
                case = np.zeros(len(ids), np.int64)
                case[0] = len(chosen) > 0
                case[[starts[k] + pick for k, pick in zip(chosen, picks, strict=True)]] = 1
                cases.append(case)
                scores.append(self.potentials[self.row[factor], i])
        possible = np.isfinite(scores)
        listed = np.reshape(cases, (-1, len(ids))).astype(np.int64)
        return Listing(ids, listed[possible], np.array(scores, np.float64)[possible])

    def scores(self, values: np.ndarray) -> np.ndarray:
        groups = self.patterns.groups
        on = values[self.members.values] == 1
        counts = np.bincount(self.members.row_of_value[on], minlength=len(self) * groups)
        # A group with two members ON is like no pattern; its row is told apart by a 2.
        counts = np.minimum(counts, 2).reshape(len(self), groups)
        place = rows_in(self.patterns.dense().astype(np.int64), counts)
        fits = (place >= 0) & (counts.any(1) == (values[self.part] == 1))
        return np.where(fits, self.potentials[self.row, np.maximum(place, 0)], -np.inf)

    def entries(self, states: np.ndarray) -> float:
        groups, joins = self.patterns.groups, 8.0 * len(self.members.values)
        if groups <= _FEW_GROUPS:
            return joins + len(self) * 2.0 ** (1 + groups)
        return joins + 2.0 * len(self) * len(self.patterns) * (1 + groups)

    def encode(self, states: np.ndarray, network: NetworkBuilder) -> None:
        a, b, either = np.indices((2, 2, 2))
        one = demand((either == (a | b)) & ~((a == 1) & (b == 1)))
        groups = self.patterns.groups
        chosen = network.joined(self.members, one).reshape(len(self), groups)
        rows = self.patterns.dense()
        used = self.potentials if len(self.potentials) == 1 else self.potentials[self.row]
        if groups <= _FEW_GROUPS:
            tables = np.full((len(used), *(2,) * (1 + groups)), -np.inf)
            tables[:, rows.any(1).astype(int), *rows.T.astype(int)] = used
            network.add(np.concatenate([self.part[:, None], chosen], 1), tables)
            return
        pattern = network.variables(len(self), max(len(rows), 2))
        spare = max(len(rows), 2) - len(rows)
        network.add(pattern[:, None], np.pad(used, ((0, 0), (0, spare)), constant_values=-np.inf))
        some = rows.any(1, keepdims=True)
        follows = np.pad(np.concatenate([some, rows], 1), ((0, spare), (0, 0)))
        for column, variables in enumerate([self.part, *chosen.T]):
            table = demand(follows[:, column, None] == [False, True])
            network.add(np.stack([pattern, variables], 1), table)

    def take(self, which: np.ndarray, number: np.ndarray) -> "Pattern":
        groups = self.patterns.groups
        lists = (np.asarray(which)[:, None] * groups + np.arange(groups)).ravel()
        members = self.members.take(lists)
        members = replace(members, values=number[members.values])
        return replace(self, row=self.row[which], part=number[self.part[which]], members=members)


# Up to here (groups) the patterns are one table over the part and a variable a group.
_FEW_GROUPS = 6


def _flat_groups(members: "np.ndarray | Sequence") -> Ragged:
    return Ragged.of([group for factor in members for group in factor])


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class PatternBlock(Block):
    """Padded pattern factors; ports: part, then the group members, one port a bucket of sizes."""

    row: Leaf
    place: Leaf  # (factors, groups): where the group's total stands among those of all buckets
    group: tuple[Leaf, ...]  # for each bucket, which entry of (factors x groups) a row is
    patterns: DensePatterns | SparsePatterns

    def messages(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Messages:
        """The paper's updates; a padded member is one that cannot be ON."""
        part, *members = incoming
        theta = finite(pick(potentials, self.row))
        nonzero = self.patterns.nonzero
        groups = self._groups([soft_maximum(rows, -1, temperature) for rows in members])
        # The part's message, less max(0, message) on both sides: see DensePatterns.combine.
        asked = jnp.where(
            nonzero, jnp.minimum(part, 0.0)[:, None], jnp.minimum(-part, 0.0)[:, None]
        )
        having, lacking = self.patterns.combine(theta + asked, groups, temperature)
        unasked = self.patterns.scores(theta, groups)
        on = self._extreme(unasked, nonzero, temperature)
        off = self._extreme(theta, ~nonzero, temperature)
        outgoing = [on - off]
        for rows, index in zip(members, self.group, strict=True):
            with_group, without_group = (x.reshape(-1)[index] for x in (having, lacking))
            outgoing.append(_to_members(rows, with_group, without_group, temperature))
        return tuple(outgoing)

    def score(self, potentials: Array, states: Messages) -> Array:
        """The potential of the pattern that the states follow, -inf if they follow none."""
        part, *members = states
        ones = jnp.concatenate([jnp.sum(rows, -1) for rows in members])
        counts = ones.at[self.place].get(mode="fill", fill_value=0)
        fits = self.patterns.matches(counts) & (self.patterns.nonzero == (part == 1)[:, None])
        return jnp.max(jnp.where(fits, pick(potentials, self.row), -jnp.inf), -1)

    def best(self, potentials: Array, incoming: Messages, temperature: Temperature) -> Array:
        """The best pattern with the best member of each of its groups."""
        part, *members = incoming
        groups = self._groups([soft_maximum(rows, -1, temperature) for rows in members])
        base = pick(potentials, self.row) + jnp.where(self.patterns.nonzero, part[:, None], 0.0)
        return soft_maximum(self.patterns.scores(base, groups), -1, temperature)

    def home(self, port: int) -> Array | None:
        """Members stand in one row a group."""
        if port == 0:
            return None
        return jnp.asarray(self.group[port - 1]) // self.place.shape[1]

    def _groups(self, totals: list[Array]) -> Array:
        floor = -limit(totals[0].dtype)
        return jnp.concatenate(totals).at[self.place].get(mode="fill", fill_value=floor)

    def _extreme(self, scores: Array, which: Array, temperature: Temperature) -> Array:
        return soft_maximum(jnp.where(which, scores, -limit(scores.dtype)), -1, temperature)


def _to_members(
    rows: Array, with_group: Array, without_group: Array, temperature: Temperature
) -> Array:
    """Return with - max(without, with + the best other member) for every member of a group."""

    def against(others: Array) -> Array:
        return with_group - soft_pair(without_group, with_group + others, temperature)

    if is_zero(temperature):  # two values a row: one for the best member, one for all others
        first, second = top_two(rows)
        return jnp.where(rows < first[:, None], against(first)[:, None], against(second)[:, None])
    with_group, without_group = with_group[:, None], without_group[:, None]
    return against(leave_one_out(rows, temperature)[1])
