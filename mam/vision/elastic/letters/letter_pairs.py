r"""How well two candidates together explain an image.

With the pixels :math:`I_k` that candidate k covers and :math:`N_k` how often it does,

.. math::
    s(1, 2) = g\,|ON \cap (I_1 \cup I_2)| - l\,|OFF \cap (I_1 \cup I_2)|
        - m \sum_k (\textstyle\sum N_k - |I_k|) - o\,|I_1 \cap I_2|.

The paper's heuristic is g = 1, l = 0.89, m = o = 0.33. The whole table of pairs is one weighted
matrix product: the score of a union is the sum of both less that of the intersection.
"""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.either import UNTUNED, Values
from mam.core.padded import fitted


@dataclass(frozen=True)
class PairConfig:
    """Weights of pixels; learned on held-out rows of cABC, all levels together."""

    on: float = 1.0  # gain of a covered ON pixel
    off: float = 0.55  # loss of a covered OFF pixel; the paper: 0.89
    multiple: float = 0.06  # loss of covering a pixel again, by the same graph; the paper: 0.33
    shared: float = 0.05  # the same, by the other graph; the paper: 0.33


def pair_scores(
    place: Int[Values, "images n vertices 2"],
    there: Bool[Values, "images n vertices"],
    state: Int[Values, "images rows cols"],
    mask: Bool[np.ndarray, "side side"],
    config: PairConfig,
    stride: int = 1,
) -> tuple[Float[Values, "images n n"], Float[Values, "images n"]]:
    """Scores of pairs, and of each candidate alone; a pair with itself scores as it does alone.

    ``state`` is 1 for ON, -1 for OFF and 0 for unknown pixels. With a stride only every so many
    rows and columns are counted.
    """
    weights = np.array([config.on, config.off, config.multiple, config.shared], np.float32)
    offsets = offsets_of(mask)
    if isinstance(there, jax.Array):
        return _tables(place, there, state, weights, offsets, stride)
    # Sizes come in steps, so that few shapes are compiled.
    vertices = -(-int(there.sum(-1).max(initial=1)) // 64) * 64
    there = fitted(there, (*there.shape[:2], vertices))
    place = fitted(place, (*there.shape, 2))
    pairs, single = jax.device_get(_tables(place, there, state, weights, offsets, stride))
    return pairs, single


def offsets_of(mask: Bool[np.ndarray, "side side"]) -> tuple[tuple[int, int], ...]:
    """The pixels of a part, counted from its middle, as ``cover_counts`` wants them.

    >>> offsets_of(np.array([[0, 0, 0], [0, 1, 1], [0, 0, 0]], bool))
    ((0, 0), (0, 1))
    """
    return tuple((row, col) for row, col in (np.argwhere(mask) - len(mask) // 2).tolist())


@partial(jax.jit, static_argnames=("offsets", "stride"), compiler_options=UNTUNED)
def _tables(
    place: Array,
    there: Array,
    state: Array,
    weights: Array,
    offsets: tuple[tuple[int, int], ...],
    stride: int,
) -> tuple[Array, Array]:
    def one(image: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        place, there, state = image
        on, off, multiple, shared = weights * stride * stride
        counts = cover_counts(place, there, offsets, state.shape, stride)
        seen = state[::stride, ::stride].ravel()
        value = jnp.where(seen > 0, on, jnp.where(seen < 0, -off, 0.0))
        covered = (counts > 0).astype(jnp.float32)
        again = jnp.sum(counts, 1).astype(jnp.float32) - jnp.sum(covered, 1)
        exact = jax.lax.Precision.HIGHEST
        single = jnp.dot(covered, value, precision=exact) - multiple * again
        both = jnp.dot(covered * (value + shared), covered.T, precision=exact)
        own = jnp.eye(len(single), dtype=bool)
        return jnp.where(own, single, single[:, None] + single - both), single

    return jax.lax.map(one, (place, there, state))


@partial(jax.jit, static_argnames=("offsets", "shape", "stride"))
def cover_counts(
    place: Array,
    there: Array,
    offsets: tuple[tuple[int, int], ...],
    shape: tuple[int, ...],
    stride: int = 1,
) -> Int[Array, "candidates pixels"]:
    """How many vertices of each candidate cover each pixel (of every ``stride``-th row, column)."""
    rows, cols = (-(-n // stride) for n in shape)
    pixel = place[:, :, None].astype(jnp.int32) + np.array(offsets, np.int32)
    inside = jnp.all((pixel >= 0) & (pixel < np.array(shape, np.int32)), -1)
    inside &= jnp.all(pixel % stride == 0, -1) & there[:, :, None]
    pixel = pixel // stride
    flat = jnp.where(inside, pixel[..., 0] * cols + pixel[..., 1], rows * cols)
    number = jnp.arange(len(place), dtype=jnp.int32)[:, None, None]
    zeros = jnp.zeros((len(place), rows * cols), jnp.int16)
    return zeros.at[number, flat].add(jnp.int16(1), mode="drop")
