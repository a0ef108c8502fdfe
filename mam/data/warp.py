"""Bending a letter: random scale, rotation, shear, and a smooth landscape that pushes the pen.

All transforms act on the corners of the strokes' outline, so a letter is drawn only once, at the
target size. A stroke is thick before it is bent: enlarged letters have heavier strokes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from jaxtyping import Bool, Float

from mam.data.raster import fill

Points = Float[np.ndarray, "_ 2"]

_STEP = 5.0  # px between the corners along a stroke; bends are much longer
_CAP = 12  # corners of the round ends and joints
RASTER = 2  # sub-pixels per pixel and axis when a letter is drawn


@dataclass(frozen=True)
class Spread:
    """Standard deviations of the random transform; every draw is cut at two of them."""

    scale: float  # of the power p in the factor 0.5 ** p
    rotation: float  # degrees
    shear: float


def truncated(rng: np.random.Generator, sigma: float, size: int = 1) -> Float[np.ndarray, "size"]:
    """Normal draws, drawn again beyond two sigma.

    >>> bool((np.abs(truncated(np.random.default_rng(0), 1.0, 100)) <= 2).all())
    True
    """
    draws = rng.normal(size=size)
    while (far := np.abs(draws) > 2).any():
        draws[far] = rng.normal(size=int(far.sum()))
    return draws * sigma


@dataclass(frozen=True)
class Affine:
    """Powers of the two scales, rotation in degrees, shear."""

    powers: tuple[float, float]
    rotation: float
    shear: float

    def matrix(self) -> Float[np.ndarray, "2 2"]:
        """Matrix for (row, col) columns: scale, then shear, then rotate."""
        scale = np.diag(0.5 ** np.array(self.powers))
        shear = np.array([[1.0, 0.0], [self.shear, 1.0]])
        turn = np.radians(self.rotation)
        rotate = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
        return rotate @ shear @ scale


def draw_affine(rng: np.random.Generator, spread: Spread) -> Affine:
    """A random transform; height and width grow or shrink together."""
    sign = rng.choice([-1.0, 1.0])
    height, width = sign * np.abs(truncated(rng, spread.scale, 2))
    rotation, shear = truncated(rng, spread.rotation)[0], truncated(rng, spread.shear)[0]
    return Affine((float(height), float(width)), float(rotation), float(shear))


def combine(first: Affine, second: Affine) -> Affine:
    """Factors multiply (powers add), rotations and shears add.

    >>> combine(Affine((1.0, 0.0), 10.0, 0.1), Affine((0.5, 0.5), 5.0, 0.0)).powers
    (1.5, 0.5)
    """
    powers = (first.powers[0] + second.powers[0], first.powers[1] + second.powers[1])
    return Affine(powers, first.rotation + second.rotation, first.shear + second.shear)


def outline(lines: Sequence[Points], thickness: float) -> list[Points]:
    """Polygons that cover thick polylines: a quadrilateral per step, a disc at every joint.

    >>> [shape.shape for shape in outline([np.array([[0.0, 0.0], [0.0, 4.0]])], 2.0)]
    [(4, 2), (12, 2), (12, 2)]
    """
    turn = np.arange(_CAP) * 2 * np.pi / _CAP
    disc = np.stack([np.sin(turn), np.cos(turn)], axis=1) * thickness / 2
    shapes = []
    for line in lines:
        for start, end in pairwise(line):
            length = float(np.hypot(*(end - start)))
            if length == 0:
                continue
            cuts = np.linspace(0, 1, int(np.ceil(length / _STEP)) + 1)[:, None]
            path = start + cuts * (end - start)
            side = np.array([-(end - start)[1], (end - start)[0]]) / length * thickness / 2
            left, right = path + side, path - side
            shapes += list(np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1))
        shapes += [disc + joint for joint in line]
    return shapes


@dataclass(frozen=True)
class Landscape:
    """Gaussian bumps of either sign; the pen is pushed along the slope."""

    centres: Points
    signs: Float[np.ndarray, "bumps"]
    sigma: float  # px
    strength: float  # px of push per unit slope

    def push(self, points: Points) -> Points:
        """The displacement at each point: strength times the gradient."""
        apart = self.centres[None] - points[:, None]
        weight = self.signs * np.exp(-(apart**2).sum(-1) / (2 * self.sigma**2))
        return self.strength * (weight[..., None] * apart).sum(1) / self.sigma**2

    def height(self, points: Points) -> Float[np.ndarray, "_"]:
        """The landscape itself."""
        apart = self.centres[None] - points[:, None]
        return (self.signs * np.exp(-(apart**2).sum(-1) / (2 * self.sigma**2))).sum(1)


def draw_landscape(
    rng: np.random.Generator, points: Points, bumps: int, sigma: float, push: float
) -> Landscape:
    """A landscape over the bounding box of `points`, its range scaled to 0..255."""
    low, high = points.min(axis=0), points.max(axis=0)
    centres = rng.uniform(low, high, (bumps, 2))
    signs = rng.choice([-1.0, 1.0], bumps)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 9).T, indexing="ij"), axis=-1)
    flat = Landscape(centres, signs, sigma, 1.0)
    span = float(np.ptp(flat.height(grid.reshape(-1, 2))))
    longer = float((high - low).max())
    return Landscape(centres, signs, sigma, push * 255.0 / max(span, 1e-9) * longer)


def draw_letter(shapes: list[Points]) -> Bool[np.ndarray, "rows cols"]:
    """Raster of the letter at `RASTER` sub-pixels per pixel, cropped to its bounding box."""
    points = np.concatenate(shapes)
    low = np.floor(points.min(axis=0))
    high = np.ceil(points.max(axis=0)) + 1
    size = (int(high[0] - low[0]), int(high[1] - low[1]))
    return fill([shape - low for shape in shapes], size, RASTER)


def bend(
    shapes: list[Points],
    affine: Affine,
    rng: np.random.Generator,
    bumps: int,
    sigma: float,
    push: float,
) -> list[Points]:
    """The shapes after the affine transform and a fresh landscape's push."""
    sizes = np.cumsum([len(shape) for shape in shapes])[:-1]
    points = np.concatenate(shapes) @ affine.matrix().T
    landscape = draw_landscape(rng, points, bumps, sigma, push)
    return np.split(points + landscape.push(points), sizes)
