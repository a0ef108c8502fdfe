"""The networks: their equations, their sizes."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from bench.rivals import kernel_weights
from mam.rivals.convnext import ConvNext
from mam.rivals.fgru import Fgru
from mam.rivals.hcnn import Hcnn
from mam.rivals.network_layers import Readout, Stem, enlarge, kernel_of
from mam.rivals.networks import network_of, parameter_count
from mam.rivals.norm import Moments, Norm, normalise, pick, pooled
from mam.rivals.resnet import ResNet
from mam.rivals.tdhcnn import TdHcnn
from tests.oracles.fgru import EPSILON, convolved, fgru, relu

CHANNELS, STEPS = 3, 2


def _random(tree, seed: int):
    """The same tree with other numbers, so that none is 0 or 1 by chance of a start."""
    leaves, form = jax.tree.flatten(tree)
    rng = np.random.default_rng(seed)
    made = [
        jnp.asarray(rng.uniform(0.2, 1.0, leaf.shape), jnp.float32)
        if hasattr(leaf, "shape")
        else leaf
        for leaf in leaves
    ]
    return jax.tree.unflatten(form, made)


def _weights(cell: Fgru) -> dict[str, np.ndarray]:
    names = {
        "U1": cell.first_gate,
        "U2": cell.second_gate,
        "Winh": cell.inhibition,
        "Wexc": cell.excitation,
        "b1": cell.first_bias,
        "b2": cell.second_bias,
        "scale": cell.norms.scale,
        "offset": cell.norms.offset,
    }
    names |= {name: getattr(cell, name) for name in ("alpha", "mu", "gamma", "kappa", "omega")}
    return {name: np.asarray(array, np.float64) for name, array in names.items()}


@pytest.mark.parametrize("learning", [True, False])
@pytest.mark.parametrize("side", [1, 5])
def test_an_fgru_follows_its_equations(learning: bool, side: int) -> None:
    cell = _random(Fgru.of(jax.random.key(0), CHANNELS, side, STEPS), side)
    cell = jax.tree.map(lambda array: array - 0.5 if array.ndim == 4 else array, cell)
    seen = _random(Moments.of(cell.norms), 7)
    rng = np.random.default_rng(3)
    x, h = rng.normal(size=(2, 2, 6, 6, CHANNELS)).astype(np.float32)
    slow, fast = np.abs(h).astype(np.float64), jnp.abs(jnp.asarray(h))
    known = None if learning else jax.tree.map(np.asarray, {"mean": seen.mean})
    if known is not None:
        known["variance"] = np.asarray(seen.variance)
    for t in range(STEPS):
        slow = fgru(_weights(cell), x, slow, t, known)
        fast, after = cell.step(
            jnp.asarray(x), fast, pick(cell.norms, t), pick(seen, t), learning=learning
        )
        np.testing.assert_allclose(fast, slow, rtol=2e-4, atol=2e-5)
        changed = not np.allclose(after.mean, seen.mean[t])
        assert changed == learning


def test_moments_of_batches_pool_to_those_of_all_values() -> None:
    values = np.random.default_rng(0).normal(3, 2, (5, 10, 4)).astype(np.float32)
    values += np.arange(5, dtype=np.float32)[:, None, None]
    norm = Norm.of(4)
    seen = Moments.of(norm)
    both = pooled([normalise(jnp.asarray(part), norm, seen, learning=True)[1] for part in values])
    together = jnp.asarray(values.reshape(-1, 4))
    out, whole = normalise(together, norm, seen, learning=True)
    np.testing.assert_allclose(both.mean, values.mean((0, 1)), rtol=1e-5)
    np.testing.assert_allclose(both.variance, values.var((0, 1)), rtol=1e-5)
    again, same = normalise(together, norm, whole, learning=False)
    np.testing.assert_array_equal(again, out)
    assert same is whole


def test_stem_and_readout_follow_their_equations() -> None:
    stem, readout = _random((Stem.of(jax.random.key(0), 3), Readout.of(jax.random.key(1), 3)), 5)
    images = np.random.default_rng(1).uniform(size=(2, 8, 8)).astype(np.float32)
    known = _random((Moments.of(stem.norm), readout.moments()), 6)
    fast, _ = stem(jnp.asarray(images), known[0], learning=False)
    maps = relu(convolved(images[..., None], np.asarray(stem.first)) + np.asarray(stem.bias))
    maps = maps.reshape(2, 4, 2, 4, 2, 3).max((2, 4))

    def bn(values: np.ndarray, norm: Norm, seen: Moments) -> np.ndarray:
        spread = np.sqrt(np.asarray(seen.variance) + EPSILON)
        return norm.scale * (values - seen.mean) / spread + norm.offset

    maps = bn(convolved(maps, np.asarray(stem.second)), stem.norm, known[0])
    np.testing.assert_allclose(fast, maps, rtol=1e-4)
    logits, _ = readout(fast, known[1], learning=False)
    maps = bn(maps, readout.norm, known[1]["norm"])
    largest = (convolved(maps, np.asarray(readout.kernel)) + np.asarray(readout.bias)).max((1, 2))
    largest = bn(largest, readout.top, known[1]["top"])
    np.testing.assert_allclose(logits, largest @ readout.weights + readout.shift, rtol=1e-4)


@pytest.mark.parametrize(
    ("name", "kernels", "parameters"),
    [
        ("h-cnn", 201_420, 202_949),
        ("td-h-cnn", 700_300, 720_849),
        ("convnext", 39_888, 200_185),
        ("resnet", 192_792, 193_969),
    ],
)
def test_sizes(name: str, kernels: int, parameters: int) -> None:
    network = eqx.filter_eval_shape(network_of, name, 0, 160)
    assert kernel_weights(network) == kernels
    assert parameter_count(network) == parameters


def test_gates_start_by_how_long_they_remember() -> None:
    cell = Fgru.of(jax.random.key(0), 50, 1, 8)
    assert (
        -np.log(7) <= float(cell.first_bias.min()) < -1 < -0.2 < float(cell.first_bias.max()) <= 0
    )
    np.testing.assert_array_equal(cell.second_bias, -cell.first_bias)
    assert cell.norms.scale.shape == (8, 4, 50) and (cell.norms.scale == np.float32(0.1)).all()


SMALL = {
    "h-cnn": lambda key: Hcnn.of(key, kernel=3, steps=2),
    "td-h-cnn": lambda key: TdHcnn.of(key, kernel=3, steps=2),
    "convnext": ConvNext.of,
    "resnet": ResNet.of,
}


@pytest.mark.parametrize("name", SMALL)
def test_one_logit_an_image_and_moments_keep_their_form(name: str) -> None:
    network = _random(eqx.filter_eval_shape(SMALL[name], jax.random.key(0)), 2)
    images = jax.random.uniform(jax.random.key(1), (3, 16, 16))
    run = jax.jit(lambda images, seen: network(images, seen, learning=True))
    logits, after = run(images, network.moments())
    assert logits.shape == (3,) and np.isfinite(logits).all()
    assert jax.tree.map(jnp.shape, after) == jax.tree.map(jnp.shape, network.moments())


def test_a_loop_of_steps_is_as_good_as_steps_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    network = SMALL["h-cnn"](jax.random.key(0))
    images = jax.random.uniform(jax.random.key(1), (3, 16, 16))

    def outcome() -> list[np.ndarray]:
        def total(network: Hcnn) -> tuple[jax.Array, dict]:
            logits, after = network(images, network.moments(), learning=True)
            return (logits * jnp.arange(3.0)).sum(), after

        found = jax.jit(jax.value_and_grad(total, has_aux=True))(network)
        return [np.asarray(leaf) for leaf in jax.tree.leaves(found)]

    unrolled = outcome()
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    for one, other in zip(unrolled, outcome(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_answers_do_not_depend_on_the_batch() -> None:
    network = SMALL["h-cnn"](jax.random.key(0))
    images = jax.random.uniform(jax.random.key(1), (4, 16, 16))
    run = jax.jit(lambda images: network(images, network.moments(), learning=False)[0])
    together = run(images)
    apart = [run(jnp.repeat(image[None], 4, 0))[0] for image in images]
    np.testing.assert_allclose(together, apart, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["h-cnn", "td-h-cnn"])
def test_every_parameter_matters_but_the_biases_that_batch_norm_takes_away(name: str) -> None:
    network = _random(eqx.filter_eval_shape(SMALL[name], jax.random.key(0)), 2)
    # Kernels of both signs: with positive ones alone everything is excited.
    network = jax.tree.map(lambda a: a - 0.6 if eqx.is_array(a) and a.ndim == 4 else a, network)
    images = jax.random.uniform(jax.random.key(1), (4, 16, 16))

    @eqx.filter_grad
    def slope(network: eqx.Module) -> jax.Array:
        logits, _ = network(images, network.moments(), learning=True)
        return (logits**2 * jnp.arange(4.0)).sum()

    found = jax.tree_util.tree_leaves_with_path(eqx.filter_jit(slope)(network))
    largest = {jax.tree_util.keystr(path): float(jnp.abs(leaf).max()) for path, leaf in found}
    still = {place for place, most in largest.items() if most < 1e-4}
    cells = [".cell"] if name == "h-cnn" else [".cell", ".high", ".merge"]
    expected = {f"{cell}.{which}_bias" for cell in cells for which in ("first", "second")}
    assert still == expected | {".readout.norm.offset", ".readout.bias"}


def test_transposed_convolutions_double_the_size() -> None:
    maps = jnp.ones((1, 3, 3, 2))
    assert enlarge(maps, kernel_of(jax.random.key(0), 4, 2, 5)).shape == (1, 6, 6, 5)


def test_sides_and_names() -> None:
    with pytest.raises(ValueError, match="--side 100: it must be a multiple of 16"):
        network_of("h-cnn", 0, 100)
    with pytest.raises(ValueError, match="vit: no such rival; known are h-cnn"):
        network_of("vit", 0, 160)
