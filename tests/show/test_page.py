"""The page and its charts: well-formed, self-contained, and every point where it belongs."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.show.chart import Series, line_chart
from mam.show.continuation_pictures import continuation_field, follower_sheet, followers
from mam.show.page import TableRow, figure, figures, page, picture, table
from mam.vision.curves.strokes.continuation import SmoothContinuation
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.parts.masks import Parts

VOID = {"meta", "img"}
POINTS = st.lists(
    st.tuples(st.integers(1, 10**6), st.floats(0, 100), st.floats(0, 20)),
    min_size=1,
    max_size=6,
    unique_by=lambda point: point[0],
)


class Balanced(HTMLParser):
    """Fails where a tag is closed that is not open."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(text: str) -> None:
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []


@given(st.text(min_size=1), st.text())
def test_no_words_break_the_page(words: str, more: str) -> None:
    pixels = np.zeros((2, 2, 3), np.uint8)
    shown = figure(picture(pixels, words), more, "good: Right:")
    rows = [TableRow([words, more], "ours")]
    text = page(words, more, [(words, table(["a", words], rows, more) + figures([shown]))])
    check(text)
    assert text.count("<") == text.count(">")


@given(POINTS, POINTS)
def test_points_lie_in_the_chart_and_in_order(ours: list, theirs: list) -> None:
    ours.sort()
    counts, right, spread = zip(*ours, strict=True)
    other = Series("theirs", [x for x, _, _ in theirs], [y for _, y, _ in theirs], published=True)
    text = line_chart([Series("ours", counts, right, spread), other], "images", "% right")
    check(text)
    dots = re.findall(r'<circle cx="([\d.]+)" cy="([-\d.]+)"', text)[: len(ours)]
    x, y = np.array(dots, float).T
    assert (x >= 44).all() and (x <= 448).all() and (y >= 10).all() and (y <= 258.1).all()
    assert (np.diff(x) >= 0).all()
    order = np.argsort(right, kind="stable")
    assert (np.diff(y[order]) <= 1e-9).all()


def test_a_chart_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one point"):
        line_chart([Series("none", [], [])], "images", "% right")


@pytest.fixture(scope="module")
def grouper() -> ContourGrouper:
    return ContourGrouper.load("contours")


def test_contours_go_on_at_both_ends_and_alike(grouper: ContourGrouper) -> None:
    assert isinstance(grouper.continuation_, SmoothContinuation)
    field = continuation_field(grouper.continuation_, step=1.0)
    for flipped in (field.log_odds[::-1], field.log_odds[:, ::-1]):
        np.testing.assert_allclose(field.log_odds, flipped, atol=1e-6)
    middle = len(field.steps) // 2
    ahead = field.log_odds[middle]
    assert ahead.max() > 2 and ahead.max() > field.log_odds[:, middle].max()
    # Straight ahead a stroke goes on in its own direction.
    assert abs(field.angle[middle, ahead.argmax()]) < 0.05


def test_followers_lie_at_the_end_they_follow(grouper: ContourGrouper) -> None:
    parts, learned = grouper.parts, grouper.continuation_
    assert isinstance(parts, Parts) and isinstance(learned, SmoothContinuation)
    where = []
    for side in (0, 1):
        found = followers(parts, learned, 0, side, count=3)
        scores = [score for score, _ in found]
        assert len(found) == 3 and scores == sorted(scores, reverse=True)
        tile = found[0][1]
        colour = (tile == [230, 159, 0]).all(2)
        white = (tile == [235, 235, 235]).all(2)
        where.append(np.argwhere(colour).mean(0) - np.argwhere(white).mean(0))
        assert follower_sheet(found).shape[2] == 3
    assert where[0] @ where[1] < 0
