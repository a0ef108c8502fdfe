r"""A fast sparsifier for blobs: placements of one part, taken greedily, many at a time.

A placement gains :math:`g` for each ON pixel and loses :math:`l` for each OFF pixel that no earlier
placement covers, and costs its prior: the same score as the ``Sparsifier``'s. In every round all
placements are taken that beat everything within reach of them. Those share no pixel, so the
round adds exactly the sum of their gains. Strokes that are thicker than a part need about ten
rounds, whatever their length, and no round depends on the number of candidates.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from operator import add

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Shaped

from mam.core.devices import by_device
from mam.factors.reduce import sliding
from mam.vision.images.binary import padded_batches
from mam.vision.images.thin_masks import box_of
from mam.vision.parts.masks import Noise

StaticMask = tuple[tuple[bool, ...], ...]

# One number carries the free ON pixels (times this) and all free pixels under a placement.
_SHIFT = 4096
_BATCH = 8, 256  # crops at once, on a CPU and on an accelerator


def greedy_cover(
    images: Sequence[Bool[np.ndarray, "_ _"]], mask: Bool[np.ndarray, "side side"], noise: Noise
) -> list[Int[np.ndarray, "placements 2"]]:
    """Return (row, column) of the middle pixels of the placements that explain each image.

    >>> image = np.zeros((30, 40), bool)
    >>> image[10:19, 5:23] = True
    >>> greedy_cover([image], np.ones((9, 9), bool), Noise(pi01=0.45, pi10=0.05))[0].tolist()
    [[14, 9], [14, 18]]
    """
    if mask.sum() >= _SHIFT:
        raise ValueError(f"a part of {mask.sum()} pixels is too large; {_SHIFT - 1} are the most")
    crops = [_crop(image, len(mask) // 2) for image in images]
    found = [np.zeros((0, 2), np.int64)] * len(crops)
    size = by_device(*_BATCH)
    shape = static_mask(mask)

    def work(batch: tuple[np.ndarray, np.ndarray]) -> None:
        numbers, canvas = batch
        chosen = np.asarray(_cover(canvas, shape, noise.gain, noise.loss, noise.prior))
        for number, places in zip(numbers, places_of(chosen), strict=False):
            found[number] = places + crops[number][1]

    with ThreadPoolExecutor(2) as pool:
        # On square canvases of few sizes: three compilations serve all letters.
        list(pool.map(work, padded_batches([crop for crop, _ in crops], [size], np.False_)))
    return found


def static_mask(mask: Bool[np.ndarray, "side side"]) -> StaticMask:
    """A mask to be compiled in: then only its own pixels are summed."""
    return tuple(map(tuple, mask.tolist()))


def places_of(chosen: Bool[np.ndarray, "batch _ _"]) -> list[Int[np.ndarray, "_ 2"]]:
    """The places that are True in each array of a batch, in reading order.

    >>> [places.tolist() for places in places_of(np.eye(2, dtype=bool)[:, None])]
    [[[0, 0]], [[0, 1]]]
    """
    number, *place = np.nonzero(chosen)
    borders = np.searchsorted(number, np.arange(1, len(chosen)))
    return np.split(np.stack(place, 1), borders)


def _crop(image: np.ndarray, rim: int) -> tuple[np.ndarray, np.ndarray]:
    """The part of the image that has ON pixels, and its corner; with a rim inside the image."""
    rows, cols = box_of(image)
    if not rows.stop:
        return np.zeros((1, 1), bool), np.zeros(2, np.int64)
    top, left = max(rows.start - rim, 0), max(cols.start - rim, 0)
    return image[top : rows.stop + rim, left : cols.stop + rim], np.array([top, left])


@partial(jax.jit, static_argnames="mask")
def _cover(
    images: Bool[Array, "images side side"],
    mask: StaticMask,
    gain: Array | float,
    loss: Array | float,
    prior: Array | float,
) -> Bool[Array, "images side side"]:
    """Where placements stand after as many rounds as any of the images needs."""
    reach = len(mask) // 2
    side = images.shape[1]
    mirrored = tuple(row[::-1] for row in mask[::-1])  # a pixel's view of the placements on it
    # Among equal placements the upper left one is taken first. Whole numbers: exact up to 2^24.
    order = -jnp.arange(side * side, dtype=jnp.float32).reshape(side, side)
    lit = jnp.where(images, _SHIFT + 1, 1)

    def step(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        chosen, free, _ = state
        counts = sums_under(jnp.where(free, lit, 0), mask)
        on = (counts // _SHIFT).astype(jnp.float32)
        off = (counts % _SHIFT).astype(jnp.float32) - on
        rise = gain * on - loss * off + prior
        top = (rise > 0) & (rise >= _highest_near(rise, 2 * reach))
        first = jnp.where(top, order, -jnp.inf)
        new = top & (first >= _highest_near(first, 2 * reach))
        covered = sums_under(new.astype(jnp.int32), mirrored) > 0
        return chosen | new, free & ~covered, jnp.any(new)

    start = jnp.zeros(images.shape, bool), jnp.ones(images.shape, bool), jnp.bool_(True)
    return jax.lax.while_loop(lambda state: state[2], step, start)[0]


def sums_under(
    values: Shaped[Array, "images rows cols"], mask: StaticMask, outside: Array | float | int = 0
) -> Shaped[Array, "images rows cols"]:
    """The sum of the values that a part placed at each pixel covers; ``outside`` beyond them."""
    reach = len(mask) // 2
    rim = (0, 0), (reach, reach), (reach, reach)
    padded = jnp.pad(values, rim, constant_values=outside)
    rows, cols = values.shape[1:]
    places = [(i, j) for i, row in enumerate(mask) for j, on in enumerate(row) if on]
    return reduce(add, (padded[:, i : i + rows, j : j + cols] for i, j in places))


def _highest_near(values: Float[Array, "images rows cols"], reach: int) -> Array:
    padded = jnp.pad(values, ((0, 0), (reach, reach), (reach, reach)), constant_values=-jnp.inf)
    for axis in (1, 2):
        padded = sliding(padded, axis, 2 * reach + 1, jnp.maximum)
    return padded
