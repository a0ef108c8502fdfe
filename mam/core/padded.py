"""Arrays that are padded to larger shapes, and reading them by lists of indices that are padded."""

import numpy as np
from jaxtyping import Array, Shaped

PAST = np.iinfo(np.int32).max  # an index past the end of any array: padding


def take(values: Array, index: Array | tuple[Array, ...], fill: float | int | bool) -> Array:
    """Read entries of an array; an index past its end reads ``fill``."""
    return values.at[index].get(mode="fill", fill_value=fill)


def fitted(values: Shaped[np.ndarray, "..."], shape: tuple[int, ...]) -> Shaped[np.ndarray, "..."]:
    """Cut an array to a shape, or pad it with zeros, along every axis.

    >>> fitted(np.ones((2, 2), int), (1, 3)).tolist()
    [[1, 1, 0]]
    """
    found = np.zeros(shape, values.dtype)
    part = tuple(slice(min(a, b)) for a, b in zip(values.shape, shape, strict=True))
    found[part] = values[part]
    return found
