"""Which pixels of a picture are drawn: polarity, threshold, and what was assumed.

The drawing is taken to be the rarer of the two classes that Otsu's threshold parts. Its contrast
against the paper is what grey values say about it.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, UInt8
from scipy import ndimage
from skimage.filters import threshold_otsu

from mam.vision.images.photograph import is_photograph

POLARITIES = ("auto", "light", "dark")
_MOST = 0.5  # share of the pixels that a drawing covers, at most
_FAINT = 26  # contrast of 255 above which a pixel is ON in an anti-aliased drawing (facts)
_BORDER = 2.0  # times as many pixels above the faint threshold as above Otsu's: blurred borders
_STROKES = 6  # pieces that make a picture one of short strokes
_STUBBY = 6.0  # length over width of a short stroke, at most


@dataclass(frozen=True, eq=False)
class Ink:
    """The drawing in a picture."""

    mask: Bool[np.ndarray, "rows cols"]
    contrast: UInt8[np.ndarray, "rows cols"]  # against the paper, 0 where OFF
    dark: bool  # dark on light
    threshold: float  # grey value
    assumed: str  # in words


def find_ink(
    picture: UInt8[np.ndarray, "rows cols"],
    threshold: float | int | None = None,
    polarity: str = "auto",
    name: str = "the picture",
) -> Ink:
    """Tell the drawing from the paper.

    >>> page = np.full((9, 9), 250, np.uint8)
    >>> page[4] = 20
    >>> ink = find_ink(page)
    >>> ink.dark, int(ink.mask.sum()), ink.assumed
    (True, 9, 'dark on light, threshold 20 (Otsu)')
    """
    if polarity not in POLARITIES:
        raise ValueError(f"polarity is one of {', '.join(POLARITIES)}, not {polarity!r}")
    if picture.min() == picture.max():
        raise ValueError(f"{name} is one grey value throughout: there is no curve in it")
    level = float(threshold_otsu(picture)) if threshold is None else float(threshold)
    above = picture > level
    dark = bool(above.mean() > 0.5) if polarity == "auto" else polarity == "dark"
    mask = ~above if dark else above
    if not mask.any():
        raise ValueError(f"{name}: no pixel is {'below' if dark else 'above'} {level:g}")
    words = [f"{'dark on light' if dark else 'light on dark'}, threshold {level:g}"]
    words[0] += " (Otsu)" if threshold is None else ""
    if is_photograph(picture):
        words.append(
            f"it looks like a photograph, of which {100 * mask.mean():.0f} % of the pixels are ON; "
            "give --threshold or --polarity, or a mask of the curves, if this is wrong"
        )
    elif mask.mean() > _MOST:
        words.append(f"{100 * mask.mean():.0f} % of the pixels are ON, which is much for a drawing")
    paper = float(np.median(picture[~mask])) if (~mask).any() else float(level)
    contrast = np.abs(picture - np.float32(paper))
    contrast *= 255 / max(float(np.quantile(contrast[mask], 0.9)), 1.0)
    contrast = np.where((picture < paper) == dark, np.minimum(contrast, 255), 0).astype(np.uint8)
    clean = threshold is None and (contrast > _FAINT).sum() <= _BORDER * mask.sum()
    weights = np.where(contrast > _FAINT, contrast, 0) if clean else np.where(mask, 255, 0)
    return Ink(mask, weights.astype(np.uint8), dark, level, "; ".join(words))


@dataclass(frozen=True)
class Strokes:
    """How the connected pieces of a mask look."""

    count: int
    length: float  # px, of the middle one
    width: float  # px
    largest: float  # share of all pixels in the largest piece

    @property
    def short(self) -> bool:
        """Whether the picture is made of short strokes rather than of long lines."""
        stubby = self.length <= _STUBBY * self.width
        return self.count >= _STROKES and stubby and self.largest < 1 / _STROKES


def describe_strokes(mask: Bool[np.ndarray, "rows cols"]) -> Strokes:
    """Measure the connected pieces of a mask; specks of one or two pixels do not count.

    >>> mask = np.zeros((40, 40), bool)
    >>> for row in range(2, 40, 5):
    ...     mask[row : row + 2, 4:11] = True
    >>> describe_strokes(mask)
    Strokes(count=8, length=7.0, width=2.0, largest=0.125)
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
    )
