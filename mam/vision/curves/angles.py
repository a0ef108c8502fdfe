"""Angles between directions of a picture: rows down, columns to the right."""

import numpy as np
from jaxtyping import Float


def cross(
    one: Float[np.ndarray, "*batch 2"], other: Float[np.ndarray, "*batch 2"]
) -> Float[np.ndarray, "*batch"]:
    """The area that two vectors span, above 0 where the second turns rows to columns.

    >>> cross(np.array([2.0, 0.0]), np.array([1.0, 3.0])).item()
    6.0
    """
    return np.asarray(one[..., 0] * other[..., 1] - one[..., 1] * other[..., 0])


def turn_between(
    one: Float[np.ndarray, "*batch 2"], other: Float[np.ndarray, "*batch 2"]
) -> Float[np.ndarray, "*batch"]:
    """The angle from one direction to another, in -pi..pi.

    >>> turn_between(np.array([1.0, 0.0]), np.array([0.0, 2.0])).round(3).item()
    1.571
    """
    return np.asarray(np.arctan2(cross(one, other), (one * other).sum(-1)))
