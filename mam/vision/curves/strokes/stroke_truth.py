"""Which strokes are neighbours on contours whose course is known."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.courses import STEP, Contour, even_course, nearest_step
from mam.vision.curves.strokes.poses import Poses
from mam.vision.curves.strokes.stroke_pairs import Pairs, find_pairs

LinkedPairs = Int[np.ndarray, "_ 2"]  # two numbers of what is linked, in any order
_OFF_COURSE = 4.0  # px; a stroke farther from all contours belongs to none
_TURNED = 4.0  # px that a stroke across a contour counts as farther away


def neighbours_on_contours(
    poses: Poses, pairs: Pairs, contours: Sequence[Sequence[Contour]]
) -> Bool[np.ndarray, " pairs"]:
    """Tell which pairs follow each other along a contour; ``contours`` are listed by image.

    Strokes are sorted along the contour they lie on. Where the contour crosses itself, a stroke
    lies on the course that has its direction.
    """
    known, asked = (
        np.sort(some, axis=1) @ np.array([len(poses), 1])
        for some in (following(poses, contours), pairs.pose)
    )
    return np.isin(asked, known)


def following(
    poses: Poses,
    contours: Sequence[Sequence[Contour]],
    seed: Int[np.ndarray, " poses"] | None = None,
) -> Int[np.ndarray, "pairs 2"]:
    """Return each stroke with the next one along its contour, however far that is.

    Strokes of several sparsifications of the same images, told apart by ``seed``, have no part in
    each other's neighbours.
    """
    contour, position = _places(poses, contours)
    run = np.zeros(len(poses), np.int64) if seed is None else seed
    order = np.lexsort((position, contour, run))
    one, next_ = order[:-1], order[1:]
    same = (contour[one] == contour[next_]) & (contour[one] >= 0) & (run[one] == run[next_])
    return np.stack([one, next_], 1)[same]


def true_links(
    strokes: Poses, reach: float, contours: Sequence[Contour]
) -> Int[np.ndarray, "links 2"]:
    """The pairs of strokes of one image, within reach, that follow each other along a contour."""
    own = replace(strokes, image=np.zeros_like(strokes.image))
    pairs = find_pairs(own, reach)
    return pairs.pose[neighbours_on_contours(own, pairs, [contours])]


def _places(
    poses: Poses, contours: Sequence[Sequence[Contour]]
) -> tuple[Int[np.ndarray, " poses"], Float[np.ndarray, " poses"]]:
    """The contour of each stroke (-1: none) and how far along it the stroke lies."""
    contour, position = np.full(len(poses), -1), np.zeros(len(poses))
    order = np.argsort(poses.image, kind="stable")
    first = np.searchsorted(poses.image[order], np.arange(len(contours) + 1))
    number = 0
    for image, known in enumerate(contours):
        mine = order[first[image] : first[image + 1]]
        courses = [even_course(np.asarray(points, float)) for points in known]
        if len(mine) and courses:
            sizes = [len(course) for course in courses]
            owner = number + np.repeat(np.arange(len(sizes)), sizes)
            along = np.concatenate([STEP * np.arange(size) for size in sizes])
            own = poses.take(mine)
            nearest, far = nearest_step(np.concatenate(courses), own.middle, own.axis, _TURNED)
            near = far <= _OFF_COURSE
            contour[mine[near]] = owner[nearest[near]]
            position[mine[near]] = along[nearest[near]]
        number += len(known)
    return contour, position


def link_f1(answers: Iterable[tuple[LinkedPairs, LinkedPairs]]) -> float:
    """Return 2 both / (found + true) over the links of all images, each found and true.

    >>> link_f1([(np.array([[0, 1], [2, 1]]), np.array([[1, 2]]))])
    0.6666666666666666

    Where there are none and none were found it is 1.
    """
    both = total = 0
    for pairs in answers:
        found, true = (set(map(tuple, np.sort(some, axis=1).tolist())) for some in pairs)
        both += len(found & true)
        total += len(found) + len(true)
    return 2 * both / total if total else 1.0
