r"""Edges of photographs: responses of 16 oriented filters, thinned across the edge.

A filter is the derivative of a Gaussian along a direction. It is steerable: the response along
:math:`\theta` is that along rows and columns, combined,

.. math:: r_\theta = \max_c (\cos\theta\, \partial_x + \sin\theta\, \partial_y) (g_\sigma * I_c),

with the largest over the channels c. The 16 directions go once round: dark to bright and bright to
dark are two types. As in Canny's detector a pixel keeps its response only where none of its two
neighbours across the edge has a larger one.
"""

from functools import reduce
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, Shaped

from mam.data.pixels import rgb

TYPES = 16  # directions (paper, "Edge detection and heuristic sparsification")
_SIGMA = 1.0  # px, of the filters
_REACH = 4.0  # sigmas after which a filter ends
_DEPTH = np.float32(0.7)  # brightness (1: from black to white) that a metre of depth is worth
_SMALLEST = 3  # px: a picture with fewer rows or columns has no inside


class EdgeMap(NamedTuple):
    """Edges of an image, thinned."""

    strength: Float[Array, "rows cols"]  # change of brightness a px; 0 where there is no edge
    type: Int[Array, "rows cols"]  # where it is brighter, in 16ths of a turn from +x to +y


def check_picture(pixels: Shaped[np.ndarray, "..."], name: str = "the image") -> None:
    """Refuse an array whose shape is no picture's."""
    if pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3, 4)):
        raise ValueError(f"{name} has shape {pixels.shape}; give rows x columns, grey or RGB")
    if min(pixels.shape[:2]) < _SMALLEST:
        raise ValueError(f"{name} has {pixels.shape[0]} x {pixels.shape[1]} px, too few for edges")


def as_channels(
    image: Shaped[np.ndarray, "..."],
    depth: Shaped[np.ndarray, "..."] | None = None,
    name: str = "the image",
) -> Float[np.ndarray, "channels rows cols"]:
    """A picture's channels between 0 and 1, and its depth (in metres, all of it known) as one more.

    >>> as_channels(np.full((3, 4), 255, np.uint8)).shape
    (1, 3, 4)
    """
    pixels = np.asarray(image)
    check_picture(pixels, name)
    if pixels.ndim == 3 and pixels.shape[2] == 4 and pixels.dtype.kind == "u":
        pixels = rgb(pixels)
    colours = pixels[..., None] if pixels.ndim == 2 else pixels[..., :3]
    if colours.dtype == bool:
        values = colours.astype(np.float32)
    elif colours.dtype.kind == "u":
        values = colours.astype(np.float32) / np.iinfo(colours.dtype).max
    elif colours.dtype.kind == "f" and np.isfinite(colours).all():
        values = colours.astype(np.float32)
    else:
        raise ValueError(f"{name} is not a picture: give bytes, or numbers between 0 and 1")
    if depth is not None:
        if depth.shape != pixels.shape[:2]:
            raise ValueError(f"{name}: its depth has shape {depth.shape}, not {pixels.shape[:2]}")
        far = depth.astype(np.float32)[..., None] * _DEPTH
        values = np.concatenate([values, far], -1)
    return np.ascontiguousarray(values.transpose(2, 0, 1))


@jax.jit
def find_edges(channels: Float[Array | np.ndarray, "channels rows cols"]) -> EdgeMap:
    """The edges of an image.

    >>> step = np.zeros((1, 9, 9), np.float32)
    >>> step[:, :, 5:] = 1.0
    >>> found = find_edges(step)
    >>> np.flatnonzero(found.strength[4] > 0.1).tolist(), int(found.type[4, 4])
    ([4], 0)
    """
    responses = edge_responses(jnp.asarray(channels))
    strength, type_ = jax.lax.optimization_barrier(_strongest(responses))
    rivals = jnp.zeros_like(strength), jnp.zeros_like(strength)
    for axis in range(TYPES // 2):
        angle = 2 * np.pi * axis / TYPES
        own = type_ % (TYPES // 2) == axis
        shifted = (_moved(strength, angle), _moved(strength, angle + np.pi))
        rivals = tuple(jnp.where(own, new, old) for new, old in zip(shifted, rivals, strict=True))
    # Of two equal neighbours one stays.
    top = (strength >= rivals[0]) & (strength > rivals[1])
    return EdgeMap(jnp.where(top, strength, 0.0), type_)


def edge_responses(channels: Float[Array, "channels rows cols"]) -> list[Array]:
    """The largest response over the channels, for each direction.

    They are written out one by one, which XLA fuses into one pass.
    """
    down, right = _derivatives(channels)
    steered = []
    for angle in 2 * np.pi * np.arange(TYPES) / TYPES:
        along, across = np.float32(np.cos(angle)), np.float32(np.sin(angle))
        by_channel = [x * along + y * across for x, y in zip(right, down, strict=True)]
        steered.append(reduce(jnp.maximum, by_channel))
    return steered


def _strongest(responses: list[Array]) -> tuple[Array, Array]:
    """The largest response of each pixel and its direction."""
    strength, type_ = responses[0], jnp.zeros(responses[0].shape, jnp.int32)
    for number, other in enumerate(responses[1:], 1):
        type_ = jnp.where(other > strength, number, type_)
        strength = jnp.maximum(strength, other)
    return strength, type_


def _derivatives(channels: Array) -> tuple[Array, Array]:
    reach = int(np.ceil(_REACH * _SIGMA))
    grid = np.arange(-reach, reach + 1)
    smooth = np.exp(-0.5 * (grid / _SIGMA) ** 2)
    smooth /= smooth.sum()
    slope = grid * smooth
    slope /= (grid * slope).sum()  # 1 on a ramp of slope 1
    padded = jnp.pad(channels, ((0, 0), (reach, reach), (reach, reach)), mode="edge")
    # Without barriers XLA would compute the inner sums again for every term of the outer ones.
    first = jax.lax.optimization_barrier((_along(padded, slope, 1), _along(padded, smooth, 1)))
    return jax.lax.optimization_barrier((_along(first[0], smooth, 2), _along(first[1], slope, 2)))


def _along(values: Array, weights: np.ndarray, axis: int) -> Array:
    """A filter along one axis; the ends are cut."""
    length = values.shape[axis] - len(weights) + 1
    total = jnp.zeros((), values.dtype)
    for start, weight in enumerate(weights):
        if weight != 0:
            piece = jax.lax.slice_in_dim(values, start, start + length, axis=axis)
            total = total + piece * np.float32(weight)
    return total


def _moved(values: Float[Array, "rows cols"], angle: float) -> Array:
    """The values one px further along an angle, between pixels as their mixture."""
    rows, cols = values.shape
    padded = jnp.pad(values, 1, mode="edge")
    down, right = np.sin(angle), np.cos(angle)
    total = jnp.zeros((), values.dtype)
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            weight = max(0.0, 1 - abs(down - i)) * max(0.0, 1 - abs(right - j))
            if weight > 1e-9:
                piece = padded[1 + i : 1 + i + rows, 1 + j : 1 + j + cols]
                total = total + piece * np.float32(weight)
    return total
