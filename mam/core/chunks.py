"""Many terms without room for all of them: one is made at a time and taken into the total."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array


def accumulate(
    term: Callable[[Any], Array],
    items: Any,
    start: Array,
    combine: Callable[[Array, Array], Array] = jnp.add,
) -> Array:
    """Combine ``start`` with the term of each item, in order; to be used in compiled functions.

    ``items`` is an array, or several of the same length: an item is one entry of each. Memory is
    that of the total and of one term.

    >>> accumulate(lambda n: n * jnp.ones(2), jnp.arange(4.0), jnp.zeros(2)).tolist()
    [6.0, 6.0]
    """
    return jax.lax.scan(lambda total, item: (combine(total, term(item)), None), start, items)[0]
