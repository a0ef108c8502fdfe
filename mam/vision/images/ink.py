"""Which pixels of a picture are drawn: polarity, threshold, and what was assumed.

On even paper in shades of grey the drawing is the rarer of the two classes that Otsu's threshold
parts. Elsewhere, in colour, under shadows and slanted light, it is what differs from the paper
around it: `background`. Or it is what has a given colour.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, UInt8
from scipy import ndimage
from skimage.filters import threshold_otsu

from mam.core.limits import MOST_ON
from mam.core.words import counted
from mam.data.pixels import ON, black_and_white, grey
from mam.vision.images.background import (
    drawn_dark,
    ink_of,
    line_contrast,
    square_side,
    usual,
)
from mam.vision.images.ink_colours import Colour, check_ink, ink_colours, is_coloured
from mam.vision.images.photograph import is_photograph

_BORDER = 2.0  # times as many pixels above the faint threshold as above Otsu's: blurred borders
_BLUR = 2  # px of the borders of ink that are neither paper nor ink
_NARROW = 0.2  # of the step from paper to ink: nearly all paper of an even page differs by less
_NEARLY_ALL = 0.995
_ASIDE = 0.18  # of the way from paper to a colour: what is farther off it has another colour
_STROKES = 6  # pieces that make a picture one of short strokes
_STUBBY = 6.0  # length over width of a short stroke, at most
_LONGER = 1.6  # and at least: less is a dot
_ALIKE = 0.3  # spread of the sizes of short strokes, at most

InkPicture = UInt8[np.ndarray, "rows cols"] | UInt8[np.ndarray, "rows cols 3"]


@dataclass(frozen=True, eq=False)
class Ink:
    """The drawing in a picture."""

    mask: Bool[np.ndarray, "rows cols"]
    contrast: UInt8[np.ndarray, "rows cols"]  # against the paper, 0 where OFF
    dark: bool  # dark on light
    threshold: float | None  # grey value; None where it is not the same throughout
    assumed: str  # in words
    colours: tuple[Colour, ...] = ()  # of the ink, the most frequent first; none of a grey picture


def find_ink(
    picture: InkPicture,
    threshold: float | int | None = None,
    ink: str = "auto",
    name: str = "the picture",
) -> Ink:
    """Tell the drawing from the paper. ``ink`` is auto, dark, light or a colour, "R,G,B".

    >>> page = np.full((9, 9), 250, np.uint8)
    >>> page[4] = 20
    >>> found = find_ink(page)
    >>> found.dark, int(found.mask.sum()), found.assumed
    (True, 9, 'dark on light, threshold 20 (Otsu)')
    """
    colour = check_ink(ink)
    if (picture == picture[:1, :1]).all():
        word = "grey value" if np.ptp(picture[0, 0]) == 0 else "colour"
        raise ValueError(f"{name} is one {word} throughout: there is no curve in it")
    if colour is not None:
        found = _of_colour(picture, colour, threshold, name)
        return replace(found, assumed=found.assumed + _doubts(found.mask, False))
    plain = grey(picture)
    level = float(threshold_otsu(plain)) if threshold is None else float(threshold)
    found = _by_threshold(plain, level, ink, threshold is None, name)
    photograph = is_photograph(plain)
    coloured = is_coloured(picture)
    if threshold is None and (coloured or not _even(plain, found.mask)):
        paper = _paper_contrast(picture if coloured else plain[..., None], ink)
        found = _against_paper(picture, paper) or found
        photograph = photograph and is_photograph(paper.evened)
    return replace(found, assumed=found.assumed + _doubts(found.mask, photograph))


def _by_threshold(
    picture: UInt8[np.ndarray, "rows cols"], level: float, ink: str, otsu: bool, name: str
) -> Ink:
    """The pixels on one side of a grey value, the rarer one where nobody says which."""
    above = picture > level
    dark = bool(above.mean() > 0.5) if ink == "auto" else ink == "dark"
    mask = ~above if dark else above
    if not mask.any():
        raise ValueError(f"{name}: no pixel is {'below' if dark else 'above'} {level:g}")
    words = f"{_polarity(dark)}, threshold {level:g}" + (" (Otsu)" if otsu else "")
    paper = float(np.median(picture[~mask])) if (~mask).any() else float(level)
    contrast = np.abs(picture - np.float32(paper))
    contrast *= 255 / max(float(np.quantile(contrast[mask], 0.9)), 1.0)
    contrast = np.where((picture < paper) == dark, np.minimum(contrast, 255), 0).astype(np.uint8)
    clean = otsu and (contrast > ON).sum() <= _BORDER * mask.sum()
    weights = np.where(contrast > ON, contrast, 0) if clean else np.where(mask, 255, 0)
    return Ink(mask, weights.astype(np.uint8), dark, level, words)


def _even(picture: UInt8[np.ndarray, "rows cols"], mask: Bool[np.ndarray, "rows cols"]) -> bool:
    """Whether a threshold parts the picture into paper of one brightness and something drawn.

    A shadow is no drawing: it is thick, and what is drawn in it is darker. Nor is the blurred
    border of what is drawn uneven paper.
    """
    bare = picture[ndimage.maximum_filter(mask.view(np.uint8), 2 * _BLUR + 1) == 0]
    if not len(bare):
        return True
    ink, paper = np.float32(np.median(picture[mask])), np.float32(np.median(bare))
    step = _NARROW * abs(ink - paper)
    if np.quantile(np.abs(bare - paper), _NEARLY_ALL) > step:
        return False
    side = square_side(picture.shape)
    thick = bool(ndimage.minimum_filter(mask.view(np.uint8), side, mode="constant").any())
    return not thick or bool(np.quantile(np.abs(picture[mask] - ink), _NEARLY_ALL) <= step)


class _PaperContrast(NamedTuple):
    """How far pixels are from the paper around them, by channel, and which channels are darker."""

    each: Float[np.ndarray, "rows cols channels"]
    dark: bool

    @property
    def evened(self) -> UInt8[np.ndarray, "rows cols"]:
        """The picture in even light, dark on white."""
        return 255 - np.minimum(self.each.max(2), 255).astype(np.uint8)


def _paper_contrast(picture: UInt8[np.ndarray, "rows cols channels"], ink: str) -> _PaperContrast:
    side = square_side(picture.shape)
    planes = [plane.astype(np.float32) for plane in np.moveaxis(picture, -1, 0)]
    dark = [drawn_dark(plane, side) if ink == "auto" else ink == "dark" for plane in planes]
    each = [line_contrast(plane, below) for plane, below in zip(planes, dark, strict=True)]
    return _PaperContrast(np.stack(each, 2), bool(np.mean(dark) > 0.5))


def _against_paper(picture: InkPicture, paper: _PaperContrast) -> Ink | None:
    """What differs from the paper around it in one channel or more; None if nothing does."""
    mask = ink_of(paper.each.max(2))
    if not mask.any():
        return None
    words = f"{_polarity(paper.dark)}, by the paper around it"
    colours = ink_colours(picture, paper.each, mask) if paper.each.shape[2] == 3 else ()
    words += f", {counted(len(colours), 'ink colour')}" if colours else ""
    return Ink(mask, black_and_white(mask), paper.dark, None, words, colours)


def _of_colour(
    picture: InkPicture, colour: Colour, threshold: float | int | None, name: str
) -> Ink:
    """What is half way or more from the paper around it to a colour, or near to the colour itself.

    Half way, since borders are blurred; a threshold says how near in each channel, about.
    """
    if picture.ndim == 2:
        picture = np.repeat(picture[..., None], 3, axis=2)
    planes = [plane.astype(np.float32) for plane in np.moveaxis(picture, -1, 0)]
    paper = np.stack([usual(plane, square_side(picture.shape)) for plane in planes], -1)
    way = np.array(colour, np.float32) - paper
    step = np.maximum(np.linalg.norm(way, axis=2), 1.0)
    if threshold is None:
        share = ((picture - paper) * way).sum(2) / step**2
        aside = np.linalg.norm(picture - paper - share[..., None] * way, axis=2)
        mask = (share >= 0.5) & (aside <= _ASIDE * step)
    else:
        mask = np.linalg.norm(picture - np.array(colour, np.float32), axis=2) <= float(threshold)
    shown = ",".join(map(str, colour))
    if not mask.any():
        raise ValueError(f"{name}: no pixel has about the colour {shown}; see --show ink")
    dark = bool(way.mean() < 0)
    words = f"ink of the colour {shown}"
    return Ink(mask, black_and_white(mask), dark, None, words, (colour,))


def _polarity(dark: bool) -> str:
    return "dark on light" if dark else "light on dark"


def _doubts(mask: Bool[np.ndarray, "rows cols"], photograph: bool) -> str:
    share = f"{100 * mask.mean():.0f} % of the pixels are ON"
    if photograph:
        return (
            f"; it looks like a photograph, of which {share}; "
            "give --threshold or --ink, or a mask of the curves, if this is wrong"
        )
    return f"; {share}, which is much for a drawing" if mask.mean() > MOST_ON else ""


@dataclass(frozen=True)
class Strokes:
    """How the connected pieces of a mask look."""

    count: int
    length: float  # px, of the middle one
    width: float  # px
    largest: float  # share of all pixels in the largest piece
    spread: float = 0.0  # standard deviation of the logarithm of their sizes

    @property
    def short(self) -> bool:
        """Whether the picture is made of short strokes, all alike, rather than of lines.

        Dots, and dashes of mixed lengths, are broken lines.
        """
        stubby = _LONGER * self.width <= self.length <= _STUBBY * self.width
        alike = stubby and self.spread < _ALIKE
        return self.count >= _STROKES and alike and self.largest < 1 / _STROKES


def count_pieces(mask: Bool[np.ndarray, "rows cols"]) -> int:
    """How many pieces a mask has, and how many holes: about as many stretches as lines have.

    >>> mask = np.zeros((9, 9), bool)
    >>> mask[2:7, 2:7], mask[4, 4], mask[0, 8] = True, False, True
    >>> count_pieces(mask)
    3
    """
    pieces = int(ndimage.label(mask, np.ones((3, 3)))[1])  # type: ignore[index]
    around = np.pad(~mask, 1, constant_values=True)
    return pieces + int(ndimage.label(around)[1]) - 1  # type: ignore[index]


def describe_strokes(mask: Bool[np.ndarray, "rows cols"]) -> Strokes:
    """Measure the connected pieces of a mask; specks of one or two pixels do not count.

    >>> mask = np.zeros((40, 40), bool)
    >>> for row in range(2, 40, 5):
    ...     mask[row : row + 2, 4:11] = True
    >>> describe_strokes(mask)
    Strokes(count=8, length=7.0, width=2.0, largest=0.125, spread=0.0)
    """
    labels, count = ndimage.label(mask, np.ones((3, 3)))  # type: ignore[misc]
    rows, cols = np.nonzero(labels)
    piece = labels[rows, cols]
    size = np.bincount(piece, minlength=count + 1).astype(float)

    def mean(values: np.ndarray) -> np.ndarray:
        return np.bincount(piece, values, count + 1) / np.maximum(size, 1)

    down, right = mean(rows), mean(cols)
    rr, cc = mean(rows**2) - down**2, mean(cols**2) - right**2
    rc = mean(rows * cols) - down * right
    kept = size > 2
    kept[0] = False
    if not kept.any():
        return Strokes(0, 0.0, 0.0, 0.0)
    # A line of n pixels has the second moment (n^2 - 1) / 12.
    middle, half = (rr + cc) / 2, np.hypot((rr - cc) / 2, rc)
    length = np.sqrt(12 * (middle + half) + 1)[kept]
    width = np.sqrt(12 * np.maximum(middle - half, 0) + 1)[kept]
    return Strokes(
        int(kept.sum()),
        round(float(np.median(length)), 2),
        round(float(np.median(width)), 2),
        float(size[kept].max() / size[kept].sum()),
        round(float(np.log(size[kept]).std()), 3),
    )
