"""The random numbers of a generated row: they depend on the configuration, the seed and the row."""

import dataclasses
import hashlib
import json
from functools import lru_cache
from typing import Any

import numpy as np


def generator(config: Any, seed: int, row: int, *purpose: int) -> np.random.Generator:
    """Return the random numbers of a row.

    Two levels share none, so that figures measured on them are independent.

    >>> from mam.data.pathfinder import LEVELS
    >>> both = LEVELS["easy"], LEVELS["hard"]
    >>> easy, hard = (generator(level, seed=0, row=5).integers(1 << 30) for level in both)
    >>> bool(easy != hard)
    True
    """
    return np.random.default_rng([seed, _number(config), row, *purpose])


@lru_cache(maxsize=64)
def _number(config: Any) -> int:
    """A number for a configuration; any two differ."""
    text = json.dumps(dataclasses.asdict(config), sort_keys=True)
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
