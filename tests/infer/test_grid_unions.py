"""Messages on grids against the same model with every factor written out."""

import itertools

import numpy as np
import pytest

from mam.factors import AnyOf
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.infer.grid_unions import GridOptions, GridUnions, solve_grids

REACH = 1
OFFSET = np.argwhere(np.array([[0, 1, 0], [1, 1, 1], [0, 1, 1]])) - REACH
PRIOR = -2.5
SHAPES = [(7, 9), (6, 8)]
CELLS = 64


def drawn(seed: int) -> GridUnions:
    """Two grids of different widths, with padding behind them."""
    rng = np.random.default_rng(seed)
    weight, candidate = np.zeros((2, CELLS), np.float32), np.zeros((2, CELLS), bool)
    for row, shape in enumerate(SHAPES):
        own = rng.choice([1.7, -0.7, 0.0], shape, p=[0.6, 0.3, 0.1])
        inner = np.zeros(shape, bool)
        inner[REACH:-REACH, REACH:-REACH] = rng.random((shape[0] - 2, shape[1] - 2)) < 0.5
        weight[row, : own.size], candidate[row, : own.size] = own.ravel(), inner.ravel()
    return GridUnions(weight, candidate, PRIOR, np.array([w for _, w in SHAPES]), OFFSET)


def written_out(grids: GridUnions, row: int) -> tuple[FactorGraph, np.ndarray]:
    """The graph of one grid, and the cells of its variables."""
    width = int(grids.width[row])
    cells = np.flatnonzero(grids.candidate[row])
    number = {int(cell): variable for variable, cell in enumerate(cells)}
    members: dict[int, list[int]] = {}
    for cell, (lines, columns) in itertools.product(cells.tolist(), OFFSET.tolist()):
        members.setdefault(cell + lines * width + columns, []).append(number[cell])
    builder = GraphBuilder()
    builder.variables("part", len(cells))
    pixels = sorted(members)
    builder.add("pixel", AnyOf.of([members[p] for p in pixels], grids.weight[row, pixels]))
    return builder.build(), cells


@pytest.mark.parametrize("seed", range(3))
def test_messages_are_those_of_the_written_model(seed: int) -> None:
    grids = drawn(seed)
    found = solve_grids(grids, GridOptions(iterations=5, damping=0.4, noise=0.0, blocks=1))
    for row in range(len(SHAPES)):
        graph, cells = written_out(grids, row)
        evidence = {"part": np.full(len(cells), PRIOR)}
        same = {"noise": 0.0, "damping": 0.4, "iterations": 5, "repair": False, "tolerance": 0.0}
        wanted = solve(graph, evidence, method="max-product", **same)
        belief = found.belief[row, cells]
        np.testing.assert_allclose(np.abs(belief), wanted.margin("part"), atol=1e-4)
        np.testing.assert_array_equal(belief > 0, wanted["part"] == 1)
        assert not found.on[row, ~grids.candidate[row]].any()


@pytest.mark.parametrize("seed", range(3))
def test_what_rests_in_blocks_is_about_the_best(seed: int) -> None:
    grids = drawn(seed)
    found = solve_grids(grids, GridOptions())
    for row in np.flatnonzero(found.rested).tolist():
        graph, cells = written_out(grids, row)
        evidence = {"part": np.full(len(cells), PRIOR)}
        best = solve(graph, evidence).score
        chosen = found.on[row, cells].astype(np.int64)
        pixels = dict(graph.factors)["pixel"]
        assert pixels.scores(chosen).sum() + PRIOR * chosen.sum() >= 0.9 * best
    assert found.rested.any()


def test_an_answer_does_not_depend_on_its_batch() -> None:
    grids, options = drawn(1), GridOptions(iterations=50)
    both = solve_grids(grids, options)
    order = [1, 0]
    turned = grids._replace(
        weight=grids.weight[order], candidate=grids.candidate[order], width=grids.width[order]
    )
    np.testing.assert_array_equal(solve_grids(turned, options).belief[order], both.belief)


def test_iterations_end_where_they_are_told_to() -> None:
    found = solve_grids(drawn(0), GridOptions(iterations=5, tolerance=0.0))
    assert (found.iterations == 5).all()
