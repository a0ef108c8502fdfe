"""Edges of photographs: against scipy, and as pictures turn."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from mam.show.objects import draw_edges
from mam.vision.images.photo_edges import TYPES, as_channels, edge_responses, find_edges


def smooth(seed: int, channels: int = 3, side: int = 24) -> np.ndarray:
    noise = np.random.default_rng(seed).normal(size=(channels, side, side))
    return ndimage.gaussian_filter(noise, (0, 2, 2)).astype(np.float32)


@given(st.integers(0, 1000))
def test_responses_are_those_of_derivatives_of_gaussians(seed: int) -> None:
    channels = smooth(seed)
    found = np.asarray(edge_responses(jnp.asarray(channels)))
    down, right = (
        ndimage.gaussian_filter(channels, (0, 1, 1), order=order, mode="nearest")
        for order in ((0, 1, 0), (0, 0, 1))
    )
    for kind in range(TYPES):
        angle = 2 * np.pi * kind / TYPES
        expected = (np.cos(angle) * right + np.sin(angle) * down).max(0)
        np.testing.assert_allclose(found[kind], expected, atol=1e-4)


@given(st.integers(0, 1000))
def test_edges_turn_with_the_picture(seed: int) -> None:
    channels = smooth(seed, channels=1)
    upright = find_edges(channels)
    turned = find_edges(np.ascontiguousarray(np.rot90(channels, axes=(1, 2))))
    strong = np.asarray(upright.strength) > 1e-3
    alike = np.isclose(turned.strength, np.rot90(upright.strength), atol=1e-5)
    assert alike.mean() > 0.99  # of two neighbours alike either may be the ridge
    # A quarter against the clock: what pointed along +x points along -y.
    back = (np.rot90(np.asarray(upright.type)) - TYPES // 4) % TYPES
    away = (np.asarray(turned.type) - back) % TYPES
    assert np.isin(away[np.rot90(strong)], [0]).mean() > 0.98  # ties of two directions


@pytest.mark.parametrize("kind", range(TYPES))
def test_a_straight_edge_has_its_direction_and_is_thin(kind: int) -> None:
    angle = 2 * np.pi * kind / TYPES
    grid = np.arange(31) - 15.2
    across = np.cos(angle) * grid + np.sin(angle) * grid[:, None]
    found = find_edges((np.clip(across, -0.5, 0.5) + 0.5).astype(np.float32)[None])
    middle = np.asarray(found.strength)[8:23, 8:23]
    edge = middle > 0.05
    assert set(np.asarray(found.type)[8:23, 8:23][edge].tolist()) == {kind}
    assert 13 <= edge.sum() <= 30  # a px a row or column, two of them on diagonals
    assert (np.abs(across[8:23, 8:23][edge]) < 1.1).all()


def test_the_strongest_channel_counts_and_depth_is_one() -> None:
    image = np.zeros((20, 20, 3), np.uint8)
    image[:, 10:, 1] = 200
    both = find_edges(as_channels(image))
    alone = find_edges(as_channels(image[..., 1]))
    np.testing.assert_array_equal(both.strength, alone.strength)
    depth = np.zeros((20, 20))
    depth[10:] = 1.0
    deep = find_edges(as_channels(image, depth))
    assert int(deep.type[9, 3]) == 4 and float(deep.strength[9, 3]) > 0.1
    assert float(both.strength[9, 3]) == 0.0


def test_a_blank_picture_has_no_edges() -> None:
    found = find_edges(as_channels(np.full((12, 15, 3), 90, np.uint8)))
    assert not found.strength.any()
    assert not draw_edges(np.asarray(found.strength), np.asarray(found.type)).any()


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((4, 4, 2), np.uint8), "give rows x columns"),
        (np.zeros((2, 9), np.uint8), "too few for edges"),
        (np.full((4, 4), np.nan), "not a picture"),
    ],
)
def test_what_is_no_picture_is_refused(image: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        as_channels(image)


def test_depth_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="its depth has shape"):
        as_channels(np.zeros((4, 4), np.uint8), np.zeros((4, 5)))
    assert as_channels(np.zeros((4, 4), np.uint16)).dtype == jnp.float32
