"""The pathfinder challenge: are two markers on the same broken contour?"""

from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int, UInt8

from mam.core.progress import Advance
from mam.data import AnyRow, PathfinderRow
from mam.data.read.markers import find_discs
from mam.data.read.published import PublishedPathfinderRow
from mam.tasks.accuracy import Answered, measure_accuracy
from mam.tasks.contours_apart import contours_apart, contours_of
from mam.tasks.report import Report
from mam.tasks.rows import rows_of_kind
from mam.vision.curves.answer import Same
from mam.vision.curves.strokes.by_image import BySeed, CoursesByImage
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.presets import preset_of
from mam.vision.images.discs import lift_discs

INPUTS = ("clean", "image")
_BATCH = 512  # rows read and answered at a time
_TOGETHER = 128  # of these at most that a worker process answers at once


MarkedRow = PathfinderRow | PublishedPathfinderRow  # the second has no contours and no clean image


def fit(
    source: str,
    grouper: ContourGrouper,
    count: int,
    advance: Advance = lambda count: None,
) -> ContourGrouper:
    """Learn from the first ``count`` rows of a data set."""
    found = list(islice(rows_of_kind(source, MarkedRow, "pathfinder image"), count))
    return fit_rows(found, source, grouper, advance)


def fit_rows(
    found: Sequence[AnyRow],
    source: str,
    grouper: ContourGrouper,
    advance: Advance = lambda count: None,
) -> ContourGrouper:
    """Learn from rows; errors say that they come from ``source``."""
    if not found:
        raise ValueError(f"{source}: no rows, so there is nothing to learn from")
    rows = with_contours(found, source)
    pictures, courses = zip(*(lesson_of(row, grouper) for row in rows), strict=True)
    return fit_strokes(grouper.strokes(pictures, advance), courses, grouper)


def check_contours(source: str) -> None:
    """Refuse a data set whose first row no contours can be learned from."""
    first = list(islice(rows_of_kind(source, MarkedRow, "pathfinder image"), 1))
    with_contours(first, source)


def with_contours(rows: Sequence[AnyRow], source: str) -> list[PathfinderRow]:
    """The rows, if contours can be learned from them."""
    known = [row for row in rows if isinstance(row, PathfinderRow) and row.segments]
    if len(known) < len(rows):
        raise ValueError(
            f"{source}: its rows do not all say which strokes form a contour (`segments`); "
            "learn from a set that `mam make pathfinder` wrote"
        )
    return known


def fit_strokes(
    strokes: Sequence[BySeed], courses: CoursesByImage, grouper: ContourGrouper
) -> ContourGrouper:
    """Learn from the strokes of the pictures that ``lesson_of`` makes of rows."""
    grouper.fit_strokes(strokes, courses)
    if preset_of(grouper.preset).alone:
        about = {"contours": sum(len(some) for some in courses)}
        grouper.provenance_ = {**grouper.provenance_, **about}
    return grouper


def lesson_of(
    row: PathfinderRow, grouper: ContourGrouper
) -> tuple[UInt8[np.ndarray, "_ _"], list[Float[np.ndarray, "_ 2"]]]:
    """What a row shows a learner: a picture, and the contours in it.

    Where the preset wants that, every contour is as if it were alone.
    """
    if preset_of(grouper.preset).alone:
        return contours_apart(row)
    return row.clean, contours_of(row)


class Unanswered(NamedTuple):
    """Why a row has no answer."""

    reason: str


def predict(
    rows: Sequence[MarkedRow], grouper: ContourGrouper, input: str = "clean"
) -> list[Same | Unanswered]:
    """Answer every row: are its markers on one contour?

    With ``input="clean"`` markers are given and not in the picture (the paper's protocol), with
    ``input="image"`` they are found in it and lifted; what they hide is left to the model.
    """
    if input not in INPUTS:
        raise ValueError(f"input is one of {', '.join(INPUTS)}, not {input!r}")
    if input == "image":
        return grouper.spread(_answer_image, [row.image for row in rows], _TOGETHER)
    if not all(isinstance(row, PathfinderRow) for row in rows):
        raise ValueError("published rows have no picture without markers: use the input `image`")
    clean = [(row.clean, row.markers) for row in rows if isinstance(row, PathfinderRow)]
    return grouper.spread(_answer_clean, clean, _TOGETHER)


def _answer_clean(
    grouper: ContourGrouper, rows: Sequence[tuple[np.ndarray, np.ndarray]], first: int
) -> list[Same | Unanswered]:
    """Answer rows by their pictures without markers, and the markers."""
    images, markers = zip(*rows, strict=True)
    return _answers(grouper.predict(images, first=first), [np.asarray(at) for at in markers])


def _answer_image(
    grouper: ContourGrouper, images: Sequence[np.ndarray], first: int
) -> list[Same | Unanswered]:
    markers = [_found_markers(image) for image in images]
    return _answers(group_marked(images, markers, grouper, first), markers)


def _answers(found: Sequence[Grouping], markers: Sequence[np.ndarray]) -> list[Same | Unanswered]:
    return [_answer(one, at) for one, at in zip(found, markers, strict=True)]


def group_marked(
    images: Sequence[UInt8[np.ndarray, "rows cols"]],
    markers: Sequence[Int[np.ndarray, "_ 2"]],
    grouper: ContourGrouper,
    first: int = 0,
) -> list[Grouping]:
    """Group images with discs in them: these are lifted, and hide the ends of contours."""
    lifted = [lift_discs(image, at) for image, at in zip(images, markers, strict=True)]
    return grouper.predict([one.image for one in lifted], [one.hidden for one in lifted], first)


def _found_markers(image: UInt8[np.ndarray, "rows cols"]) -> Int[np.ndarray, "_ 2"]:
    """The two markers, or none where there are not two."""
    try:
        return find_discs(image, "the image")
    except ValueError:
        return np.zeros((0, 2), np.int64)


def _answer(found: Grouping, markers: Int[np.ndarray, "_ 2"]) -> Same | Unanswered:
    if len(markers) != 2:
        return Unanswered("no two markers found in the image; use the clean input")
    try:
        return found.same(markers[0], markers[1])
    except ValueError as error:
        return Unanswered(str(error))


def evaluate(
    source: str,
    grouper: ContourGrouper,
    input: str = "clean",
    limit: int | None = None,
    advance: Advance = lambda count: None,
) -> Report:
    """Measure the accuracy on a data set; rows without an answer are skipped and reported."""
    rows = islice(rows_of_kind(source, MarkedRow, "pathfinder image"), limit)
    return measure_accuracy(rows, _BATCH, lambda some, first: labels(some, grouper, input), advance)


def labels(
    rows: Sequence[MarkedRow], grouper: ContourGrouper, input: str = "clean"
) -> list[Answered | str]:
    """The label of every row, or why it has none."""
    return [
        one.reason if isinstance(one, Unanswered) else Answered(int(one.same), bool(one.proof))
        for one in predict(rows, grouper, input)
    ]
