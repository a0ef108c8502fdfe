"""Compile once, run thousands."""

from collections.abc import Iterator
from contextlib import contextmanager

import jax
import numpy as np
import pytest

from mam.factors import Or, PatternSet
from mam.graph import FactorGraph, GraphBuilder, compile_graphs
from mam.infer import solve
from mam.models import PartKind, part_attention_model


@contextmanager
def compilations() -> Iterator[list[str]]:
    """Collect the names of what XLA compiles."""
    names: list[str] = []
    counting = True

    def listen(event: str, duration: float, **details: object) -> None:
        if counting and event.endswith("backend_compile_duration"):
            names.append(str(details.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    yield names
    counting = False


def random_or(rng: np.random.Generator, parts: int) -> tuple[FactorGraph, dict]:
    builder = GraphBuilder()
    part = builder.variables("part", parts)
    pixels = int(rng.integers(parts, 3 * parts))
    pixel = builder.variables("pixel", pixels)
    parents = [rng.choice(part, rng.integers(1, min(parts, 9)), replace=False) for _ in pixel]
    builder.add("or", Or.of(parents, pixel, pi01=0.07, pi10=0.0019))
    evidence = {"part": np.full(parts, -4.0), "pixel": rng.choice([-np.inf, np.inf], pixels)}
    return builder.build(), evidence


def random_contours(rng: np.random.Generator, parts: int) -> tuple[FactorGraph, dict]:
    first, second = rng.integers(0, parts, (2, 4 * parts))
    edges = np.stack([first, second], 1)[first != second]
    kind = PartKind(PatternSet.of([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, -1.6, -1.6, 0])
    groups = rng.integers(0, 2, edges.shape)
    model = part_attention_model(edges, groups, kind, vertices=parts)
    return model.graph, {"part": np.full(parts, np.inf)}


@pytest.mark.parametrize("make", [random_or, random_contours])
@pytest.mark.parametrize("count", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_graphs_of_many_sizes_share_few_shapes(make: object, count: int) -> None:
    rng = np.random.default_rng(0)
    with compilations() as names:
        for _ in range(count):
            graph, evidence = make(rng, int(rng.integers(5, 400)))
            # No time for other solvers: all that elimination leaves goes to messages.
            solve(graph, evidence, iterations=5, repair=False, seconds=0)
    runs = [name for name in names if "propagate" in name]
    assert len(runs) <= 12
    assert len(names) <= 2 * len(runs) + 4  # each shape for messages and for scores, and the keys


def test_new_evidence_compiles_nothing() -> None:
    graph, evidence = random_or(np.random.default_rng(1), 30)
    compiled = compile_graphs(graph)
    solve(compiled, evidence, repair=False)
    with compilations() as names:
        solve(compiled, {"part": evidence["part"] - 1.0}, repair=False, seed=9)
    assert names == []


def test_room_lets_large_graphs_share_a_shape() -> None:
    rng = np.random.default_rng(2)
    room: dict = {}
    for _ in range(8):  # let the room grow
        room = dict(compile_graphs(random_contours(rng, 6000)[0], room).room)
    shapes = set()
    for _ in range(4):
        compiled = compile_graphs(random_contours(rng, int(rng.integers(5500, 5900)))[0], room)
        room = dict(compiled.room)
        shapes.add(str(jax.tree.map(np.shape, compiled.wiring)))
    assert len(shapes) == 1
