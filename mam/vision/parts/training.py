"""Rows of data sets as the binary images that parts are learned from."""

import itertools
from collections.abc import Iterator

import numpy as np
from jaxtyping import Bool, UInt8
from PIL import Image

from mam.data import AnyRow, CabcRow, CurvesRow, PathfinderRow, rows_of
from mam.data.generate.pathfinder import ON
from mam.vision.parts.masks import CABC, PATHFINDER, Noise

LETTER_SIDE = 256  # px to which cABC images are reduced (paper, "Learning elastic graphs for cABC")
NOISES = {"pathfinder": PATHFINDER, "cabc": CABC}

Mask = Bool[np.ndarray, "rows cols"]


def binary_images(row: AnyRow, where: str) -> list[Mask]:
    """Return the masks in a row: one image, or the two letters of a cABC image."""
    if isinstance(row, PathfinderRow):
        return [row.clean > ON]
    if isinstance(row, CabcRow):
        return [_reduced(row.letters & bit) for bit in (1, 2)]
    if isinstance(row, CurvesRow):
        return [row.mask]
    raise ValueError(f"{where}: parts are learned from pathfinder, cABC or curves rows")


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


def _reduced(letter: UInt8[np.ndarray, "_ _"]) -> Mask:
    """Reduce a letter with anti-aliasing; every pixel it touches is ON."""
    image = Image.fromarray((letter > 0).astype(np.uint8) * 255)
    small = image.resize((LETTER_SIDE, LETTER_SIDE), Image.Resampling.LANCZOS)
    return np.asarray(small) > 0
