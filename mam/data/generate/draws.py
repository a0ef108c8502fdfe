"""The random numbers of a generated row."""

import numpy as np


def generator(stream: int, seed: int, row: int, *purpose: int) -> np.random.Generator:
    """Return the random numbers of a row.

    Every level has a stream of its own, so that figures measured on two levels are independent;
    a configuration made from a level keeps its stream, and so shows what the change does.

    >>> one, other = (generator(stream, seed=0, row=5).integers(1 << 30) for stream in (1, 2))
    >>> bool(one != other)
    True
    """
    return np.random.default_rng([seed, stream, row, *purpose])
