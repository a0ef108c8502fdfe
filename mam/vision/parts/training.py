"""Rows of data sets as the binary images that parts are learned from."""

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool

from mam.core.resize import resized
from mam.data import AnyRow, CabcRow, CurvesRow, PathfinderRow, rows_of
from mam.data.pixels import ON
from mam.vision.parts.masks import CABC, PATHFINDER, Noise

LETTER_SIDE = 256  # px to which cABC images are reduced (paper, "Learning elastic graphs for cABC")
NOISES = {"pathfinder": PATHFINDER, "cabc": CABC}

Mask = Bool[np.ndarray, "rows cols"]


def binary_images(row: AnyRow, where: str) -> list[Mask]:
    """Return the masks in a row: one image, or the two letters of a cABC image."""
    if isinstance(row, PathfinderRow):
        return [row.clean > ON]
    if isinstance(row, CabcRow):
        return letter_masks(row)
    if isinstance(row, CurvesRow):
        return [row.mask]
    raise ValueError(f"{where}: parts are learned from pathfinder, cABC or curves rows")


def letter_masks(row: CabcRow) -> list[Mask]:
    """The two letters of a row, reduced; every pixel they touch is ON."""
    bits = [((row.letters & bit) > 0).astype(np.uint8) * 255 for bit in (1, 2)]
    return [resized(letter, (LETTER_SIDE, LETTER_SIDE)) > 0 for letter in bits]


def training_images(source: str, count: int) -> tuple[list[Mask], Noise]:
    """Read the first ``count`` binary images of a data set, and the noise of its kind."""
    rows = iter(rows_of(source))
    first = next(rows, None)
    if first is None:
        raise ValueError(f"{source}: no rows, so there is nothing to learn from")

    def masks() -> Iterator[Mask]:
        for row in itertools.chain([first], rows):
            yield from binary_images(row, source)

    found = list(itertools.islice(masks(), count))
    return found, CABC if isinstance(first, CabcRow) else PATHFINDER
