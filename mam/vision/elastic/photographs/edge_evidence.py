r"""What edges say about parts: a score map for each of the 16 part types.

An edge of strength s is evidence of

.. math:: w = \min(1, \max(0, (s - l) / (h - l)))

for a part of its own direction, and of less for the two next ones. In texture every direction is
found within a few px of everywhere, which says nothing; so the mean over the types of the largest
evidence within a window is subtracted.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Shaped

from mam.factors.reduce import sliding
from mam.vision.images.photo_edges import TYPES, EdgeMap, as_channels, find_edges


@dataclass(frozen=True)
class EvidenceConfig:
    """How edges count. Found on photographs of one shelf; the paper gives no values."""

    low: float = 0.015  # strength up to which an edge is noise
    high: float = 0.06  # strength from which on it counts in full
    neighbour: float = 0.6  # share of it for the next directions
    window: int = 9  # px, in which parts are looked for in the forward pass; odd
    background: float = 0.6  # share of the mean over the types that is subtracted
    outside: float = -0.3  # evidence beyond the picture


SIDE = 640  # px, to which larger pictures are reduced
_SIDES, _GRAIN = (224, 320, 448, SIDE), 256  # of canvases; larger ones are multiples


class ScoreMaps(NamedTuple):
    """Score maps of an image."""

    parts: Float[Array, "types rows cols"]  # of a part at each pixel
    pooled: Float[Array, "types rows cols"]  # of a part within the window around each pixel


def evidence_of(
    image: Shaped[np.ndarray, "..."],
    depth: Shaped[np.ndarray, "..."] | None,
    config: EvidenceConfig,
    name: str = "the image",
    least: tuple[int, int] = (0, 0),
) -> ScoreMaps:
    """The score maps of a picture, on a canvas of one of few sizes; ``least`` px at least."""
    channels = as_channels(image, depth, name)
    rows, cols = channels.shape[1:]
    height, width = canvas_shape(max(rows, least[0]), max(cols, least[1]))
    beyond = (0, 0), (0, height - rows), (0, width - cols)
    canvas = np.pad(channels, beyond, mode="edge")  # as the filters go on at borders
    return score_maps(find_edges(canvas), config, (rows, cols))


def canvas_shape(rows: int, cols: int) -> tuple[int, int]:
    """The canvas for a picture, one of few: four or five programs are compiled for each.

    Small ones are square; from 640 px on, which pictures are reduced to, the shorter side is four
    fifths of the longer where that is enough.

    >>> [canvas_shape(*size) for size in ((20, 30), (240, 320), (480, 640), (640, 600), (700, 900))]
    [(224, 224), (320, 320), (512, 640), (640, 640), (820, 1024)]
    """
    longer = max(rows, cols)
    side = next((one for one in _SIDES if longer <= one), -(-longer // _GRAIN) * _GRAIN)
    if side < _SIDES[-1]:
        return side, side
    shorter = -(-side * 4 // 5)
    if min(rows, cols) > shorter:
        return side, side
    return (shorter, side) if rows < cols else (side, shorter)


def score_maps(
    edges: EdgeMap, config: EvidenceConfig, size: tuple[int, int] | None = None
) -> ScoreMaps:
    """The score maps of edges, of which those beyond a size do not count.

    >>> strength = np.zeros((9, 9), np.float32)
    >>> strength[4, 4] = 0.1
    >>> found = score_maps(EdgeMap(jnp.array(strength), jnp.full((9, 9), 3)), EvidenceConfig())
    >>> np.flatnonzero(np.asarray(found.parts[:, 4, 4]) > 0).tolist()
    [2, 3, 4]
    """
    span = config.low, config.high, config.neighbour, config.background, config.outside
    inside = np.array(edges.strength.shape if size is None else size, np.int32)
    return _score_maps(edges, inside, np.array(span, np.float32), config.window)


@partial(jax.jit, static_argnames="window")
def _score_maps(edges: EdgeMap, size: Array, settings: Array, window: int) -> ScoreMaps:
    low, high, neighbour, background, outside = settings
    rows, cols = (jnp.arange(side, dtype=jnp.int32) for side in edges.strength.shape)
    inside = (rows < size[0])[:, None] & (cols < size[1])
    strength = jnp.where(inside, edges.strength, 0.0)
    weight = jnp.clip((strength - low) / (high - low), 0.0, 1.0)
    away = (edges.type[None] - jnp.arange(TYPES, dtype=jnp.int32)[:, None, None]) % TYPES
    beside = (away == 1) | (away == TYPES - 1)
    own = weight * jnp.where(away == 0, 1.0, jnp.where(beside, neighbour, 0.0))
    reach = window // 2
    pooled = jnp.pad(jax.lax.optimization_barrier(own), ((0, 0), (reach, reach), (reach, reach)))
    for axis in (1, 2):
        pooled = jax.lax.optimization_barrier(sliding(pooled, axis, window, jnp.maximum))
    usual = background * jnp.mean(pooled, 0)
    maps = own - usual, pooled - usual
    return ScoreMaps(*(jnp.where(inside, one, outside) for one in maps))
