"""Contours seen alone, and beside each other."""

from dataclasses import replace

import numpy as np

from mam.data import PathfinderRow, make_row, recipe
from mam.tasks.contours_apart import contours_alone, contours_apart, contours_of
from mam.tasks.pathfinder import fit_rows
from mam.vision.curves.strokes.contour_grouper import ContourGrouper


def row(number: int) -> PathfinderRow:
    made = make_row(recipe("pathfinder", "easy", 21), number)
    assert isinstance(made, PathfinderRow)
    return made


def test_contours_alone_are_cut_out() -> None:
    known = row(0)
    shown = contours_alone(known)
    assert len(shown) == len(known.segments)
    assert sum(int((picture > 0).sum()) for picture, _ in shown) == int(
        ((known.clean > 0) & (known.contours > 0)).sum()
    )
    for (picture, course), whole in zip(shown, contours_of(known), strict=True):
        np.testing.assert_allclose(np.diff(course, axis=0), np.diff(whole, axis=0))
        at = np.rint(course).astype(int)
        assert (at >= 0).all() and (at < picture.shape).all()
        near = [picture[r - 2 : r + 3, c - 2 : c + 3].max() for r, c in at]
        assert min(near) > 26


def test_contours_stand_apart_in_one_picture() -> None:
    known = row(1)
    picture, courses = contours_apart(known)
    alone = contours_alone(known)
    for (own, course), moved in zip(alone, courses, strict=True):
        top, left = np.rint((moved - course)[0]).astype(int)
        np.testing.assert_allclose(moved - course, np.broadcast_to((top, left), course.shape))
        there = picture[top : top + own.shape[0], left : left + own.shape[1]]
        np.testing.assert_array_equal(there, own)
    assert (picture > 0).sum() == sum((own > 0).sum() for own, _ in alone)
    nothing = replace(known, contours=np.zeros_like(known.contours))
    assert contours_apart(nothing)[1] == []


def test_contours_apart_teach_what_they_teach_alone() -> None:
    rows = [row(number) for number in range(2)]
    apart = fit_rows(rows, "rows", ContourGrouper(preset="paper", sparsifications=2))
    alone = [one for known in rows for one in contours_alone(known)]
    oracle = ContourGrouper(preset="paper", sparsifications=2)
    oracle.fit([picture for picture, _ in alone], [[course] for _, course in alone])
    for name, values in oracle.continuation_.arrays.items():
        np.testing.assert_array_equal(values, apart.continuation_.arrays[name])
    assert apart.provenance_ == {
        "images": 2,
        "contours": len(alone),
        "neighbours": oracle.provenance_["neighbours"],
    }
