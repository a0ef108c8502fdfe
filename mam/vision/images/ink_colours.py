"""The colours that a drawing is made with: as a person names one, and told apart."""

import numpy as np
from jaxtyping import Bool, Float, UInt8
from scipy import ndimage
from skimage.color import rgb2lab

from mam.vision.images.background import CLOSE

Colour = tuple[int, int, int]  # red, green, blue from 0 to 255

INKS = ("auto", "dark", "light")
_APART = 40  # of 255 between the channels of a pixel: it is not grey
_DIM = 16  # of 255, added before channels are divided by each other
_COLOURED = 0.001  # share of such pixels above which a picture is one in colour
_BIN = 12.0  # CIELAB units: colours within one box look alike
_DIFFERENT = 25.0  # CIELAB units between two inks, at least
_SHARE = 0.03  # of the ink: what is rarer is a border or a crossing
_CORE = 0.9  # of the contrast close by: what has less is a blurred border


def parse_colour(text: str) -> Colour:
    """A colour as a person writes it.

    >>> parse_colour("200,30,30")
    (200, 30, 30)
    """
    try:
        red, green, blue = (int(number) for number in text.split(","))
    except ValueError:
        red = -1
    if red < 0 or not all(0 <= value <= 255 for value in (red, green, blue)):
        raise ValueError(f"ink is auto, dark, light or a colour R,G,B from 0 to 255, not {text!r}")
    return red, green, blue


def check_ink(ink: str) -> Colour | None:
    """What is drawn: None for a word, or a colour.

    >>> check_ink("dark"), check_ink("0,0,200")
    (None, (0, 0, 200))
    """
    return None if ink in INKS else parse_colour(ink)


def is_coloured(picture: UInt8[np.ndarray, "rows cols *channels"]) -> bool:
    """Whether there is colour in a picture, beyond the tint of its paper.

    >>> is_coloured(np.full((9, 9, 3), 200, np.uint8))
    False
    """
    if picture.ndim == 2:
        return False
    # Yellowed paper, and grey ink on it, have the same tint everywhere.
    paper = np.median(picture, axis=(0, 1)).astype(np.float32) + _DIM
    tinted = (picture + np.float32(_DIM)) / paper * paper.max()
    return bool((np.ptp(tinted, axis=2) > _APART).mean() > _COLOURED)


def ink_colours(
    picture: UInt8[np.ndarray, "rows cols 3"],
    contrast: Float[np.ndarray, "rows cols 3"],
    mask: Bool[np.ndarray, "rows cols"],
) -> tuple[Colour, ...]:
    """The colours of the ink, the most frequent first.

    They are told apart by their contrast to the paper, which is the same in light and shadow.

    >>> page = np.full((20, 20, 3), 255, np.uint8)
    >>> page[3:7], page[12:15] = (200, 0, 0), (0, 0, 200)
    >>> ink_colours(page, 255.0 - page, (page < 255).any(2))
    ((200, 0, 0), (0, 0, 200))
    """
    most = contrast.max(2)
    core = mask & (most >= _CORE * ndimage.maximum_filter(most, CLOSE))
    seen = picture[core]
    lab = rgb2lab(1 - np.clip(contrast[core], 0, 255)[None] / 255)[0]
    boxes, which = np.unique(np.floor(lab / _BIN).astype(int), axis=0, return_inverse=True)
    count = np.bincount(which.ravel(), minlength=len(boxes))
    middle = np.stack([np.bincount(which.ravel(), axis) / count for axis in lab.T], 1)
    chosen = _far_apart(middle, np.argsort(-count, kind="stable"))
    nearest = np.linalg.norm(lab[:, None] - middle[chosen], axis=2).argmin(1)
    own = np.bincount(nearest, minlength=len(chosen))
    kept = [k for k in np.argsort(-own, kind="stable") if own[k] >= _SHARE * len(seen)]
    colours = [np.median(seen[nearest == k], axis=0) for k in kept]
    return tuple((int(red), int(green), int(blue)) for red, green, blue in colours)


def _far_apart(
    middle: Float[np.ndarray, "boxes 3"], order: np.ndarray, most: int = 16
) -> list[int]:
    """Boxes far from each other, those that come first in order preferred."""
    chosen: list[int] = []
    for box in order.tolist():
        far = np.linalg.norm(middle[chosen] - middle[box], axis=1)
        if far.min(initial=np.inf) >= _DIFFERENT and len(chosen) < most:
            chosen.append(box)
    return chosen
