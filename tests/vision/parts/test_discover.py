"""The dense discovery is the generic engine on the same graph."""

import jax.numpy as jnp
import numpy as np
import pytest

from mam.factors import And, Or
from mam.graph import FactorGraph, GraphBuilder, compile_graphs
from mam.infer import propagate
from mam.infer.loop import run_fixed
from mam.vision.parts.discover import Discovery, discover, to_pixels, to_positions

SIDE, TYPES, WINDOWS, SIZE = 3, 2, 2, 5
POSITIONS = SIZE - SIDE + 1


def wired() -> FactorGraph:
    """The model of :mod:`mam.vision.parts.discover`, factor by factor."""
    builder = GraphBuilder()
    shape = (WINDOWS, POSITIONS, POSITIONS, SIDE * SIDE, TYPES)
    placement = builder.variables("placement", (*shape[:3], TYPES))
    weight = builder.variables("weight", shape[3:])
    lit = builder.variables("lit", shape)
    pixel = builder.variables("pixel", (WINDOWS, SIZE, SIZE))
    inputs = np.stack(np.broadcast_arrays(placement[:, :, :, None, :], weight), -1)
    builder.add("and", And.of(inputs.reshape(-1, 2), lit.ravel()))
    parents: dict[int, list[int]] = {int(y): [] for y in pixel.ravel()}
    for n, r, c, k, t in np.ndindex(shape):
        parents[int(pixel[n, r + k // SIDE, c + k % SIDE])].append(int(lit[n, r, c, k, t]))
    builder.add("or", Or.of(list(parents.values()), list(parents)))
    return builder.build()


def solver(seed: int) -> Discovery:
    rng = np.random.default_rng(seed)
    image = rng.random((WINDOWS, SIZE, SIZE)) < 0.5
    return Discovery(
        jnp.asarray(np.where(image, 6.0, -2.5), jnp.float32),
        jnp.float32(-4.0),
        jnp.asarray(rng.logistic(size=(SIDE**2, TYPES)), jnp.float32),
        jnp.float32(0.5),
        jnp.float32(1e-4),
        side=SIDE,
    )


@pytest.mark.parametrize("iterations", [1, 5, 12])
def test_beliefs_equal_the_generic_engine(iterations: int) -> None:
    dense = solver(iterations)
    found = dense.beliefs(run_fixed(dense, dense.init(), iterations))
    prior = jnp.full((WINDOWS, POSITIONS, POSITIONS, TYPES), -4.0, jnp.float32)
    evidence = {"placement": prior, "weight": dense.weight_prior, "pixel": dense.evidence}
    wanted = propagate(compile_graphs(wired()), evidence, iterations=iterations, damping=0.5)
    np.testing.assert_allclose(found.placements, wanted["placement"], rtol=1e-4, atol=1e-3)
    np.testing.assert_allclose(found.weights, wanted["weight"], rtol=1e-4, atol=1e-3)
    if iterations > 1:
        assert np.abs(found.weights - dense.weight_prior).max() > 1


def test_pixels_and_positions() -> None:
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(2, 3, 4, 9, 2)), jnp.float32)
    y = to_pixels(x, 3)
    assert y.shape == (2, 5, 6, 9, 2)
    np.testing.assert_array_equal(to_positions(y, 3), x)
    np.testing.assert_array_equal(y[0, 3, 4, 5], x[0, 3 - 1, 4 - 2, 5])
    assert float(y[0, 0, 0, 1:].max()) == float(y.min())  # no patch reaches so far: never ON


def test_a_shape_is_discovered() -> None:
    """One cross in every window, at another place each time."""
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], bool)
    windows = np.zeros((6, 7, 7), bool)
    for n, (row, col) in enumerate([(0, 1), (2, 3), (4, 4), (1, 0), (3, 2), (2, 1)]):
        windows[n, row : row + 3, col : col + 3] = cross
    rng = np.random.default_rng(1)
    beliefs, rests = discover(
        Discovery(
            jnp.asarray(np.where(windows, 6.2, -2.7), jnp.float32),
            jnp.float32(-10.0),
            jnp.asarray(rng.logistic(size=(9, 1)), jnp.float32),
            jnp.float32(0.5),
            jnp.float32(1e-3),
            side=3,
        ),
        jnp.int32(200),
    )
    assert bool(rests)
    np.testing.assert_array_equal(np.asarray(beliefs.weights > 0).reshape(3, 3), cross)
    assert np.asarray(beliefs.placements > 0).sum((1, 2, 3)).tolist() == [1] * 6
