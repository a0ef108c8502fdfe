"""Which strokes are neighbours on contours whose course is known."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.pairs import Pairs
from mam.vision.poses import Poses

Contour = Float[np.ndarray, "_ 2"] | Int[np.ndarray, "_ 2"]  # rows and columns, in order

STEP = 0.5  # px between the points at which the position along a contour is read
_OFF_COURSE = 4.0  # px; a stroke farther from all contours belongs to none
_TURNED = 4.0  # px that a stroke across a contour counts as farther away


def neighbours_on_contours(
    poses: Poses, pairs: Pairs, contours: Sequence[Sequence[Contour]]
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs follow each other along a contour; ``contours`` are listed by image.

    Strokes are sorted along the contour they lie on. Where the contour crosses itself, a stroke
    lies on the course that has its direction.
    """
    contour, position = _places(poses, contours)
    order = np.lexsort((position, contour))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    first, second = pairs.pose.T
    same = (contour[first] == contour[second]) & (contour[first] >= 0)
    return same & (np.abs(rank[first] - rank[second]) == 1)


def _places(
    poses: Poses, contours: Sequence[Sequence[Contour]]
) -> tuple[Int[np.ndarray, " poses"], Float[np.ndarray, " poses"]]:
    """The contour of each stroke (-1: none) and how far along it the stroke lies."""
    contour, position = np.full(len(poses), -1), np.zeros(len(poses))
    number = 0
    for image, known in enumerate(contours):
        mine = np.flatnonzero(poses.image == image)
        courses = [even_course(np.asarray(points, float)) for points in known]
        if len(mine) and courses:
            sizes = [len(course) for course in courses]
            owner = number + np.repeat(np.arange(len(sizes)), sizes)
            along = np.concatenate([STEP * np.arange(size) for size in sizes])
            nearest, far = _nearest(poses.take(mine), np.concatenate(courses))
            near = far <= _OFF_COURSE
            contour[mine[near]] = owner[nearest[near]]
            position[mine[near]] = along[nearest[near]]
        number += len(known)
    return contour, position


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


def _nearest(
    poses: Poses, course: Float[np.ndarray, "steps 4"]
) -> tuple[Int[np.ndarray, " poses"], Float[np.ndarray, " poses"]]:
    """The point of a course that is nearest to each stroke, in place and direction."""
    close = min(64, len(course))
    far, which = KDTree(course[:, :2]).query(poses.middle, k=close)
    far, which = far.reshape(len(poses), close), which.reshape(len(poses), close)
    axis = poses.axis[:, None]
    way = course[which, 2:]
    turned = np.abs(axis[..., 0] * way[..., 1] - axis[..., 1] * way[..., 0])
    best = (far + _TURNED * turned).argmin(1)
    rows = np.arange(len(poses))
    return which[rows, best], far[rows, best]
