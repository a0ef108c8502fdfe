"""Contours of a pathfinder row, each cut out of its picture and seen alone."""

import numpy as np
from jaxtyping import Float, UInt8
from scipy import ndimage

from mam.data import PathfinderRow

_STROKE = 5.0  # px from a stroke's start to its other end (facts: the generator's length)
_MARGIN = 8  # px around a contour that is cut out: more than a part reaches
_WIDTH = 320  # px of a picture of several, unless one contour is wider: a tile of the sparsifier

_Picture = UInt8[np.ndarray, "_ _"]
_Course = Float[np.ndarray, "_ 2"]


def contours_of(row: PathfinderRow) -> list[Float[np.ndarray, "strokes 2"]]:
    """Return the middles of the strokes of every contour, in order."""
    return [
        np.array(
            [
                (
                    stroke.row + _STROKE / 2 * np.sin(stroke.angle),
                    stroke.col + _STROKE / 2 * np.cos(stroke.angle),
                )
                for stroke in contour
            ]
        ).reshape(-1, 2)
        for contour in row.segments
    ]


def contours_alone(row: PathfinderRow) -> list[tuple[_Picture, _Course]]:
    """Return every contour alone, cut out with a margin, and the middles of its strokes."""
    courses = contours_of(row)
    found = []
    boxes = ndimage.find_objects(row.contours.astype(np.int32), max_label=len(courses))
    for number, (course, box) in enumerate(zip(courses, boxes, strict=True), 1):
        if box is None:
            continue
        own = np.where(row.contours[box] == number, row.clean[box], 0)
        where = np.argwhere(own > 0)
        if len(where):
            low, high = where.min(0), where.max(0) + 1
            corner = np.array([side.start for side in box]) + low - _MARGIN
            picture = np.pad(own[low[0] : high[0], low[1] : high[1]], _MARGIN)
            found.append((picture, course - corner))
    return found


def contours_apart(row: PathfinderRow) -> tuple[_Picture, list[_Course]]:
    """Return one picture with every contour in a place of its own, and where their strokes are.

    No part reaches from one contour to another, so that each is explained as if it were alone.
    """
    shown = contours_alone(row)
    shapes = np.array([picture.shape for picture, _ in shown]).reshape(-1, 2)
    width = max(_WIDTH, int(shapes[:, 1].max(initial=0)))
    corners = _shelves(shapes, width)
    height = int((corners + shapes)[:, 0].max(initial=1))
    picture = np.zeros((height, width), np.uint8)
    for (own, _), (top, left) in zip(shown, corners.tolist(), strict=True):
        picture[top : top + own.shape[0], left : left + own.shape[1]] = own
    return picture, [course + at for (_, course), at in zip(shown, corners, strict=True)]


def _shelves(shapes: np.ndarray, width: int) -> np.ndarray:
    """Corners of boxes that stand side by side on shelves; the highest come first.

    >>> _shelves(np.array([[2, 5], [4, 6], [1, 4]]), 11).tolist()
    [[0, 6], [0, 0], [4, 0]]
    """
    corners = np.zeros((len(shapes), 2), np.int64)
    top = left = shelf = 0
    for box in np.argsort(-shapes[:, 0], kind="stable").tolist():
        if left + shapes[box, 1] > width:
            top, left, shelf = top + shelf, 0, 0
        corners[box] = top, left
        left, shelf = left + shapes[box, 1], max(shelf, shapes[box, 0])
    return corners
