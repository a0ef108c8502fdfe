r"""Pairs of strokes that may continue each other, and the geometry of the continuation.

Of each stroke, the end that faces the other is meant. Let :math:`d` be the distance of the two
middles, :math:`\alpha` the angle from the one stroke's outward direction to the line that joins
them, and :math:`\beta` the same at the other stroke. Mirroring changes both signs, exchanging the
strokes exchanges them; what stays is

.. math:: d, \qquad \text{bend} = |\alpha - \beta|, \qquad \text{skew} = |\alpha + \beta|.

On a circle the skew is 0 and the bend is the angle by which the contour turns.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from mam.core.columns import Columns
from mam.vision.curves.chain_grouper import NEXT_TO_NOTHING
from mam.vision.curves.strokes.poses import Poses, nearby


@dataclass(frozen=True, eq=False)
class Pairs(Columns):
    """Pairs of facing ends."""

    pose: Int[np.ndarray, "pairs 2"]
    side: Int[np.ndarray, "pairs 2"]  # 1: the end that the axis points to, 0: the other
    distance: Float[np.ndarray, " pairs"]  # px
    bend: Float[np.ndarray, " pairs"]  # radians
    skew: Float[np.ndarray, " pairs"]  # radians


def find_pairs(poses: Poses, reach: float) -> Pairs:
    """List the pairs of strokes of one image whose middles are within reach.

    >>> one = Poses(np.zeros(2, int), np.array([[0.0, 0], [0, 9]]), np.zeros(2), np.ones(2) * 5,
    ...             np.zeros(2, int), np.zeros((2, 2), int))
    >>> pairs = find_pairs(one, 10.0)
    >>> pairs.side.tolist(), pairs.distance.tolist(), pairs.bend.tolist(), pairs.skew.tolist()
    ([[1, 0]], [9.0], [0.0], [0.0])
    """
    return pairs_of(poses, nearby(poses, reach))


def pairs_of(poses: Poses, pose: Int[np.ndarray, "pairs 2"]) -> Pairs:
    """Look at given pairs of strokes."""
    along = poses.middle[pose[:, 1]] - poses.middle[pose[:, 0]]
    towards = np.stack([along, -along], 1)  # (pairs, 2 strokes, row and column)
    axis = poses.axis[pose]
    ahead = (axis * towards).sum(2)
    side = (ahead >= 0).astype(np.int64)
    outward = np.where(side[..., None] == 1, axis, -axis)
    across = outward[..., 1] * towards[..., 0] - outward[..., 0] * towards[..., 1]
    turn = np.arctan2(across, np.abs(ahead))
    bend, skew = np.abs(turn[:, 0] - turn[:, 1]), np.abs(turn[:, 0] + turn[:, 1])
    return Pairs(pose, side, np.linalg.norm(along, axis=1), bend, skew)


def narrowed(poses: Poses, pairs: Pairs, times: float) -> Pairs:
    """Return the pairs as if the gap between two strokes were so many times narrower.

    >>> one = Poses(np.zeros(2, int), np.array([[0.0, 0], [0, 9]]), np.zeros(2), np.ones(2) * 5,
    ...             np.zeros(2, int), np.zeros((2, 2), int))
    >>> narrowed(one, find_pairs(one, 10.0), 2.0).distance.tolist()
    [7.0]
    """
    strokes = poses.length[pairs.pose].mean(1)
    gap = np.maximum(pairs.distance - strokes, 0.0)
    return replace(pairs, distance=pairs.distance - gap + gap / max(times, NEXT_TO_NOTHING))
