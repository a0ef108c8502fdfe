"""Sums over squares of pixels, in the smallest integers that hold them: small ones are fast."""

import numpy as np
from jaxtyping import Bool, Shaped, UInt8


def box_sums(
    values: Bool[np.ndarray, "rows cols"] | UInt8[np.ndarray, "rows cols"], side: int
) -> Shaped[np.ndarray, "lower narrower"]:
    """The sum of every square of ``side`` x ``side`` pixels that lies inside.

    >>> box_sums(np.eye(4, dtype=bool), 2).tolist()
    [[2, 1, 0], [1, 2, 1], [0, 1, 2]]
    """
    largest = 1 if values.dtype == bool else 255
    whole = values.astype(np.min_scalar_type(largest * side * side))
    rows, cols = (max(length - side + 1, 0) for length in whole.shape)
    tall, sums = np.zeros((rows, whole.shape[1]), whole.dtype), np.zeros((rows, cols), whole.dtype)
    for step in range(side):
        tall += whole[step : step + rows]
    for step in range(side):
        sums += tall[:, step : step + cols]
    return sums
