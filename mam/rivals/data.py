"""Batches of pictures, decoded by threads while the last ones are learned from.

Which pictures a batch holds depends on the seed and its number alone, so a run can go on anywhere
and with any number of threads.
"""

from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float32, Int, UInt8

from mam.core.resize import resized
from mam.data.images import read_picture
from mam.data.pixels import grey
from mam.data.read.labelled import LabelledPictures


class Batch(NamedTuple):
    """Images and their labels."""

    images: UInt8[np.ndarray, "batch side side"]
    labels: Float32[np.ndarray, "batch"]


def reduced(png: bytes, side: int, name: str) -> UInt8[np.ndarray, "side side"]:
    """A picture at the side that a rival takes, markers in it."""
    pixels = grey(read_picture(png, name))
    if pixels.shape[0] != pixels.shape[1]:
        raise ValueError(f"{name}: {pixels.shape[0]} x {pixels.shape[1]} px; it must be square")
    return resized(pixels, (side, side))


def batch_of(
    pictures: LabelledPictures, numbers: Sequence[int] | Int[np.ndarray, "batch"], side: int
) -> Batch:
    """Some pictures by number."""
    source, pngs = pictures.source, pictures.pictures
    images = [reduced(pngs[n], side, f"{source}: row {n}, column 'image'") for n in numbers]
    return Batch(np.stack(images), pictures.labels[np.asarray(numbers)].astype(np.float32))


def steps_in(images: int, batch: int) -> int:
    """Batches in an epoch; what does not fill one is left to other epochs' orders."""
    return images // batch


def numbers_of(step: int, images: int, batch: int, seed: int) -> Int[np.ndarray, "batch"]:
    """The pictures of a step: each epoch goes through all of them in an order of its own.

    >>> sorted(np.concatenate([numbers_of(step, 6, 2, 0) for step in (0, 1, 2)]).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    epoch, place = divmod(step, steps_in(images, batch))
    return _order(images, seed, epoch)[place * batch : (place + 1) * batch]


@lru_cache(maxsize=2)
def _order(images: int, seed: int, epoch: int) -> Int[np.ndarray, "images"]:
    return np.random.default_rng([seed, epoch]).permutation(images)


def coming(
    pictures: LabelledPictures, side: int, batch: int, seed: int, steps: range, workers: int
) -> Generator[Batch, None, None]:
    """The batches of some steps, in order; ``workers`` threads decode those ahead."""
    waiting: deque[Future[Batch]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for step in steps:
                numbers = numbers_of(step, len(pictures), batch, seed)
                waiting.append(pool.submit(batch_of, pictures, numbers, side))
                if len(waiting) > 2 * workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
