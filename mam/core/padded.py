"""Reading arrays by lists of indices that are padded."""

import numpy as np
from jaxtyping import Array

PAST = np.iinfo(np.int32).max  # an index past the end of any array: padding


def take(values: Array, index: Array | tuple[Array, ...], fill: float | int | bool) -> Array:
    """Read entries of an array; an index past its end reads ``fill``."""
    return values.at[index].get(mode="fill", fill_value=fill)
