"""Which strand ends follow each other on curves whose course is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.strands import Ends, Strands
from mam.vision.truth import STEP, Contour, even_course

_OFF_COURSE = 0.5  # widths and 2 px: an end farther from all courses lies on none
_TURNED = 1.0  # widths that an end across a course counts as farther away
_STRETCHED = 0.3  # of its length, and a width: what a strand may differ from its course
_CLOSE = 64  # points of courses among which an end looks for its own


@dataclass(frozen=True, eq=False)
class Truth:
    """Where every end of a strand lies on a known course."""

    course: Int[np.ndarray, " ends"]  # -1 for ends of strands that follow none
    position: Float[np.ndarray, " ends"]  # px along it
    following: Int[np.ndarray, " ends"]  # the end in which this one continues, -1 for none


def find_truth(strands: Strands, ends: Ends, courses: Sequence[Contour]) -> Truth:
    """Sort strands along the courses they follow; the leaving end continues in the next entering.

    A strand follows a course when both of its ends lie there, as far apart as it is long. Loose
    strands are left out: two curves may share them.
    """
    course, position = np.full(len(ends), -1), np.zeros(len(ends))
    if len(ends) and courses:
        course, position = _places(ends, [even_course(np.asarray(c, float)) for c in courses])
    both, along = course.reshape(-1, 2), position.reshape(-1, 2)
    span = np.abs(along[:, 1] - along[:, 0])
    as_long = np.abs(span - strands.length) < _STRETCHED * strands.length + strands.width
    good = (both[:, 0] == both[:, 1]) & (both[:, 0] >= 0) & as_long & ~strands.loose
    course = np.where(np.repeat(good, 2), course, -1)
    return Truth(course, position, _following(good, both[:, 0], along))


def _following(
    good: Bool[np.ndarray, " strands"],
    course: Int[np.ndarray, " strands"],
    along: Float[np.ndarray, "strands 2"],
) -> Int[np.ndarray, " ends"]:
    following = np.full(2 * len(good), -1)
    known = np.flatnonzero(good)
    order = known[np.lexsort((along[known].mean(1), course[known]))]
    forward = (along[:, 1] >= along[:, 0]).astype(int)
    here, there = order[:-1], order[1:]
    joined = course[here] == course[there]
    here, there = here[joined], there[joined]
    leaving, entering = 2 * here + forward[here], 2 * there + 1 - forward[there]
    following[leaving], following[entering] = entering, leaving
    return following


def _places(
    ends: Ends, courses: list[Float[np.ndarray, "_ 4"]]
) -> tuple[Int[np.ndarray, " ends"], Float[np.ndarray, " ends"]]:
    """The course of each end, nearest in place and direction, and how far along it lies."""
    owner = np.repeat(np.arange(len(courses)), [len(course) for course in courses])
    along = np.concatenate([STEP * np.arange(len(course)) for course in courses])
    points = np.concatenate(courses)
    close = min(_CLOSE, len(points))
    far, which = KDTree(points[:, :2]).query(ends.place, k=close)
    far, which = far.reshape(len(ends), close), which.reshape(len(ends), close)
    heading, way = ends.heading[:, None], points[which, 2:]
    across = np.abs(heading[..., 0] * way[..., 1] - heading[..., 1] * way[..., 0])
    best = (far + _TURNED * ends.width[:, None] * across).argmin(1)
    rows = np.arange(len(ends))
    nearest, far = which[rows, best], far[rows, best]
    near = far <= _OFF_COURSE * ends.width + 2
    return np.where(near, owner[nearest], -1), along[nearest]
