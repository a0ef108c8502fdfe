"""The pixels of cABC images: reduced to the side of the graphs; rings read as the paper does."""

import numpy as np
from jaxtyping import Bool, Int, UInt8
from skimage import measure
from skimage.morphology import convex_hull_image

from mam.core.defaults import LETTER_ON
from mam.core.resize import resized
from mam.data import find_rings
from mam.vision.images.binary import as_states
from mam.vision.parts.training import LETTER_SIDE

_RING = 32  # of 255: a pixel of a ring is above it, and below 255


def reduce_image(image: UInt8[np.ndarray, "_ _"], above: int) -> Bool[np.ndarray, "side side"]:
    """Reduce to the side the graphs are learned at; which pixels are above a value."""
    return resized(image, (LETTER_SIDE, LETTER_SIDE)) > above


def read_as_paper(
    image: UInt8[np.ndarray, "_ _"], name: str
) -> tuple[Int[np.ndarray, "side side"], Bool[np.ndarray, "2 side side"]]:
    """The pixels of an image as they are, and the convex hulls of its rings.

    Pixels that are neither black nor white form the rings (facts, "cABC model"). Of rings that
    touch each other, every pixel belongs to the one whose middle is nearer.
    """
    lit = (image > _RING) & (image < 255)
    grey = np.asarray(measure.label(lit, connectivity=2))
    if not grey.max():
        raise ValueError(f"{name}: no rings of grey pixels; the paper's preset needs them")
    if grey.max() == 1:
        away = np.argwhere(lit)[:, None] - find_rings(image, name)
        grey[lit] = 1 + np.hypot(away[..., 0], away[..., 1]).argmin(1)
    rings = np.argsort(-np.bincount(grey.ravel())[1:], kind="stable")[:2] + 1
    hulls = [convex_hull_image(grey == ring).astype(np.uint8) * 255 for ring in rings]
    state = as_states(reduce_image(image, LETTER_ON))
    return state, np.stack([reduce_image(hull, 127) for hull in hulls])


def pixels_under(
    places: Int[np.ndarray, "vertices 2"], mask: Bool[np.ndarray, "part part"]
) -> Bool[np.ndarray, "side side"]:
    """The pixels of a reduced image that a part at these places covers.

    >>> np.argwhere(pixels_under(np.array([[0, 3], [9, 9]]), np.eye(3, dtype=bool))).tolist()
    [[0, 3], [1, 4], [8, 8], [9, 9], [10, 10]]
    """
    where = (places[:, None] + np.argwhere(mask) - len(mask) // 2).reshape(-1, 2)
    inside = where[((where >= 0) & (where < LETTER_SIDE)).all(1)]
    pixels = np.zeros((LETTER_SIDE, LETTER_SIDE), bool)
    pixels[tuple(inside.T)] = True
    return pixels
