"""A picture of learned parts: every mask enlarged, under the number of its placements."""

import numpy as np
from jaxtyping import Bool, Int, UInt8

from mam.core.svg import PALETTE
from mam.data.pixels import rgb
from mam.show.sheet import Picture, contact_sheet
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements

_SCALE = 10  # px a pixel of a mask
_GRID = 70  # grey of the lines between pixels
_COLUMNS = 8


def part_sheet(parts: Parts, usage: Int[np.ndarray, " types"] | None = None) -> Picture:
    """Draw the masks of part types with their usage counts, if known.

    >>> part_sheet(Parts(np.ones((2, 3, 3), bool)), np.array([5, 7])).shape
    (53, 74, 3)
    """
    entries = [
        (str(kind) if usage is None else f"{kind}: {usage[kind]}x", [rgb(_enlarged(mask))])
        for kind, mask in enumerate(parts.masks)
    ]
    return contact_sheet(entries, columns=_COLUMNS)


def draw_explained(
    image: UInt8[np.ndarray, "rows cols"], found: Placements, parts: Parts
) -> Picture:
    """The image in grey, under the pixels that each placement covers in a colour of its own."""
    reach = parts.radius
    drawn = np.pad(rgb(image // 2), ((reach, reach), (reach, reach), (0, 0)))
    where = found.row, found.column, found.type
    for number, (row, col, kind) in enumerate(zip(*where, strict=True)):
        under = drawn[row : row + parts.side, col : col + parts.side]
        under[parts.masks[kind]] = PALETTE[number % len(PALETTE)]
    return drawn[reach : reach + image.shape[0], reach : reach + image.shape[1]]


def _enlarged(mask: Bool[np.ndarray, "side side"]) -> np.ndarray:
    """Every pixel as a block inside a grid of thin lines."""
    large = np.kron(mask, np.ones((_SCALE, _SCALE), bool)).astype(np.uint8) * 255
    picture = np.full((large.shape[0] + 1, large.shape[1] + 1), _GRID, np.uint8)
    inner = np.arange(large.shape[0]) % _SCALE > 0
    picture[:-1, :-1] = np.where(inner[:, None] & inner, large, _GRID)
    return picture
