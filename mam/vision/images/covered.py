"""Points of an image where something covers the end of a contour."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

DIRECTIONS = 48


@dataclass(frozen=True, eq=False)
class Hidden:
    """Points of an image where contours end in covered strokes."""

    points: Float[np.ndarray, "points 2"]
    directions: Float[np.ndarray, "points directions"]  # log preference for each, at most 0
    pixels: Bool[np.ndarray, "rows cols"] | None = None  # that are covered; None: not known which

    @classmethod
    def at(cls, points: Int[np.ndarray, "_ 2"] | Float[np.ndarray, "_ 2"]) -> "Hidden":
        """Covered strokes of which nothing more is known."""
        places = np.asarray(points, float).reshape(-1, 2)
        return cls(places, np.zeros((len(places), DIRECTIONS)))

    def covered(self, shape: tuple[int, ...]) -> Bool[np.ndarray, "_ _"]:
        """The covered pixels of an image of this shape: none where they are not given."""
        return np.zeros(shape, bool) if self.pixels is None else self.pixels


def angles() -> Float[np.ndarray, " directions"]:
    """The directions that are tried."""
    return np.arange(DIRECTIONS) * (2 * np.pi / DIRECTIONS)


def ways() -> Float[np.ndarray, "directions 2"]:
    """Unit vectors in all directions that are tried."""
    return np.stack([np.sin(angles()), np.cos(angles())], 1)
