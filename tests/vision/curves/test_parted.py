"""Shared strands taken apart where the ink shows more than one line."""

import numpy as np
import pytest

from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.parted import Parted, parted
from mam.vision.curves.strands.pen_profile import pen_profile
from mam.vision.curves.strands.strands import Strands, degrees, find_strands
from mam.vision.curves.strands.width import relief


def crossing(slope: float) -> np.ndarray:
    """Two lines of 3 px, one rising and one falling, a mask for each."""
    masks = np.zeros((2, 120, 500), bool)
    for col in range(10, 490):
        for mask, sign in zip(masks, (1, -1), strict=True):
            row = round(59 + sign * slope * (col - 250))
            mask[row - 1 : row + 2, col] = True
    return masks


def taken_apart(mask: np.ndarray) -> tuple[Strands, Parted]:
    ground = relief(mask)
    strands = find_strands(ground)
    inner = (degrees(strands.node) > 2).all(1)
    return strands, parted(strands, np.where(inner, 2, 1), pen_profile(strands, ground))


@pytest.mark.parametrize("slope", [0.03, 0.05])
def test_only_what_is_narrow_stays_shared(slope: float) -> None:
    masks = crossing(slope)
    strands, found = taken_apart(np.any(masks, 0))
    inner = (degrees(strands.node) > 2).all(1)
    assert found.shared.sum() == inner.sum() == 1 and len(found.strands) == 5
    assert found.strands.length[found.shared][0] < 0.7 * strands.length[inner][0]
    # Each of the four others lies on one line all the way, up to a pixel at its end.
    for strand in np.flatnonzero(~found.shared):
        at = np.rint(found.strands.points[found.strands.strand == strand]).astype(int)
        assert max(mask[tuple(at.T)].mean() for mask in masks) > 0.97


def test_the_ends_of_one_piece_of_ink_are_known() -> None:
    _, found = taken_apart(np.any(crossing(0.05), 0))
    assert len(found.piece) == 2 * len(found.strands)
    node = found.strands.node.ravel()
    for place in np.unique(node[node >= 0]):
        pieces = found.piece[node == place]
        assert len(pieces) == 3 and len(np.unique(pieces)) == 2


def test_what_no_curves_share_stays_as_it_is() -> None:
    ground = relief(np.any(crossing(0.05), 0))
    strands = find_strands(ground)
    found = parted(strands, np.ones(len(strands), int), pen_profile(strands, ground))
    assert found.strands is strands and not found.shared.any()


@pytest.mark.parametrize("width", [2, 3, 5])
def test_a_line_alone_has_no_ink_to_spare(width: int) -> None:
    mask = np.zeros((30, 120), bool)
    mask[10 : 10 + width, 5:115] = True
    ground = relief(mask)
    strands = find_strands(ground)
    ink = pen_profile(strands, ground)
    inner = np.abs(strands.points[:, 1] - 60) < 30
    np.testing.assert_allclose(ink.pen[inner], width)
    np.testing.assert_allclose(ink.centre[inner, 0], 10 + (width - 1) / 2)
    assert not ink.spare[inner].any()


def test_lines_that_cross_at_a_small_angle_keep_their_pixels() -> None:
    masks = crossing(0.05)
    [found] = CurveGrouper.load("curves").predict([np.any(masks, 0)])
    assert len(found) == 2
    alone = masks.sum(0) == 1
    owners = [np.bincount(found.labels[mask & alone], minlength=3) for mask in masks]
    assert min(owner.max() / owner.sum() for owner in owners) > 0.97
    assert owners[0].argmax() != owners[1].argmax()
