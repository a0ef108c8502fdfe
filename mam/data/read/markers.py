"""Finding the markers that are drawn into pathfinder and cABC images."""

import numpy as np
from jaxtyping import Float, Int, UInt8
from scipy import ndimage

from mam.core.boxes import box_sums
from mam.data.raster import disc

# Of the score of the markers, what one more has at least. Dots that look like a ring have less.
_ALIKE = 0.93


def _matched(
    image: UInt8[np.ndarray, "rows cols"], kernel: Float[np.ndarray, "side side"]
) -> Float[np.ndarray, "rows cols"]:
    """How well the (symmetric) kernel fits around every pixel; nowhere beyond what is drawn."""
    from scipy.signal import fftconvolve  # slow to import, and generators do not need it

    fits, half = np.zeros(image.shape), len(kernel) // 2
    drawn = [np.flatnonzero(image.any(axis)) for axis in (1, 0)]
    if len(drawn[0]):
        near = tuple(slice(max(own[0] - half, 0), own[-1] + half + 1) for own in drawn)
        fits[near] = fftconvolve(image[near].astype(float) / 255, kernel, mode="same")
    return fits


def _two_best(
    score: Float[np.ndarray, "rows cols"],
    apart: int,
    least: float,
    name: str,
    what: str,
    sure: float = np.inf,
) -> Int[np.ndarray, "2 2"]:
    """The two highest places at least `apart` from each other; a plateau counts as its middle.

    A third one is refused if it is ``sure`` and about as high as they are.
    """
    left, found, lower = score.copy(), [], np.inf
    for _ in range(2):
        row, col = np.unravel_index(int(left.argmax()), left.shape)
        if left[row, col] < least:
            raise ValueError(f"{name}: {len(found)} of 2 {what} markers found; give the markers")
        lower = min(lower, float(left[row, col]))
        window = left[max(row - 3, 0) : row + 4, max(col - 3, 0) : col + 4]
        top = np.argwhere(window >= window.max() - 1e-6).mean(axis=0)
        found.append(np.rint(top + np.maximum([row - 3, col - 3], 0)).astype(int))
        left[max(row - apart, 0) : row + apart + 1, max(col - apart, 0) : col + apart + 1] = -1
    row, col = np.unravel_index(int(left.argmax()), left.shape)
    if left[row, col] >= max(sure, _ALIKE * lower):
        raise ValueError(
            f"{name}: three {what} markers, the third at [{row}, {col}]; two are asked about"
        )
    return np.stack(found)


def find_discs(
    image: UInt8[np.ndarray, "rows cols"], name: str, radius: float = 5.0
) -> Int[np.ndarray, "2 2"]:
    """(row, col) of the two filled discs in a pathfinder image.

    >>> canvas = np.zeros((60, 60), np.uint8)
    >>> canvas[15:26, 15:26] = canvas[35:46, 40:51] = disc(5.0) * 255
    >>> sorted(find_discs(canvas, "toy").tolist())
    [[20, 20], [40, 45]]
    """
    # Strokes are 2 px thick: only a marker fills a disc, and already a square inside of one.
    shape = disc(radius).astype(float)
    inner, half = 2 * int(radius / 2) + 1, len(shape) // 2
    wide = np.pad(image, half)
    inside = slice(half - inner // 2, inner // 2 - half or None)
    full = box_sums(wide[inside, inside], inner) > 0.7 * 255 * inner * inner
    row, col = np.divmod(np.flatnonzero(full), max(image.shape[1], 1))
    steps = np.arange(len(shape))
    around = wide[row[:, None, None] + steps[:, None], col[:, None, None] + steps]
    score = np.zeros(image.shape)
    score[row, col] = (around * shape).sum((1, 2)) / (255 * shape.sum())
    return _two_best(score, int(2 * radius), 0.8, name, "disc")


def find_rings(
    image: UInt8[np.ndarray, "rows cols"], name: str, radius: float = 11.0, ring: float = 3.0
) -> Int[np.ndarray, "2 2"]:
    """(row, col) of the two rings in a cABC image: bright around, dark inside."""
    half = int(np.ceil(radius))
    distance = np.hypot(*np.mgrid[-half : half + 1, -half : half + 1])
    around = (distance <= radius) & (distance >= radius - ring + 0.5)
    inside = distance <= radius - ring - 0.5
    kernel = around / around.sum() - inside / inside.sum()
    smooth = ndimage.gaussian_filter(_matched(image, kernel), 0.5)
    return _two_best(smooth, int(radius), 0.5, name, "ring", sure=0.7)
