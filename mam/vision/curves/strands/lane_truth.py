"""What known courses say of lanes: how many lines each arc has, and which lanes are of one line."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int

from mam.vision.curves.courses import Contour, even_course
from mam.vision.curves.strands.lane_drawing import LaneDrawing, LaneSketch
from mam.vision.curves.strands.line_counts import MOST

_INSIDE = 0.5  # px that a course may lie beside a run that it passes
_MOSTLY = 0.5  # of the columns of an arc that a course must pass
_NEAR = 0.75  # of the pen: how far a lane lies from its course, on average,
_CLEARLY = 0.5  # px, and by how much less than from any other
_TOLD = 3  # columns that tell
_WITHIN = 0.5  # of a lane that its course must pass


def passing_lines(drawn: LaneSketch, courses: Sequence[Contour]) -> Int[np.ndarray, " arcs"]:
    """How many courses run through each arc, one at least."""
    runs, arcs = drawn.runs, drawn.arcs
    found = np.zeros(len(arcs), np.int64)
    for course in courses:
        at = _heights(course, drawn.turned, runs.col)
        inside = (at >= runs.top - _INSIDE) & (at <= runs.bottom + _INSIDE)
        found += np.bincount(arcs.arc, inside, len(arcs)) > _MOSTLY * arcs.lengths
    return np.clip(found, 1, MOST)


def following_lanes(
    drawing: LaneDrawing, drawn: LaneSketch, courses: Sequence[Contour]
) -> Int[np.ndarray, " lanes"]:
    """The lane in which the line of each lane goes on, -1 where that is not known."""
    count = drawing.lanes
    mine = drawing.strands.strand < count
    strand = drawing.strands.strand[mine]
    points = drawing.strands.points[mine][:, :: -1 if drawn.turned else 1]
    size = np.bincount(strand, minlength=count)
    off = np.full((len(courses), count), np.inf)
    for number, course in enumerate(courses):
        far = np.abs(_heights(course, drawn.turned, points[:, 1]) - points[:, 0])
        known = ~np.isnan(far)
        told = np.bincount(strand[known], minlength=count)
        total = np.bincount(strand[known], far[known], count)
        enough = (told >= _TOLD) & (told >= _WITHIN * size)
        off[number, enough] = total[enough] / told[enough]
    line = _lines(off, _NEAR * drawn.widths.pen)
    start = np.full(count, np.inf)
    np.minimum.at(start, strand, points[:, 1])
    found = np.full(count, -1)
    for number in np.unique(line[line >= 0]):
        own = np.flatnonzero(line == number)
        own = own[np.argsort(start[own], kind="stable")]
        found[own[:-1]] = own[1:]
    return found


def _lines(off: Float[np.ndarray, "lines lanes"], near: float) -> Int[np.ndarray, " lanes"]:
    """The course of each lane, -1 where none or several are near."""
    if not len(off):
        return np.full(off.shape[1], -1)
    order = np.sort(off, axis=0)
    second = order[1] if len(order) > 1 else np.full(off.shape[1], np.inf)
    sure = (order[0] <= near) & (second >= order[0] + _CLEARLY)
    return np.where(sure, off.argmin(0), -1)


def _heights(
    course: Contour, turned: bool, cols: Int[np.ndarray, " _"] | Float[np.ndarray, " _"]
) -> Float[np.ndarray, " _"]:
    """Where a course passes columns; not a number where it does not."""
    points = even_course(np.asarray(course, float))[:, :2][:, :: -1 if turned else 1]
    order = np.argsort(points[:, 1], kind="stable")
    row, col = points[order].T
    return np.interp(np.asarray(cols, float), col, row, left=np.nan, right=np.nan)
