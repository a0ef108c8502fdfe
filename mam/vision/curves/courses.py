"""Courses of known curves: points in order, at equal steps."""

import numpy as np
from jaxtyping import Float, Int

Contour = Float[np.ndarray, "_ 2"] | Int[np.ndarray, "_ 2"]  # rows and columns, in order

STEP = 0.5  # px between the points at which the position along a contour is read


def even_course(points: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "steps 4"]:
    """Points at equal steps along a contour, each with the direction there."""
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    points = points[np.concatenate([[True], steps > 0])]
    along = np.concatenate([[0.0], np.cumsum(steps[steps > 0])])
    at = np.arange(0.0, along[-1] + STEP, STEP)
    even = np.stack([np.interp(at, along, column) for column in points.T], 1)
    if len(even) == 1:
        return np.concatenate([even, np.zeros((1, 2))], 1)
    way = np.gradient(even, axis=0)
    size = np.linalg.norm(way, axis=1, keepdims=True)
    return np.concatenate([even, way / np.maximum(size, 1e-9)], 1)
