"""Which strand ends follow each other on curves whose course is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.courses import STEP, Contour, even_course, nearest_step
from mam.vision.curves.strands.strand_ends import Ends
from mam.vision.curves.strands.strands import Strands

_OFF_COURSE = 0.5  # widths and 2 px: an end farther from all courses lies on none
_TURNED = 1.0  # widths that an end across a course counts as farther away
_STRETCHED = 0.3  # of its length, and a width: what a strand may differ from its course
_NARROWED = 0.25  # of a curve's width, and 1 px: other strands of it are partly hidden
_DETOUR = 1.3  # chords, and a width: two ends farther apart along their course are no neighbours
_AT_CORNER = 10.0  # widths on top, where both ends lie at one node
_AT_TIP = 3.0  # widths from the end of a course
_COVERED = 0.6  # of a strand's length: a course with less does not follow it
_BESIDE = 0.25  # widths and 1 px: a course farther from a strand does not pass there


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of every end of a strand."""

    known: Bool[np.ndarray, " ends"]  # whether it is certain how this end continues
    following: Int[np.ndarray, " ends"]  # the end in which it does, -1 for none


def find_truth(strands: Strands, ends: Ends, courses: Sequence[Contour]) -> Truth:
    """Sort strands along the courses they follow; the leaving end continues in the next entering.

    A strand follows a course when most of it lies there, as long as the stretch between its ends,
    as wide as most of the curve, and no other course passes: shared strands are left out. It is
    certain how an end continues when the next one is near, or at the tip of a curve.
    """
    if not len(ends) or not courses:
        return Truth(np.zeros(len(ends), bool), np.full(len(ends), -1))
    even = [even_course(np.asarray(course, float)) for course in courses]
    claims = _claims(strands, even)
    passes = np.floor(claims + 1 - _COVERED).sum(0).astype(np.int64)
    own = np.where(claims.max(0) >= _COVERED, claims.argmax(0), -1)
    course, position = _places(ends, even, np.repeat(own, 2))
    both, along = course.reshape(-1, 2), position.reshape(-1, 2)
    span = np.abs(along[:, 1] - along[:, 0])
    as_long = np.abs(span - strands.length) < _STRETCHED * strands.length + strands.width
    good = (both >= 0).all(1) & as_long & (passes == 1)
    good &= _as_wide(strands, np.where(good, own, -1))
    following = _following(good, own, along)
    chord = np.linalg.norm(ends.place - ends.place[following], axis=1)
    # At a sharp corner both sides of a curve grow together before its tip.
    one_node = (ends.node >= 0) & (ends.node == ends.node[following])
    spare = np.where(one_node, _AT_CORNER, 1.0) * ends.width
    near = np.abs(position - position[following]) <= _DETOUR * chord + spare
    left = STEP * np.array([len(some) for some in even])[course] - position
    tip = np.minimum(position, left) < _AT_TIP * ends.width
    known = np.repeat(good, 2) & np.where(following >= 0, near, tip)
    return Truth(known, following)


def _claims(
    strands: Strands, courses: list[Float[np.ndarray, "_ 4"]]
) -> Float[np.ndarray, "courses strands"]:
    """How often each course passes along each strand: the length of what lies nearest to it.

    Where strands lie side by side, a course has the nearest one alone.
    """
    tree = KDTree(strands.points)
    limit = _BESIDE * strands.width + 1
    length = strands.length + STEP
    found = []
    for course in courses:
        far, which = tree.query(course[:, :2])
        strand = strands.strand[which]
        near = far <= limit[strand]
        found.append(STEP * np.bincount(strand, near, len(strands)) / length)
    return np.array(found)


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
    ends: Ends, courses: list[Float[np.ndarray, "_ 4"]], own: Int[np.ndarray, " ends"]
) -> tuple[Int[np.ndarray, " ends"], Float[np.ndarray, " ends"]]:
    """The course of each end, -1 if it lies off, and how far along it the end lies."""
    found, along = np.full(len(ends), -1), np.zeros(len(ends))
    for number, course in enumerate(courses):
        mine = np.flatnonzero(own == number)
        turned = _TURNED * ends.width[mine]
        step, far = nearest_step(course, ends.place[mine], ends.heading[mine], turned)
        near = far <= _OFF_COURSE * ends.width[mine] + 2
        found[mine] = np.where(near, number, -1)
        along[mine] = STEP * step
    return found, along
