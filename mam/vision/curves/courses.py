"""Courses of known curves: points in order, at equal steps."""

import numpy as np
from jaxtyping import Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.angles import cross
from mam.vision.curves.line_forms import lengths_along, points_at

Contour = Float[np.ndarray, "_ 2"] | Int[np.ndarray, "_ 2"]  # rows and columns, in order

STEP = 0.5  # px between the points at which the position along a contour is read
_CLOSE = 64  # points of a course among which that with the direction is looked for


def even_course(points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "steps 4"]:
    """Points at equal steps along a contour, each with the direction there."""
    points = points[np.append(True, np.diff(points, axis=0).any(1))]
    along = lengths_along(points)
    even = points_at(points, np.arange(0.0, along[-1] + STEP, STEP), along)
    if len(even) == 1:
        return np.concatenate([even, np.zeros((1, 2))], 1)
    way = np.gradient(even, axis=0)
    size = np.linalg.norm(way, axis=1, keepdims=True)
    return np.concatenate([even, way / np.maximum(size, 1e-9)], 1)


def nearest_step(
    course: Float[np.ndarray, "steps 4"],
    place: Float[np.ndarray, "places 2"],
    way: Float[np.ndarray, "places 2"],
    turned: Float[np.ndarray, " places"] | float,
) -> tuple[Int[np.ndarray, " places"], Float[np.ndarray, " places"]]:
    """The step of a course that is nearest to each place, and how far it is, px.

    What lies across the course there counts as ``turned`` px farther away: where a course crosses
    itself, it is the stretch that has the direction.

    >>> course = even_course(np.array([[0.0, 0], [0, 9]]))
    >>> step, far = nearest_step(course, np.array([[1.0, 4.0]]), np.array([[0.0, 1.0]]), 4.0)
    >>> step.tolist(), far.tolist()
    ([8], [1.0])
    """
    close = min(_CLOSE, len(course))
    far, which = KDTree(course[:, :2]).query(place, k=close)
    far, which = far.reshape(len(place), close), which.reshape(len(place), close)
    along = course[which, 2:]
    across = np.abs(cross(np.broadcast_to(way[:, None], along.shape), along))
    best = (far + np.reshape(turned, (-1, 1)) * across).argmin(1)
    rows = np.arange(len(place))
    return which[rows, best], far[rows, best]
