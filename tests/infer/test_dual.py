"""The dual bound against the linear program that it descends to."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest

from mam.infer import enumerate_exactly, solve
from mam.models.examples import line_sparsifier
from tests.oracles import random_models
from tests.oracles.local_polytope import local_bound


def attention(rng: np.random.Generator) -> tuple:
    model, evidence = random_models.attention_model(rng, 12, 24)
    return model.graph, evidence


MODELS: dict[str, Callable[[np.random.Generator], tuple]] = {
    "attention": attention,
    "sparsifier": lambda rng: random_models.sparsifier(rng, 20, 14),
    "gates": lambda rng: random_models.gates(rng, 8),
    "potts": lambda rng: random_models.potts(rng, 8, 4),
    "spin glass": lambda rng: random_models.spin_glass(rng, 5),
    "line process": lambda rng: random_models.line_process(rng, 6, 4),
    "medley": random_models.medley,
}


@pytest.mark.parametrize("name", MODELS)
def test_the_bound_comes_down_to_the_linear_program(name: str) -> None:
    for seed in range(2):
        graph, evidence = MODELS[name](np.random.default_rng(seed))
        found = solve(graph, evidence, method="max-product", bound=True, tighten=0)
        least = local_bound(graph, evidence)
        assert least - 1e-6 <= found.bound <= least + 1e-3 or found.bound == least


@pytest.mark.parametrize("parts", [10, 50])
def test_a_long_line_is_proved(parts: int) -> None:
    """Block descent alone stands still 0.77 above the optimum of 50 parts."""
    graph, evidence = line_sparsifier(parts)
    found = solve(graph, evidence, method="max-product", bound=True)
    assert found.score == pytest.approx(parts * np.log(0.1)) and found.optimal


def test_the_bound_falls_from_temperature_to_temperature() -> None:
    graph, evidence = random_models.sparsifier(np.random.default_rng(0), 20, 14)
    bounds = [
        solve(graph, evidence, method="max-product", bound=True, bound_steps=steps).bound
        for steps in (10, 60, 100, 140, 500)
    ]
    assert all(a >= b - 1e-12 for a, b in pairwise(bounds)) and bounds[-1] < bounds[0] - 0.1


def test_graphs_of_a_batch_are_smoothed_as_they_are_alone() -> None:
    cases = [random_models.sparsifier(np.random.default_rng(i)) for i in range(3)]
    scaled = [
        (graph, {"part": 30 * e["part"], "pixel": e["pixel"]}) if i % 2 else (graph, e)
        for i, (graph, e) in enumerate(cases)
    ]
    graphs, evidences = [graph for graph, _ in scaled], [evidence for _, evidence in scaled]
    batch = solve(graphs, evidences, method="max-product", bound=True)
    for (graph, evidence), together in zip(scaled, batch, strict=True):
        alone = solve(graph, evidence, method="max-product", bound=True)
        assert together.bound == pytest.approx(alone.bound, abs=1e-4)
        assert together.score == pytest.approx(alone.score, abs=1e-9)


def test_a_limit_of_time_leaves_a_bound_that_holds() -> None:
    graph, evidence = random_models.medley(np.random.default_rng(5))
    best = enumerate_exactly(graph, evidence).score
    bounds = [
        solve(graph, evidence, method="max-product", bound=True, message_seconds=s).bound
        for s in (0.0, 60.0)
    ]
    assert bounds[0] >= bounds[1] >= best - 1e-6
