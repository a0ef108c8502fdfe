r"""What edges say about parts: a score map for each of the 16 part types.

An edge of strength s is evidence of

.. math:: w = \min(1, \max(0, (s - l) / (h - l)))

for a part of its own direction, and of less for the two next ones. In texture every direction is
found within a few px of everywhere, which says nothing; so the mean over the types of the largest
evidence within a window is subtracted.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from mam.factors.reduce import sliding
from mam.vision.images.photo_edges import TYPES, EdgeMap, FilterConfig, as_channels, find_edges


@dataclass(frozen=True)
class EvidenceConfig:
    """How edges count. Found on photographs of one shelf; the paper gives no values."""

    low: float = 0.015  # strength up to which an edge is noise
    high: float = 0.06  # strength from which on it counts in full
    neighbour: float = 0.6  # share of it for the next directions
    window: int = 9  # px, in which parts are looked for in the forward pass; odd
    background: float = 0.6  # share of the mean over the types that is subtracted
    outside: float = -0.3  # evidence beyond the picture
    filters: FilterConfig = field(default_factory=FilterConfig)


class ScoreMaps(NamedTuple):
    """Score maps of an image."""

    parts: Float[Array, "types rows cols"]  # of a part at each pixel
    pooled: Float[Array, "types rows cols"]  # of a part within the window around each pixel


def evidence_of(
    image: Shaped[np.ndarray, "..."],
    depth: Shaped[np.ndarray, "..."] | None,
    config: EvidenceConfig,
    name: str = "the image",
) -> ScoreMaps:
    """The score maps of a picture."""
    edges = find_edges(as_channels(image, depth, config.filters, name), config.filters.sigma)
    return score_maps(edges, config)


def score_maps(edges: EdgeMap, config: EvidenceConfig) -> ScoreMaps:
    """The score maps of edges.

    >>> strength = np.zeros((9, 9), np.float32)
    >>> strength[4, 4] = 0.1
    >>> found = score_maps(EdgeMap(jnp.array(strength), jnp.full((9, 9), 3)), EvidenceConfig())
    >>> np.flatnonzero(np.asarray(found.parts[:, 4, 4]) > 0).tolist()
    [2, 3, 4]
    """
    span = config.low, config.high, config.neighbour, config.background
    return _score_maps(edges, np.array(span, np.float32), config.window)


@partial(jax.jit, static_argnames="window")
def _score_maps(edges: EdgeMap, settings: Array, window: int) -> ScoreMaps:
    low, high, neighbour, background = settings
    weight = jnp.clip((edges.strength - low) / (high - low), 0.0, 1.0)
    away = (edges.type[None] - jnp.arange(TYPES, dtype=jnp.int32)[:, None, None]) % TYPES
    beside = (away == 1) | (away == TYPES - 1)
    own = weight * jnp.where(away == 0, 1.0, jnp.where(beside, neighbour, 0.0))
    reach = window // 2
    pooled = jnp.pad(jax.lax.optimization_barrier(own), ((0, 0), (reach, reach), (reach, reach)))
    for axis in (1, 2):
        pooled = jax.lax.optimization_barrier(sliding(pooled, axis, window, jnp.maximum))
    usual = background * jnp.mean(pooled, 0)
    return ScoreMaps(own - usual, pooled - usual)
