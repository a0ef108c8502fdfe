"""The largest value within a distance on a grid, for many grids with a distance each.

The distance is the larger one of rows and columns, so rows can go first and columns after them.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from mam.core.devices import by_device
from mam.factors.reduce import sliding


def reach(
    values: Float[Array, "grids rows cols"], radius: Int[Array, " grids"]
) -> Float[Array, "grids rows cols"]:
    """Return at each place the maximum over places within the grid's radius.

    A core is fastest in few steps over what is in its cache, an accelerator in one kernel an axis.

    >>> reach(jnp.array([[[0.0, 1.0, 0.0, 5.0]]]), jnp.array([1])).tolist()
    [[[1.0, 1.0, 5.0, 5.0]]]
    """
    near = jnp.minimum(radius, max(values.shape[1:]) - 1)
    return by_device(_by_steps, _at_once)(values, near)


def _at_once(values: Array, radius: Array) -> Array:
    """One kernel an axis, which looks at all places within the radius."""
    near = radius[:, None, None]
    for axis in (1, 2):
        size = values.shape[axis]
        padded, best = _padded(values, size, axis), values
        for away in range(1, size):
            sides = (
                jax.lax.slice_in_dim(padded, start, start + size, axis=axis)
                for start in (size - away, size + away)
            )
            best = jnp.where(away <= near, jnp.maximum(best, jnp.maximum(*sides)), best)
        values = best
    return values


def _by_steps(values: Array, radius: Array) -> Array:
    """Widened by 1, 2, 4 ... where the radius has those bits."""
    step = 1
    while step < max(values.shape[1:]):
        wanted = (radius & step) > 0

        def widen(values: Array, step: int = step, wanted: Array = wanted) -> Array:
            wide = _slide(_slide(values, step, 1), step, 2)
            return jnp.where(wanted[:, None, None], wide, values)

        # Most radii are small.
        values = jax.lax.cond(jnp.any(wanted), widen, lambda values: values, values)
        step *= 2
    return values


def _slide(values: Array, step: int, axis: int) -> Array:
    return sliding(_padded(values, step, axis), axis, 2 * step + 1, jnp.maximum)


def _padded(values: Array, width: int, axis: int) -> Array:
    pad = [(0, 0)] * 3
    pad[axis] = (width, width)
    return jnp.pad(values, pad, constant_values=-jnp.inf)
