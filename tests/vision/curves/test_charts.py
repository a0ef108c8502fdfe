"""Charts that were answered wrongly once: each small case has what was the matter with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.data.generate.charts import ChartsConfig, make_chart
from mam.vision.curves.strands.along_strands import by_direction
from mam.vision.curves.strands.axis import find_axis
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.lanes import _depth, _wide
from mam.vision.curves.strands.pens import _NEAR, _near_others
from mam.vision.curves.strands.strand_drawing import sketch


def drawn(*lines: tuple[float, ...], rows: int = 200, first: int = 10) -> np.ndarray:
    """Lines without a break, three pixels tall or more, from heights at equal distances."""
    mask = np.zeros((rows, 220), bool)
    cols = np.arange(first, 210)
    for heights in lines:
        at = np.linspace(0, len(heights) - 1, len(cols))
        row = np.rint(np.interp(at, np.arange(len(heights)), heights)).astype(int)
        before = np.append(row[:1], row[:-1])
        for col, own in zip(cols, np.stack([row, before], 1), strict=True):
            mask[own.min() - 1 : own.max() + 2, col] = True
    return mask


UPPER, LOWER = (100.0, 78, 40, 60, 40, 60, 40), (100.0, 122, 160, 140, 160, 140, 160)
LEVELS = (190.0, 180, 190, 180, 190, 180, 190), (10.0, 20, 10, 20, 10, 20, 10)


def test_two_lines_may_begin_at_one_point() -> None:
    """Their strand turns back there, where all ink begins, and is a chart all the same."""
    chart = drawn(UPPER, LOWER, *LEVELS)
    strands = sketch(chart).strands
    assert len(strands) == 3 and find_axis(strands).number == 1 and find_axis(strands).sure > 0.9
    [found] = CurveGrouper.load("curves").predict([chart])
    assert found.links.passage is not None and len(found) == 4
    assert not found.same((44.0, 205.0), (156.0, 205.0)).same
    [turned] = CurveGrouper.load("curves").predict([np.ascontiguousarray(chart[:, ::-1])])
    assert len(turned) == 4


def test_a_curve_that_turns_where_others_go_on_is_no_chart() -> None:
    late = drawn(UPPER, LOWER, first=90) | drawn(*LEVELS)
    assert find_axis(sketch(late).strands).sure == 0


def test_a_pen_is_about_as_wide_in_all_directions() -> None:
    """Where it seems to be twice as wide, all lines there have another one beside them."""
    angle = np.repeat([0.1, 1.2], 100)
    pen = by_direction(np.repeat([3.0, 6.0], 100), angle, lambda some: float(np.median(some)))
    assert pen[:100] == pytest.approx(3.0) and pen[100:] == pytest.approx(1.75 * 3.0)
    rounded = np.repeat([3.0, 4.5], 100)
    assert by_direction(rounded, angle, lambda some: float(some[0])) == pytest.approx(rounded)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=9))
def test_depth_is_below_the_largest_on_both_sides(values: list[int]) -> None:
    found = _depth(np.array(values, float))
    for place, depth in enumerate(found.tolist()):
        sides = max(values[: place + 1]), max(values[place:])
        assert depth == min(sides) - values[place]


def test_lines_may_cross_where_ink_has_least_to_spare() -> None:
    spare = np.concatenate([np.full(20, 0.2), np.full(25, 2.0), np.full(9, 1.2), np.full(25, 2.0)])
    pinched = np.flatnonzero(~_wide(spare, 2))
    assert pinched[pinched >= 20].tolist() == list(range(41, 50))  # around the first of the least
    spare[45:54] = 1.6  # hardly less than elsewhere
    assert np.flatnonzero(~_wide(spare, 2)).max() < 20
    spare[20:] += 2.0  # far too wide to cross
    assert np.flatnonzero(~_wide(spare, 2)).max() < 20


def test_three_lines_without_room_for_all_are_a_pinch() -> None:
    assert _wide(np.full(40, 4.0), 2).all()
    assert not _wide(np.full(40, 4.0), 3).any()
    assert _wide(np.full(40, 9.0), 3).all()


def test_lines_do_not_turn_back_in_a_gap() -> None:
    """Two lines that end next to each other are two, though the gap is small."""
    gap = np.zeros((240, 220), bool)
    gap[:, 108:111] = True
    grouper = CurveGrouper.load("curves")
    [peak] = grouper.predict([drawn((225.0, 15, 225), rows=240) & ~gap])
    assert len(peak.strokes) == 2 and len(peak) == 2
    [straight] = grouper.predict([drawn((225.0, 120, 15), rows=240) & ~gap])
    assert len(straight.strokes) == 2 and len(straight) == 1


def test_every_line_has_a_pen_of_its_own_unless_one_is_seen_twice() -> None:
    """The second chart has a third line in red."""
    image = np.full((200, 220, 3), 255, np.uint8)
    lines = (90.0, 110), (110.0, 90), (40.0, 40)
    for line, ink in zip(lines, ((220, 20, 20), (20, 40, 220), (220, 20, 20)), strict=True):
        image[drawn(line)] = ink
    grouper = CurveGrouper.load("curves")
    [own] = grouper.predict([drawn(*lines[:2])], [image])
    [twice] = grouper.predict([drawn(*lines)], [image])
    assert own.pens is not None and twice.pens is not None
    assert own.pens.each.shape[1] == twice.pens.each.shape[1] == 2
    assert len(own.pens.differ) == 2 and len(twice.pens.differ) == 0
    for found in (own, twice):
        assert found.proof == "exact"
        assert found.same((90.0, 12.0), (110.0, 207.0)).same


def test_bundles_are_charts_where_pens_are_seen() -> None:
    row, _ = make_chart(ChartsConfig(), 6, 4)  # lines that are hardly ever alone
    seen = sketch(np.asarray(row.mask))
    assert seen.lanes is not None and seen.lanes.bundled and row.image is not None
    assert seen.chart(None) is None
    assert seen.chart(row.image) is seen.lanes
    black = np.where(np.asarray(row.mask)[..., None], 0, 255).astype(np.uint8).repeat(3, axis=2)
    assert seen.chart(black) is None
    [blind] = CurveGrouper.load("curves").predict([row.mask])
    [found] = CurveGrouper.load("curves").predict([row.mask], [row.image])
    assert blind.links.passage is None and found.links.passage is not None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 2)), max_size=12))
def test_places_are_beside_others_as_by_listing(several: list[tuple[int, int, int]]) -> None:
    places = np.array([one[:2] for one in several], np.int64).reshape(-1, 2)
    strand = np.array([one[2] for one in several], np.int64)
    far = np.abs(places[:, None] - places).max(2, initial=0)
    listed = ((far <= _NEAR) & (strand[:, None] != strand)).any(1)
    assert _near_others(places, strand).tolist() == listed.tolist()
