"""What benches count and compare: exact numbers of what attention variables save, ablations."""

import numpy as np
import pytest

from bench.ablations import NAMES, ways
from bench.saving import count_sets, listed
from mam.factors import Pattern, PatternSet
from mam.infer import enumerate_exactly
from mam.models.examples import line_sets, two_lines
from mam.vision.curves.chain_model import ContourPotentials, Links
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.poses import Poses


@pytest.mark.parametrize(("rows", "lines"), [(2, 1), (3, 1), (4, 2), (6, 3)])
def test_sets_are_counted_as_they_are_listed(rows: int, lines: int) -> None:
    assert count_sets(rows, lines) == len(line_sets(rows, lines))


def test_configurations_are_counted_as_they_are_enumerated() -> None:
    graph = two_lines(2, 1).graph
    total = 0
    for _, factors in graph.factors:
        assert isinstance(factors, Pattern) and isinstance(factors.patterns, PatternSet)
        states = np.full(len(graph.states), 2)
        total += sum(
            len(factors.table(number, states).configurations) for number in range(len(factors))
        )
    assert listed(graph) == total
    assert enumerate_exactly(graph).score == 0


def chain() -> Grouping:
    """Three strokes in a row, and one that stands across the gap between two of them."""
    middle = np.array([[10.0, 10], [10, 20], [10, 30], [14, 25]])
    none = np.zeros(4, np.int64)
    strokes = Poses(none, middle, np.zeros(4), np.full(4, 5.0), none, middle.astype(np.int64))
    links = Links(
        np.array([[0, 1], [1, 2], [1, 3]]),
        np.array([[1, 0], [1, 0], [1, 0]]),
        np.array([3.0, 3.0, 2.0]),
    )
    on = np.zeros(3, bool)
    group = group_numbers(links.stroke, on, 4)
    return Grouping(strokes, group, links, on, np.zeros(3), np.zeros((40, 40), bool), 0.0)


def test_every_ablation_decides_the_same_links() -> None:
    found = {name: decide([chain()], ContourPotentials()) for name, decide in ways().items()}
    assert set(found) == set(NAMES)
    on = {name: answer.on.tolist() for name, [answer] in found.items()}
    # Without inference the stroke across is joined too, at an end that is taken.
    assert on["components"] == [True, True, True]
    assert on["greedy"] == on["flooding"] == on["exact"] == [True, True, False]
    assert found["exact"][0].proved.all() and not found["flooding"][0].proved.any()
