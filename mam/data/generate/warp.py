"""Bending a letter: random scale, rotation, shear, and a smooth landscape that pushes the pen.

All transforms act on the corners of the strokes' outline, so a letter is drawn only once, at the
target size. A stroke is thick before it is bent: enlarged letters have heavier strokes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from mam.data.raster import Shapes, pack

Points = Float[np.ndarray, "_ 2"]

_STEP = 5.0  # px between the corners along a stroke; bends are much longer
_CAP = 12  # corners of the round ends and joints


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


def outline(lines: Sequence[Points], thickness: float) -> Shapes:
    """Polygons that cover thick polylines: a quadrilateral per step, a disc at every joint.

    >>> outline([np.array([[0.0, 0.0], [0.0, 4.0]])], 2.0).sizes
    (4, 12, 12)
    """
    turn = np.arange(_CAP) * 2 * np.pi / _CAP
    disc = np.stack([np.sin(turn), np.cos(turn)], axis=1) * thickness / 2
    polygons: list[Points] = []
    for line in lines:
        steps = np.diff(line, axis=0)
        lengths = np.hypot(*steps.T)
        for start, step, length in zip(line, steps, lengths, strict=False):
            if length > 0:
                polygons += _quadrilaterals(start, step, float(length), thickness)
        polygons += list(disc + line[:, None])
    return pack(polygons)


def _quadrilaterals(
    start: Float[np.ndarray, "2"], step: Float[np.ndarray, "2"], length: float, thickness: float
) -> list[Points]:
    """A thick straight line, cut into pieces short enough to bend."""
    cuts = np.linspace(0, 1, int(np.ceil(length / _STEP)) + 1)[:, None]
    path = start + cuts * step
    side = np.array([-step[1], step[0]]) / length * thickness / 2
    left, right = path + side, path - side
    return list(np.stack([left[:-1], left[1:], right[1:], right[:-1]], axis=1))


@dataclass(frozen=True)
class Landscape:
    """Gaussian bumps of either sign; the pen is pushed along the slope."""

    centres: Points
    signs: Float[np.ndarray, "bumps"]
    sigma: float  # px
    strength: float  # px of push per unit slope

    def _bumps(self, points: Points) -> Float[np.ndarray, "_ _"]:
        """Every bump's height at every point."""
        # |p - c|^2 by a matrix product: a letter has hundreds of corners.
        squares = (points**2).sum(1)[:, None] + (self.centres**2).sum(1)
        apart = squares - 2 * points @ self.centres.T
        return self.signs * np.exp(-apart / (2 * self.sigma**2))

    def height(self, points: Points) -> Float[np.ndarray, "_"]:
        """The landscape itself."""
        return self._bumps(points).sum(1)

    def push(self, points: Points) -> Points:
        """The displacement at each point: strength times the gradient."""
        bumps = self._bumps(points)
        slope = bumps @ self.centres - bumps.sum(1)[:, None] * points
        return self.strength * slope / self.sigma**2


@dataclass(frozen=True)
class Distortion:
    """How landscapes are drawn."""

    bumps: int = 10
    sigma: float = 109.5  # px, root of the published variance parameter 12000
    # px per grey level and px of slope, per px of the letter's longer side. Published: 0.24 x
    # Sobel (5 x 5, gain 128) x side / 200, at 4 x scale, hence / 4.
    push: float = 0.24 * 128 / 200 / 4


def draw_landscape(rng: np.random.Generator, points: Points, distortion: Distortion) -> Landscape:
    """A landscape over the bounding box of `points`, its range scaled to 0..255."""
    low, high = points.min(axis=0), points.max(axis=0)
    centres = rng.uniform(low, high, (distortion.bumps, 2))
    signs = rng.choice([-1.0, 1.0], distortion.bumps)
    grid = np.stack(np.meshgrid(*np.linspace(low, high, 9).T, indexing="ij"), axis=-1)
    flat = Landscape(centres, signs, distortion.sigma, 1.0)
    span = float(np.ptp(flat.height(grid.reshape(-1, 2))))
    longer = float((high - low).max())
    strength = distortion.push * 255.0 / max(span, 1e-9) * longer
    return replace(flat, strength=strength)


def bend(
    shapes: Shapes, affine: Affine, distortion: Distortion, rng: np.random.Generator
) -> Shapes:
    """The shapes after the affine transform and a fresh landscape's push, top left at (0, 0)."""
    points = shapes.corners @ affine.matrix().T
    moved = points + draw_landscape(rng, points, distortion).push(points)
    return replace(shapes, corners=moved - np.floor(moved.min(axis=0)))


def extent(shapes: Shapes) -> tuple[int, int]:
    """Height and width (px) of the canvas that shapes from (0, 0) on need.

    >>> extent(outline([np.array([[2.0, 2.0], [2.0, 6.0]])], 2.0))
    (4, 8)
    """
    rows, cols = np.ceil(shapes.corners.max(axis=0)) + 1
    return int(rows), int(cols)
