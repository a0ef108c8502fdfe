"""Batch norm whose running moments are plain arrays, handed in and out."""

from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

_EPSILON = 1e-3  # added to a variance
_KEPT = 0.9  # share of the old running moments after a batch


class Norm(eqx.Module):
    """What a batch norm learns; leading axes tell apart steps, and the norms of one step."""

    scale: Float[Array, "*norms channels"]
    offset: Float[Array, "*norms channels"]

    @classmethod
    def of(cls, *shape: int, scale: float | int = 1.0) -> "Norm":
        """Norms of a shape ``(*norms, channels)``."""
        return cls(jnp.full(shape, scale, jnp.float32), jnp.zeros(shape, jnp.float32))


class Moments(eqx.Module):
    """Running mean and variance, which a batch norm uses when it does not learn."""

    mean: Float[Array, "*norms channels"]
    variance: Float[Array, "*norms channels"]

    @classmethod
    def of(cls, norm: Norm) -> "Moments":
        """Moments from before the first batch."""
        return cls(jnp.zeros_like(norm.scale), jnp.ones_like(norm.scale))


_Tree = TypeVar("_Tree", Norm, Moments)


def pick(tree: _Tree, number: int) -> _Tree:
    """One of several norms, or its moments."""
    return jax.tree.map(lambda array: array[number], tree)


def stacked(moments: list[Moments]) -> Moments:
    """The moments of several norms along a new first axis."""
    return jax.tree.map(lambda *arrays: jnp.stack(arrays), *moments)


def normalise(
    values: Float[Array, "*batch channels"], norm: Norm, seen: Moments, learning: bool
) -> tuple[Float[Array, "*batch channels"], Moments]:
    """``scale (values - mean) / sqrt(variance + epsilon) + offset``, and the moments after that.

    Learning takes the moments of the batch itself and blends them into the running ones.

    >>> one = Norm.of(1)
    >>> normalise(jnp.array([[1.0], [3.0]]), one, Moments.of(one), True)[0].round(2).tolist()
    [[-1.0], [1.0]]
    """
    if learning:
        axes = tuple(range(values.ndim - 1))
        used = Moments(values.mean(axes), values.var(axes))
        seen = jax.tree.map(
            lambda old, new: _KEPT * old + (1 - _KEPT) * jax.lax.stop_gradient(new), seen, used
        )
    else:
        used = seen
    factor = norm.scale * jax.lax.rsqrt(used.variance + _EPSILON)
    return (values - used.mean) * factor + norm.offset, seen
