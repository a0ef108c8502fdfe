"""A program for each graph, as on a GPU, tells what sweeps stage by stage tell."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mam.factors import Window
from mam.graph import FactorGraph, GraphBuilder, Wiring, compile_graphs
from mam.infer import wired as by_stages
from mam.infer.stages import _ALIKE, Stages, stages_of
from mam.infer.window_sweeps import can_sweep, sweep_windows
from mam.vision.elastic.match import _blocks, window_scores
from mam.vision.elastic.placed_graphs import stages_along, wired
from tests.infer.test_sweeps import loopy
from tests.vision.elastic.test_placed_graphs import OUTSIDE, placed


def wired_letters(
    seed: int, loops: bool, window: int, ties: bool
) -> tuple[Wiring, Stages, jax.Array]:
    """Some candidates with their evidence, padded as a block of them is."""
    rng = np.random.default_rng(seed)
    [(_, graphs)] = _blocks(placed(rng, loops))
    scores = rng.integers(-2, 3, (1, 14, 14)) if ties else rng.normal(0, 3, (1, 14, 14))
    unary = window_scores(jnp.asarray(scores, jnp.float32), graphs, window, OUTSIDE, 0.1)
    return wired(graphs, window), stages_along(graphs), unary


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10_000),
    loops=st.booleans(),
    ties=st.booleans(),
    window=st.sampled_from([1, 3, 5]),
    sweeps=st.integers(0, 2),
)
def test_a_program_a_graph_tells_what_stages_tell(
    seed: int, loops: bool, ties: bool, window: int, sweeps: int
) -> None:
    wiring, stages, unary = wired_letters(seed, loops, window, ties)
    assert can_sweep(wiring, stages)
    nothing = jnp.zeros((1, 0), unary.dtype)
    slow = by_stages._sweep_by_stages(wiring, (nothing,), (unary,), stages, sweeps)
    fast = sweep_windows(wiring, (unary,), stages, sweeps, interpret=True)
    np.testing.assert_array_equal(slow[0], fast[0])


def test_programs_are_written_for_a_gpu() -> None:
    wiring, stages, unary = wired_letters(0, True, 5, False)

    def program(unary: jax.Array) -> jax.Array:
        return sweep_windows(wiring, (unary,), stages, 1)[0]

    lowered = jax.jit(program).trace(unary).lower(lowering_platforms=("cuda",))
    assert "sweep_windows" in lowered.as_text()


def windows(states: tuple[int, ...], grid: tuple[int, int], **settings_: object) -> FactorGraph:
    """A chain along which all factors send alike."""
    builder = GraphBuilder()
    for number, count in enumerate(states):
        builder.variables(f"v{number}", _ALIKE + 1, count)
    chain = np.stack([np.arange(_ALIKE), np.arange(_ALIKE) + 1], 1)
    builder.add("edge", Window.of(chain, grid=grid, radius=1, **settings_))  # type: ignore[arg-type]
    return builder.build()


OTHERS = {
    "no windows": loopy(np.random.default_rng(0))[0],
    "binary variables": windows((2,), (1, 2)),
    "variables beside them": windows((9, 4), (3, 3)),
    "with offsets": windows((9,), (3, 3), offset=(1, 0)),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_graphs_are_swept_by_stages(name: str) -> None:
    compiled = compile_graphs(OTHERS[name])
    assert not can_sweep(compiled.wiring, stages_of(compiled))


def test_graphs_of_windows_alone_are_not() -> None:
    compiled = compile_graphs(windows((9,), (3, 3)))
    assert can_sweep(compiled.wiring, stages_of(compiled))


def test_a_gpu_takes_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    wiring, stages, unary = wired_letters(1, True, 3, False)
    nothing = jnp.zeros((1, 0), unary.dtype)
    known = wiring, (nothing,), (unary,), stages, 1
    slow = by_stages.sweep_wired(*known)
    monkeypatch.setattr(by_stages, "on_one_gpu", lambda: True)
    asked = []

    def interpreted(*args: object) -> tuple[jax.Array, ...]:
        asked.append(args)
        return sweep_windows(*args, interpret=True)  # type: ignore[arg-type]

    monkeypatch.setattr(by_stages, "sweep_windows", interpreted)
    fast = by_stages.sweep_wired(*known)
    assert asked
    for one, other in zip(jax.tree.leaves(slow), jax.tree.leaves(fast), strict=True):
        np.testing.assert_array_equal(one, other)
