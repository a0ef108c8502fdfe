"""Batch norm whose moments are plain arrays, handed in and out."""

from collections.abc import Sequence
from typing import TypeVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

_EPSILON = 1e-3  # added to a variance


class Norm(eqx.Module):
    """What a batch norm learns; leading axes tell apart steps, and the norms of one step."""

    scale: Float[Array, "*norms channels"]
    offset: Float[Array, "*norms channels"]

    @classmethod
    def of(cls, *shape: int, scale: float | int = 1.0) -> "Norm":
        """Norms of a shape ``(*norms, channels)``."""
        return cls(jnp.full(shape, scale, jnp.float32), jnp.zeros(shape, jnp.float32))


class Moments(eqx.Module):
    """Mean and variance, which a batch norm uses when it does not learn."""

    mean: Float[Array, "*norms channels"]
    variance: Float[Array, "*norms channels"]

    @classmethod
    def of(cls, norm: Norm) -> "Moments":
        """Moments of nothing: 0 and 1, in the form that those of ``norm`` have."""
        return cls(jnp.zeros_like(norm.scale), jnp.ones_like(norm.scale))


_Tree = TypeVar("_Tree", Norm, Moments)


def pick(tree: _Tree, number: int) -> _Tree:
    """One of several norms, or its moments."""
    return jax.tree.map(lambda array: array[number], tree)


def pooled(parts: Sequence[Moments]) -> Moments:
    """The moments of several batches of one size, taken together.

    >>> one, two = (Moments(jnp.array([at]), jnp.array([1.0])) for at in (0.0, 4.0))
    >>> together = pooled([one, two])
    >>> together.mean.tolist(), together.variance.tolist()
    ([2.0], [5.0])
    """
    means = jnp.stack([part.mean for part in parts])
    within = jnp.stack([part.variance for part in parts]).mean(0)
    return Moments(means.mean(0), within + means.var(0))


def stacked(moments: list[Moments]) -> Moments:
    """The moments of several norms along a new first axis."""
    return jax.tree.map(lambda *arrays: jnp.stack(arrays), *moments)


def normalise(
    values: Float[Array, "*batch channels"], norm: Norm, seen: Moments, learning: bool
) -> tuple[Float[Array, "*batch channels"], Moments]:
    """``scale (values - mean) / sqrt(variance + epsilon) + offset``, and the moments in it.

    These are ``seen``; in learning those of the batch itself.

    >>> one = Norm.of(1)
    >>> normalise(jnp.array([[1.0], [3.0]]), one, Moments.of(one), True)[0].round(2).tolist()
    [[-1.0], [1.0]]
    """
    if learning:
        axes = tuple(range(values.ndim - 1))
        seen = Moments(values.mean(axes), values.var(axes))
    factor = norm.scale * jax.lax.rsqrt(seen.variance + _EPSILON)
    return (values - seen.mean) * factor + norm.offset, seen
