r"""How well one stroke continues another: the potential of an attention variable, learned.

``SmoothContinuation`` describes a pair by its geometry :math:`g` (distance, bend and skew, see
``stroke_pairs``) and holds, from the pairs of neighbours on known contours,

.. math:: \log \frac{P(\text{neighbours} \mid g)}{P(\text{others} \mid g)}

on a grid, from smoothed counts, so that one pair seen tells about all that lie nearly the same. The
paper's own continuation is in ``co_occurrences``: it allows the pairs of parts that were seen
exactly so.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage

from mam.core.schema import ArraySpec, Setting
from mam.vision.curves.chain_model import Links
from mam.vision.curves.strokes.poses import Poses
from mam.vision.curves.strokes.stroke_pairs import Pairs, find_pairs, narrowed


@dataclass(frozen=True)
class Smoothing:
    """How counts become a potential."""

    reach: float = 18.0  # px; strokes whose middles are farther apart never continue each other
    distance_step: float = 0.5  # px, of the grid
    angle_step: float = 4.0  # degrees, of the grid
    distance_width: float = 0.75  # px, of the Gaussian that spreads a neighbour
    angle_width: float = 8.0  # degrees
    others_width: float = 2.0  # times as wide for pairs that are no neighbours
    unseen: float = 0.5  # pairs that are no neighbours, imagined in every cell of the grid
    doubt: float = 1e-4  # neighbours imagined in every cell


SMOOTHING = Smoothing()
# What a model file says of them. Pairs within reach are all listed.
SETTINGS = {
    "reach": Setting(float, 0.1, 1000),
    **{name: Setting(float, 0.01, 1000) for name in ("distance_step", "angle_step")},
    **{name: Setting(float, 0, 1000) for name in ("distance_width", "angle_width")},
    **{name: Setting(float, 0, 1000) for name in ("others_width", "unseen", "doubt")},
}
ARRAYS = {
    "table": ArraySpec(
        ("float32", "float64"), ("distances", "angles", "angles"), -1e6, 1e6, optional=True
    )
}


@dataclass(frozen=True, eq=False)
class SmoothContinuation:
    """Log odds on a grid over distance, bend and skew."""

    table: Float[np.ndarray, "distances angles angles"]
    smoothing: Smoothing = SMOOTHING

    @property
    def reach(self) -> float:
        """The largest distance of the grid, px."""
        return self.smoothing.reach

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The grid."""
        return {"table": self.table}

    def links(self, poses: Poses, bridging: float = 1.0) -> Links:
        """Return an attention variable for every pair within reach, with its log odds."""
        pairs = find_pairs(poses, max(bridging, 1.0) * self.reach)
        if bridging != 1:
            pairs = narrowed(poses, pairs, bridging)
            pairs = pairs.take(pairs.distance <= self.reach)
        return Links(pairs.pose, pairs.side, self.log_odds(pairs))

    def log_odds(self, pairs: Pairs) -> Float[np.ndarray, " pairs"]:
        """Interpolate the grid."""
        where = _grid_place(pairs, self.smoothing)
        return ndimage.map_coordinates(self.table, where, order=1, mode="nearest")


def learn_smooth(
    pairs: Pairs, neighbours: Bool[np.ndarray, " pairs"], smoothing: Smoothing = SMOOTHING
) -> SmoothContinuation:
    """Learn from pairs of which it is known whether they are neighbours on a contour."""
    if not neighbours.any():
        raise ValueError("no two strokes of the training images are neighbours on a contour")
    shape = _grid_shape(smoothing)
    where = np.rint(_grid_place(pairs, smoothing)).astype(np.int64)
    cell = np.ravel_multi_index(tuple(where), shape, mode="clip")
    width = np.array(
        [smoothing.distance_width / smoothing.distance_step]
        + [smoothing.angle_width / smoothing.angle_step] * 2
    )

    def spread(some: np.ndarray, wider: float) -> np.ndarray:
        counts = np.bincount(cell.ravel()[some], minlength=int(np.prod(shape))).reshape(shape)
        # Bend and skew are absolute values: what would spread below 0 comes back above.
        return ndimage.gaussian_filter(counts.astype(float), width * wider, mode="reflect")

    linked = spread(neighbours, 1.0) + smoothing.doubt
    others = spread(~neighbours, smoothing.others_width) + smoothing.unseen
    return SmoothContinuation(np.log(linked / others).astype(np.float32), smoothing)


def check_table(table: np.ndarray, smoothing: Smoothing) -> None:
    """Refuse a grid of another size than the settings say."""
    if table.shape != _grid_shape(smoothing):
        raise ValueError(f"table is {table.shape}, but its smoothing says {_grid_shape(smoothing)}")


def _grid_shape(smoothing: Smoothing) -> tuple[int, int, int]:
    angles = int(np.ceil(180 / smoothing.angle_step)) + 1
    return int(np.ceil(smoothing.reach / smoothing.distance_step)) + 1, angles, angles


def _grid_place(pairs: Pairs, smoothing: Smoothing) -> Float[np.ndarray, "3 pairs"]:
    angles = np.degrees(np.stack([pairs.bend, pairs.skew])) / smoothing.angle_step
    return np.concatenate([pairs.distance[None] / smoothing.distance_step, angles])
