"""Which strand ends follow each other on curves whose course is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.courses import STEP, Contour, even_course
from mam.vision.curves.strands.strands import Ends, Strands

_OFF_COURSE = 0.5  # widths and 2 px: an end farther from all courses lies on none
_TURNED = 1.0  # widths that an end across a course counts as farther away
_STRETCHED = 0.3  # of its length, and a width: what a strand may differ from its course
_NARROWED = 0.25  # of a curve's width, and 1 px: other strands of it are partly hidden
_DETOUR = 1.3  # chords, and a width: two ends farther apart along their course are no neighbours
_AT_TIP = 3.0  # widths from the end of a course
_CLOSE = 64  # points of courses among which an end looks for its own


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of every end of a strand."""

    known: Bool[np.ndarray, " ends"]  # whether it is certain how this end continues
    following: Int[np.ndarray, " ends"]  # the end in which it does, -1 for none


def find_truth(strands: Strands, ends: Ends, courses: Sequence[Contour]) -> Truth:
    """Sort strands along the courses they follow; the leaving end continues in the next entering.

    A strand follows a course when both of its ends lie there, as far apart as it is long, and it is
    as wide as most of the curve. Loose strands are left out: two curves may share them. It is
    certain how an end continues when the next one is near, or at the tip of a curve.
    """
    if not len(ends) or not courses:
        return Truth(np.zeros(len(ends), bool), np.full(len(ends), -1))
    even = [even_course(np.asarray(course, float)) for course in courses]
    course, position = _places(ends, even)
    both, along = course.reshape(-1, 2), position.reshape(-1, 2)
    span = np.abs(along[:, 1] - along[:, 0])
    as_long = np.abs(span - strands.length) < _STRETCHED * strands.length + strands.width
    good = (both[:, 0] == both[:, 1]) & (both[:, 0] >= 0) & as_long
    good &= ~strands.loose & _as_wide(strands, np.where(good, both[:, 0], -1))
    following = _following(good, both[:, 0], along)
    chord = np.linalg.norm(ends.place - ends.place[following], axis=1)
    near = np.abs(position - position[following]) <= _DETOUR * chord + ends.width
    left = STEP * np.array([len(some) for some in even])[course] - position
    tip = np.minimum(position, left) < _AT_TIP * ends.width
    return Truth(np.repeat(good, 2) & np.where(following >= 0, near, tip), following)


def _as_wide(strands: Strands, course: Int[np.ndarray, " strands"]) -> Bool[np.ndarray, " strands"]:
    """Whether a strand is as wide as the middle point of all strands on its course."""
    usual = np.zeros(int(course.max()) + 2)  # the last one for strands on none
    for number in np.unique(course):
        usual[number] = np.median(2 * strands.radius[course[strands.strand] == number])
    usual = usual[course]
    return np.abs(strands.width - usual) < _NARROWED * usual + 1


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
