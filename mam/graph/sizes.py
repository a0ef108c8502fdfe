"""Sizes that a graph can have, checked before anything is allocated."""

import math
from typing import Any

import numpy as np

from mam.core.limits import GRAPH_VARIABLES
from mam.core.memory import check_memory

# Smaller groups fit anywhere, and asking how much memory is free takes longer than adding them.
_WORTH_ASKING = 1_000_000


def checked_shape(name: str, shape: Any, states: int, before: int = 0) -> tuple[int, ...]:
    """Return the shape of a group of variables; refuse what is no size or cannot be held.

    >>> checked_shape("x", 3, 2)
    (3,)
    """
    axes = tuple(shape) if np.ndim(shape) else (shape,)
    if not all(isinstance(n, int | np.integer) for n in (*axes, states)):
        raise ValueError(
            f"variable {name!r} needs whole numbers as shape and states, not {shape!r}, {states!r}"
        )
    if states < 2:
        raise ValueError(f"variable {name!r} needs at least 2 states, not {states}")
    if any(n < 0 for n in axes):
        raise ValueError(f"variable {name!r} has a negative shape {axes}")
    size = math.prod(int(n) for n in axes)
    if before + size > GRAPH_VARIABLES:
        raise ValueError(
            f"variable {name!r} would make {before + size:.4g} variables; a graph has at most "
            f"{GRAPH_VARIABLES:.4g}"
        )
    if size * int(states) > _WORTH_ASKING:
        # Its evidence alone is one number of 8 bytes a state.
        what = f"variable {name!r} with {size:.4g} x {states:.4g} states"
        check_memory(8.0 * size * int(states), what, "use fewer variables or states")
    return tuple(int(n) for n in axes)
