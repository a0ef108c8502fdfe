"""Nodes of different classes are different, whatever they hold."""

from dataclasses import dataclass, field
from itertools import combinations

import jax
import numpy as np
import pytest

from mam.core.pytree import pytree
from mam.factors.any_of import AnyOfBlock
from mam.factors.base import Block
from mam.factors.choice import ChoiceBlock
from mam.factors.count import CountBlock


@pytree
@dataclass(frozen=True)
class Twice:
    values: np.ndarray
    times: int = field(metadata={"static": True})


@pytree
@dataclass(frozen=True)
class Thrice:
    values: np.ndarray
    times: int = field(metadata={"static": True})


def test_classes_with_the_same_fields_have_different_structures() -> None:
    assert jax.tree.structure(Twice(1, 2)) != jax.tree.structure(Thrice(1, 2))


def test_static_fields_are_part_of_the_structure() -> None:
    assert jax.tree.structure(Twice(1, 2)) == jax.tree.structure(Twice(5, 2))
    assert jax.tree.structure(Twice(1, 2)) != jax.tree.structure(Twice(1, 3))


def test_leaves_are_named_by_their_fields() -> None:
    ((path, leaf),) = jax.tree_util.tree_leaves_with_path(Twice(7, 2))
    assert (jax.tree_util.keystr(path), leaf) == (".values", 7)


@pytest.mark.parametrize(
    ("one", "other"), list(combinations([AnyOfBlock, ChoiceBlock, CountBlock], 2))
)
def test_a_program_of_one_kind_of_factor_never_serves_another(
    one: type[Block], other: type[Block]
) -> None:
    a, b = (jax.tree.structure(kind(np.zeros(3, np.int32))) for kind in (one, other))
    assert a != b
