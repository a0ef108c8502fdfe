"""The largest value within a distance, both ways of computing it against scipy."""

import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from mam.factors import reach as module


@pytest.mark.parametrize("form", ["reach", "_by_steps", "_at_once"])
@pytest.mark.parametrize("grid", [(5, 5), (1, 4), (7, 3)])
@given(seed=st.integers(0, 10_000))
def test_reach_is_a_maximum_filter(form: str, grid: tuple[int, int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-9, 9, (4, *grid)).astype(np.float32)
    most = max(grid) if form == "reach" else max(grid) - 1
    radius = rng.integers(0, most + 1, 4).astype(np.int32)
    found = getattr(module, form)(jnp.asarray(values), jnp.asarray(radius))
    for got, own, near in zip(np.asarray(found), values, radius, strict=True):
        slow = ndimage.maximum_filter(own, 2 * int(near) + 1, mode="constant", cval=-np.inf)
        np.testing.assert_array_equal(got, slow)
