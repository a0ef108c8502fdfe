"""Factors over lists of binary variables, their members, of any lengths: what these kinds share."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np
from jaxtyping import Array

from mam.factors.base import (
    Block,
    Factors,
    Leaf,
    Messages,
    Plan,
    Port,
    padded,
    rows_of,
    stack_rows,
)
from mam.factors.padding import Padding
from mam.factors.ragged import Ragged

Kind = TypeVar("Kind", bound="MemberLists")


@dataclass(frozen=True)
class MemberLists(Factors):
    """Factors that are lists of members; the order of a list does not matter."""

    members: Ragged

    block: ClassVar[type["MemberBlock"]]

    def scopes(self) -> Ragged:
        return self.members

    def moved(self: Kind, offset: int) -> Kind:
        return replace(self, members=replace(self.members, values=self.members.values + offset))

    def key(self, states: np.ndarray) -> Hashable:
        wrong = self.members.values[states[self.members.values] != 2]
        if wrong.size:
            raise ValueError(
                f"variable {wrong[0]} of a factor {self.kind!r} has {states[wrong[0]]} states; its "
                "members are binary"
            )
        return ()

    @classmethod
    def stack(cls: type[Kind], parts: Sequence[Kind]) -> Kind:
        return cls(*stack_rows(parts), Ragged.stack([part.members for part in parts]))

    def plans(self, states: np.ndarray, padding: Padding, label: str) -> list[Plan]:
        plans = []
        for width, rows in padding.buckets(label, self.members.lengths):
            block = self.block(padded(self.row, rows, 0).astype(np.int32))
            port = Port(self.members.rectangle(rows, width), rows, np.zeros_like(rows))
            plans.append(Plan(block, (port,), rows))
        return plans

    def take(self: Kind, which: np.ndarray, number: np.ndarray) -> Kind:
        members = self.members.take(which)
        members = replace(members, values=number[members.values])
        # Mostly every list has its own row, and a component needs few of them.
        used, row = np.unique(self.row[which], return_inverse=True)
        return replace(self, potentials=self.potentials[used], row=row.ravel(), members=members)


@dataclass(frozen=True)
class MemberBlock(Block):
    """Padded factors; port: members. A padded member is one that cannot be ON."""

    row: Leaf

    def take(self, rows: Array) -> tuple[Any, Messages]:
        """One row of members a factor."""
        return replace(self, row=rows_of(self.row, rows)), (rows,)


def as_member_lists(members: "Ragged | np.ndarray | Sequence") -> Ragged:
    """Return lists of members; refuse what could be read as one list or as many."""
    if isinstance(members, Ragged):
        return members
    if isinstance(members, np.ndarray) and members.ndim != 2:
        raise ValueError(
            f"members has shape {members.shape}; give one list a factor: an array with two axes, "
            "or a list of lists"
        )
    if any(np.ndim(row) != 1 for row in members):
        raise ValueError("members is a list of lists, one a factor; [members] for a single one")
    return Ragged.of(members)
