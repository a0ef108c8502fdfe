"""How many curves share a strand: the engine against all assignments, and plain cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.vision.curves.strands import counts
from mam.vision.curves.strands.axis import Axis
from mam.vision.curves.strands.counts import find_counts, sides
from mam.vision.curves.strands.strand_drawing import describe, sketch
from mam.vision.curves.strands.strand_ends import Ends, find_ends
from mam.vision.curves.strands.strands import Strands

AXIS = Axis(1, 1.0)


def two_that_share(stretch: int = 60) -> np.ndarray:
    """Two lines that meet, are one for a while, and part again."""
    mask = np.zeros((120, 300), bool)
    for col in range(10, 290):
        apart = max(0, abs(col - 150) - stretch // 2) // 2
        for row in (60 - apart, 60 + apart):
            mask[row - 1 : row + 2, col] = True
    return mask


def drawn() -> tuple[Strands, Ends]:
    strands = sketch(two_that_share()).strands
    return strands, find_ends(strands)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_counts_are_the_best_of_all(seed: int) -> None:
    strands, ends = drawn()
    single = np.random.default_rng(seed).normal(0, 2, len(strands))

    def score(found: np.ndarray) -> float:
        third = -single - np.maximum(single, 0) - counts._MORE
        own = np.stack([np.zeros(len(single)), -single, third], 1)
        total = own[np.arange(len(single)), found - 1].sum()
        side, node = sides(ends, AXIS), strands.node.ravel()
        each = np.repeat(found, 2)
        for number in np.unique(node[node >= 0]):
            mine = node == number
            if mine.sum() > 2 and len(set(side[mine])) == 2:
                off = each[mine & side].sum() - each[mine & ~side].sum()
                total -= counts._ENDING * abs(off)
        return float(total)

    found = find_counts(strands, ends, AXIS, single)
    every = itertools.product((1, 2, 3), repeat=len(strands))
    best = max(score(np.array(one)) for one in every)
    assert score(found) == pytest.approx(best, abs=1e-4)


def test_a_strand_between_two_forks_is_shared() -> None:
    strands, ends = drawn()
    found = find_counts(strands, ends, AXIS, np.full(len(strands), 0.5))
    middle = np.abs(strands.points[:, 1] - 150) < 10
    assert set(found[strands.strand[middle]]) == {2} and (found == 1).sum() == 4
    drawing = describe(sketch(two_that_share()), found)
    assert drawing.shared.sum() == 1
    over = drawing.pairs.over[(drawing.pairs.over >= 0).any(1), 0]
    assert len(over) and drawing.shared[over].all()


def test_nothing_is_counted_on_an_empty_mask() -> None:
    empty = sketch(np.zeros((9, 9), bool))
    assert not len(find_counts(empty.strands, find_ends(empty.strands), empty.axis, np.zeros(0)))
