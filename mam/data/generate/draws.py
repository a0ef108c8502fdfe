"""The random numbers of a generated row."""

from typing import Protocol

import numpy as np


class Streamed(Protocol):
    """A configuration that names its stream of random numbers."""

    @property
    def stream(self) -> int:
        """Its number."""
        ...


def generator(config: Streamed, seed: int, row: int, *purpose: int) -> np.random.Generator:
    """Return the random numbers of a row.

    Every level has a stream of its own, so that figures measured on two levels are independent;
    a configuration made from a level keeps its stream, and so shows what the change does.

    >>> from mam.data.generate.pathfinder import LEVELS
    >>> both = LEVELS["easy"], LEVELS["hard"]
    >>> easy, hard = (generator(level, seed=0, row=5).integers(1 << 30) for level in both)
    >>> bool(easy != hard)
    True
    """
    return np.random.default_rng([seed, config.stream, row, *purpose])
