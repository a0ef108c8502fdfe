"""Reductions shared by the factors, at any temperature.

At temperature T the soft maximum of x is T log sum exp(x / T); T = 0 is the maximum, T = 1 the
log-sum-exp of sum-product. Sums and reductions that leave one entry out never subtract it: next to
the stand-in for infinity a subtraction would lose every digit.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float

from mam.factors.base import Temperature
from mam.factors.numeric_limits import limit

# Up to here running sums are unrolled, which XLA fuses; beyond, a scan is shorter.
_UNROLL = 8


def is_zero(temperature: Temperature) -> bool:
    """Whether the temperature is the Python number zero, so that maxima can be compiled in."""
    return isinstance(temperature, int | float) and temperature == 0


def soft_maximum(x: Array, axis: int, temperature: Temperature) -> Array:
    """Return T log sum exp(x / T) along an axis.

    >>> float(soft_maximum(jnp.array([1.0, 3.0]), 0, 0))
    3.0
    """
    if is_zero(temperature):
        return jnp.max(x, axis)
    return temperature * jax.nn.logsumexp(x / temperature, axis)


def soft_pair(a: Array, b: Array, temperature: Temperature) -> Array:
    """Return the soft maximum of two arrays, entry by entry."""
    if is_zero(temperature):
        return jnp.maximum(a, b)
    return temperature * jnp.logaddexp(a / temperature, b / temperature)


def top_two(x: Float[Array, "*rows n"]) -> tuple[Array, Array]:
    """Return the largest and the second largest entry of each row; at a tie they are equal.

    Written with x < first throughout: XLA turns that into fast passes on CPU, whereas the same
    with x == first or an argmax takes two to three times as long.

    >>> [v.tolist() for v in top_two(jnp.array([[1.0, 3.0, 2.0], [4.0, 4.0, 0.0]]))]
    [[3.0, 4.0], [2.0, 4.0]]
    """
    first = jnp.max(x, -1)
    below = x < first[..., None]
    second = jnp.max(jnp.where(below, x, -limit(x.dtype)), -1)
    tops = jnp.sum(jnp.where(below, 0.0, 1.0).astype(x.dtype), -1)
    return first, jnp.where(tops > 1, first, second)


def first_best(x: Float[Array, "*rows n"]) -> Bool[Array, "*rows n"]:
    """Return where the largest entry of each row stands, the first of equal ones.

    >>> first_best(jnp.array([[1.0, 3.0, 3.0]])).tolist()
    [[False, True, False]]
    """
    return jnp.arange(x.shape[-1]) == jnp.argmax(x, -1, keepdims=True)


def leave_one_out(x: Float[Array, "*rows n"], temperature: Temperature) -> tuple[Array, Array]:
    """Return the soft maximum of each row, and for each entry that of the others in its row.

    >>> total, others = leave_one_out(jnp.array([[1.0, 3.0, 2.0]]), 0)
    >>> others.tolist()
    [[3.0, 2.0, 3.0]]
    """
    first, second = (values[..., None] for values in top_two(x))
    below = x < first
    if is_zero(temperature):
        return first[..., 0], jnp.where(below, first, second)
    total = soft_maximum(x, -1, temperature)
    # An entry that is not alone at the top holds at most half of the total: no cancellation.
    alone = ~below & (second < first)
    share = jnp.where(alone, -1.0, (x - total[..., None]) / temperature)
    rest = total[..., None] + temperature * jnp.log1p(-jnp.exp(share))
    without = soft_maximum(jnp.where(below, x, -limit(x.dtype)), -1, temperature)[..., None]
    return total, jnp.where(alone, without, rest)


def free_and_slack(
    parents: Float[Array, "*rows n"], temperature: Temperature
) -> tuple[Array, Array, Array, Array]:
    """Return ``free`` and ``slack`` of all binary variables of a row, and of all but each one.

    ``free`` is the best score of any states, from messages ON less OFF; ``slack`` <= 0 is what it
    costs to have at least one ON.

    >>> [float(v[0]) for v in free_and_slack(jnp.array([[-1.0, -3.0]]), 0)[:2]]
    [0.0, -1.0]
    """
    if is_zero(temperature):
        top, second = top_two(parents)
        gain = jnp.maximum(parents, 0.0)
        free = jnp.sum(gain, -1)
        # Only the largest gain can dwarf the rest; without it the rest is summed afresh.
        below = parents < top[:, None]
        rest = jnp.sum(jnp.where(below, gain, 0.0), -1)
        without_top = jnp.where(second < top, rest, free - jnp.maximum(top, 0.0))
        free_others = jnp.where(below, free[:, None] - gain, without_top[:, None])
        top_others = jnp.where(below, top[:, None], second[:, None])
        return free, jnp.minimum(top, 0.0), free_others, jnp.minimum(top_others, 0.0)
    # log of the sum over parents of softplus(m / T): its exponential is log prod (1 + e^(m / T)).
    z = parents / temperature
    log_gain = jnp.where(z < -15.0, z, jnp.log(jax.nn.softplus(jnp.maximum(z, -15.0))))
    # In units of scores, so that the stand-in for "no others" is that of messages.
    total, others = (x / temperature for x in leave_one_out(temperature * log_gain, temperature))
    return (
        temperature * jnp.exp(total),
        temperature * _log_one_minus_exp(total),
        temperature * jnp.exp(others),
        temperature * _log_one_minus_exp(others),
    )


def _log_one_minus_exp(log_gain: Array) -> Array:
    """Return log(1 - exp(-L)) for L = exp(log_gain), exact for tiny L too."""
    gain = jnp.exp(jnp.minimum(log_gain, 5.0))
    safe = jnp.where(gain > 1e-4, gain, 1.0)
    return jnp.where(gain > 1e-4, jnp.log(-jnp.expm1(-safe)), log_gain - gain / 2)


def sum_of_others(x: Float[Array, "*rows n"]) -> Float[Array, "*rows n"]:
    """Return for each entry the sum of the other entries of its row, by sums from both sides.

    >>> sum_of_others(jnp.array([1.0, 10.0, 100.0])).tolist()
    [110.0, 101.0, 11.0]
    """
    count = x.shape[-1]
    if count > _UNROLL:
        zero = jnp.zeros((*x.shape[:-1], 1), x.dtype)
        before = jnp.concatenate([zero, jnp.cumsum(x[..., :-1], -1)], -1)
        after = jnp.concatenate([jnp.cumsum(x[..., :0:-1], -1)[..., ::-1], zero], -1)
        return before + after
    before = [jnp.zeros_like(x[..., 0])]
    after = [jnp.zeros_like(x[..., 0])]
    for i in range(count - 1):
        before.append(before[-1] + x[..., i])
        after.append(after[-1] + x[..., count - 1 - i])
    return jnp.stack([b + a for b, a in zip(before, after[::-1], strict=True)], -1)


def sliding(x: Array, axis: int, width: int, join: Callable[[Array, Array], Array]) -> Array:
    """Join every run of ``width`` neighbours along an axis, in about log2(width) steps.

    A run is cut into blocks of 2^k entries, one for each bit of the width, so each entry is used
    once: ``join`` may be a sum as well as a maximum.

    >>> sliding(jnp.arange(5.0), 0, 3, jnp.add).tolist()
    [3.0, 6.0, 9.0]
    """
    length = x.shape[axis] - width + 1
    result, done, block, blocks = None, 0, 1, x
    while True:
        if width & block:
            piece = jax.lax.slice_in_dim(blocks, done, done + length, axis=axis)
            result = piece if result is None else join(result, piece)
            done += block
        if done == width:
            assert result is not None
            return result
        size = blocks.shape[axis]
        blocks = join(
            jax.lax.slice_in_dim(blocks, 0, size - block, axis=axis),
            jax.lax.slice_in_dim(blocks, block, size, axis=axis),
        )
        block *= 2


def as_scores(message: Array, states: int) -> Array:
    """Return a message as one score per state: a binary one is score(ON) - score(OFF)."""
    return jnp.stack([jnp.zeros_like(message), message], -1) if states == 2 else message


def as_message(scores: Array, states: int) -> Array:
    """Return scores per state as a message: one number if binary, else with maximum 0."""
    if states == 2:
        return scores[..., 1] - scores[..., 0]
    return scores - jnp.max(scores, -1, keepdims=True)


def finite(potentials: Array) -> Array:
    """Replace -inf by its stand-in, so that messages stay finite."""
    return jnp.maximum(potentials, jnp.asarray(-limit(potentials.dtype), potentials.dtype))


def pick(potentials: Float[Array, "rows width"], row: Array) -> Array:
    """Return the row of potentials of each factor; a single shared row is broadcast."""
    return potentials if potentials.shape[0] == 1 else potentials[row]


def every_configuration(states: tuple[int, ...]) -> np.ndarray:
    """Return all joint states, the last variable changing fastest.

    >>> every_configuration((2, 2)).tolist()
    [[0, 0], [0, 1], [1, 0], [1, 1]]
    """
    grid = np.indices(states).reshape(len(states), int(np.prod(states)))
    return np.ascontiguousarray(grid.T)
