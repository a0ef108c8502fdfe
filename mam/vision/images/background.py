r"""What a picture would look like without its lines, and how far each pixel is from that.

Paper under uneven light is found by closing: with W over all squares of side w that hold a pixel,
upright ones and some that stand on a corner,

.. math:: b(x) = \min_{W \ni x} \max_{y \in W} v(y)

keeps steps and slopes of the light and fills dark lines that are thinner than w. The squares that
stand on a corner reach the borders of round shadows where upright ones do not. The contrast of dark
ink is :math:`1 - v / b`, which is the same in light and shadow; light ink is treated the other
way round, with :math:`v - b` in place of it. Noise lifts b everywhere: what is usual around a pixel
is no contrast.
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageFilter
from scipy import ndimage

from mam.core.resize import resized

Plane = Float[np.ndarray, "rows cols"]

_SQUARE = 4  # of them side by side are as long as the shorter side of the picture
_LEAST, _LARGEST = 15, 160  # px of a square
_COARSE = 8  # samples along a square, where something smooth is measured
_DIM = 24.0  # of 255: darker paper counts as this bright, or noise would be contrast
_NOISE = 1.4826  # standard deviations over median absolute deviation
# In standard deviations of the noise, and of 255:
_FAINT, _FAINT_LEAST = 5.0, 12.0  # what is no paper
_SURE, _SURE_LEAST = 8.0, 20.0  # what a line has somewhere
_WEAKEST = 0.2  # of the contrast of strong ink: what a line has somewhere
_BORDER = 0.5  # of the contrast close by: less is a blurred border
CLOSE = 5  # px, window of what is close by


def square_side(shape: tuple[int, ...]) -> int:
    """The side of the squares, px: lines and their crossings are thinner, shadows are not."""
    return int(np.clip(min(shape[:2]) // _SQUARE, _LEAST, _LARGEST))


def usual(values: Plane, side: int) -> Plane:
    """The median in squares of twice the side around each pixel, from few samples."""
    step = max(1, side // _COARSE)
    samples = values[step // 2 :: step, step // 2 :: step]
    middle = ndimage.median_filter(samples, size=2 * side // step + 1, mode="nearest")
    rows, cols = values.shape
    return resized(middle.astype(np.float32), (rows, cols))


def drawn_dark(plane: Plane, side: int) -> bool:
    """Whether more of a channel is darker than what is usual around it than is lighter."""
    rest = plane - usual(plane, side)
    rest = np.sign(rest) * np.maximum(np.abs(rest) - _FAINT_LEAST, 0)
    return bool(rest.sum() < 0)


def line_contrast(plane: Plane, dark: bool) -> Plane:
    """How far each pixel is from the paper around it, at most 255.

    >>> page = np.full((60, 60), 200.0)
    >>> page[:, 30:] *= 0.5
    >>> page[20:23] *= 0.2
    >>> line_contrast(page, dark=True)[[10, 10, 21, 21], [5, 50, 5, 50]].round(2).tolist()
    [0.0, 0.0, 204.0, 204.0]
    """
    side = square_side(plane.shape)
    calm = _without_specks(plane)
    if dark:
        paper = closed(calm, side)
        far = 255 * (1 - plane / np.maximum(paper, _DIM))
    else:
        far = plane + closed(-calm, side)
    return np.maximum(far - usual(far, side), 0.0)


def _without_specks(plane: Plane) -> Plane:
    """The median of nine: it takes single noisy pixels and keeps steps."""
    eight = Image.fromarray(np.clip(np.rint(plane), 0, 255).astype(np.uint8))
    return np.asarray(eight.filter(ImageFilter.MedianFilter(3))).astype(np.float32)


def closed(plane: Plane, side: int) -> Plane:
    """The plane without what is darker and thinner than squares of this side.

    >>> page = np.full((30, 30), 9.0)
    >>> page[10:13], page[20:, 20:] = 1.0, 2.0
    >>> closed(page, 7)[[11, 25], [5, 25]].tolist()
    [9.0, 2.0]
    """
    rows, cols = plane.shape
    wide = np.pad(plane, side, mode="edge")
    upright = ndimage.grey_closing(wide, (side, side))
    steps = round(side / np.sqrt(2)) | 1  # along a diagonal, for squares of the same side
    high = ndimage.maximum_filter(_diagonally(ndimage.maximum_filter1d, wide, steps), 3)
    tilted = _diagonally(ndimage.minimum_filter1d, ndimage.minimum_filter(high, 3), steps)
    return np.minimum(upright, tilted)[side : side + rows, side : side + cols]


def _diagonally(run: Callable[..., np.ndarray], plane: Plane, steps: int) -> Plane:
    """Filter along both diagonals: rows that are shifted one more each make them columns."""
    for mirrored in (False, True):
        own = plane[:, ::-1] if mirrored else plane
        rows, cols = own.shape
        slanted = np.pad(own, ((0, 0), (0, rows)), mode="edge").ravel()
        width = cols + rows - 1
        slanted = np.append(slanted, np.full(-slanted.size % width, own[-1, -1]))
        runs = run(slanted.reshape(-1, width), steps, axis=0, mode="nearest").ravel()
        back = runs[: rows * (cols + rows)].reshape(rows, cols + rows)[:, :cols]
        plane = back[:, ::-1] if mirrored else back
    return plane


def _noise_of(contrast: Plane) -> float:
    """The standard deviation of paper.

    A page of which most pixels equal their neighbours was not photographed: what differs there may
    be ink alone, and ink stands out far more than this.
    """
    some = contrast[contrast > 0]  # half of the paper, and all ink
    noise = _NOISE * float(np.median(some)) if len(some) else 0.0
    clean = not np.any(np.median(np.abs(np.diff(contrast.ravel(), append=0))))
    return min(noise, float(contrast.max()) / (2 * _SURE)) if clean else noise


def ink_of(contrast: Plane) -> Bool[np.ndarray, "rows cols"]:
    """Tell ink from paper by contrast.

    Connected pixels with more contrast than noise has are ink if one of them has much more, and as
    far as they have half of what is close by.
    """
    noise = _noise_of(contrast)
    seen = contrast > max(_FAINT * noise, _FAINT_LEAST)
    if not seen.any():
        return seen
    strong = float(np.quantile(contrast[seen], 0.9))
    sure = max(_SURE * noise, _SURE_LEAST, _WEAKEST * strong)
    mask = seen & (contrast >= _BORDER * ndimage.maximum_filter(contrast, CLOSE))
    pieces = np.zeros(mask.shape, np.int32)
    ndimage.label(mask, np.ones((3, 3)), output=pieces)
    kept = np.zeros(int(pieces.max()) + 1, bool)
    kept[pieces[mask & (contrast >= sure)]] = True
    return kept[pieces]
