"""Small pictures for the tests of vision: drawn parts, crops of generated contours and letters."""

import numpy as np
from scipy.spatial import KDTree

from mam.data import make_row, recipe
from mam.data.raster import stroke_sprite
from mam.vision.parts.masks import CABC, PATHFINDER, Parts
from mam.vision.parts.training import binary_images


def drawn_strokes(count: int = 16) -> Parts:
    """Strokes of the pathfinder generator, at evenly spaced orientations."""
    masks = []
    for angle in np.pi * np.arange(count) / count:
        stroke = stroke_sprite(float(angle), 5.0, 2.0, 2, 9) > 26
        row, col = (round(float(values.mean())) for values in np.nonzero(stroke))
        masks.append(stroke[row - 3 : row + 4, col - 3 : col + 4])
    return Parts(np.array(masks), PATHFINDER)


def drawn_disc() -> Parts:
    """The disc of radius 4 that letters are made of."""
    rows, cols = np.mgrid[-4:5, -4:5]
    return Parts((rows**2 + cols**2 <= 16)[None], CABC)


def contour(row: int, level: str = "hard") -> np.ndarray:
    """Binary image of generated contours."""
    return make_row(recipe("pathfinder", level, 11), row).clean > 26


def letter(row: int) -> np.ndarray:
    """Binary image of a generated letter, reduced as for learning."""
    return binary_images(make_row(recipe("cabc", "hard", 11), row), "a generated row")[0]


def crop(image: np.ndarray, side: int, seed: int) -> np.ndarray:
    """A square around a random ON pixel."""
    on = np.argwhere(image)
    row, col = on[np.random.default_rng(seed).integers(len(on))] - side // 2
    row = int(np.clip(row, 0, image.shape[0] - side))
    col = int(np.clip(col, 0, image.shape[1] - side))
    return image[row : row + side, col : col + side]


def drawn_curve(shape: tuple[int, ...], points: np.ndarray, width: float | int) -> np.ndarray:
    """Binary image of a thick curve: the pixels within half a width of its points."""
    pixels = np.indices(shape).reshape(2, -1).T
    distance, _ = KDTree(points).query(pixels, distance_upper_bound=width / 2 + 1)
    return (distance <= width / 2).reshape(shape)
