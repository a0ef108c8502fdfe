"""Links that are known, wider gaps, crossings: against listing and against margins."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.data import CurvesRow, PathfinderRow, make_row, recipe
from mam.tasks.drawing import group_drawing
from mam.vision.curves.chain_model import ChainSolver, ContourPotentials, Links, score_of
from mam.vision.curves.corrections import Corrections, clamped, complete
from mam.vision.curves.crossings import count_by_line, find_crossings
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.contour_grouper import ContourGrouper

POTENTIALS = ContourPotentials()
WANTED = st.lists(st.sampled_from("-fd"), min_size=5, max_size=5)


@given(seed=st.integers(0, 10_000), wanted=WANTED)
def test_what_is_left_open_is_solved_best(seed: int, wanted: list[str]) -> None:
    random = np.random.default_rng(seed)
    pairs = list(itertools.combinations(range(4), 2))
    which = random.choice(len(pairs), 5, replace=False)
    strokes = np.array([pairs[k] for k in which])
    links = Links(strokes, random.integers(0, 2, (5, 2)), random.normal(0, 4, 5).round(1))
    ends = [(int(a), int(b)) for a, b in 2 * links.stroke + links.side]
    forbid = [end for end, state in zip(ends, wanted, strict=True) if state == "f"]
    demand = [end for end, state in zip(ends, wanted, strict=True) if state == "d"]
    try:
        known = Corrections(forbid, demand)
    except ValueError as error:
        assert "two links" in str(error)
        return
    presence = np.full(4, POTENTIALS.presence)
    found = ChainSolver().decide(clamped(links, known), presence, POTENTIALS)
    possible = [
        np.array(on, bool)
        for on in itertools.product([0, 1], repeat=5)
        if all(state == "-" or (state == "d") == on[k] for k, state in enumerate(wanted))
    ]
    best = max(score_of(links, on, presence, POTENTIALS) for on in possible)
    assert score_of(links, found.on, presence, POTENTIALS) == pytest.approx(best)


def test_a_link_that_was_no_candidate_can_be_demanded() -> None:
    none = Links(np.zeros((0, 2), int), np.zeros((0, 2), int), np.zeros(0))
    links = complete(none, [(1, 2)], POTENTIALS.least_link)
    found = ChainSolver().decide(
        clamped(links, Corrections(demand=[(1, 2)])), np.full(2, 4.0), POTENTIALS
    )
    assert found.on.tolist() == [True]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"forbid": [(1, 2)], "demand": [(2, 1)]}, "at once"),
        ({"demand": [(1, 2), (2, 5)]}, "two links"),
        ({"demand": [(2, 3)]}, "both ends of one piece"),
    ],
)
def test_what_cannot_be_is_refused(wrong: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Corrections(**wrong)


@pytest.mark.parametrize("kind", ["curves", "contours"])
def test_a_margin_is_what_the_other_answer_costs(kind: str) -> None:
    if kind == "curves":
        row = make_row(recipe("curves", "medium", 3), 0)
        assert isinstance(row, CurvesRow)
        picture, grouper = row.mask, CurveGrouper.load("curves")
    else:
        dashes = make_row(recipe("pathfinder", "easy", 4), 0)
        assert isinstance(dashes, PathfinderRow)
        picture, grouper = dashes.clean, ContourGrouper.load("contours")
    [found] = grouper.predict([picture])
    ends = [(int(a), int(b)) for a, b in 2 * found.links.stroke + found.links.side]
    for link in np.flatnonzero(np.isfinite(found.belief))[:6]:
        key = "forbid" if found.on[link] else "demand"
        known = Corrections(**{key: [ends[link]]})
        again = grouper.corrected(found, known)
        assert found.score - again.score == pytest.approx(abs(found.belief[link]), abs=1e-4)
        assert again.on[link] != found.on[link] and again.proof == "exact"
    assert grouper.corrected(found, Corrections()).score == pytest.approx(found.score)


def test_gaps_are_bridged_as_far_as_is_said() -> None:
    picture = np.full((60, 300), 255, np.uint8)
    picture[28:32, 10:140] = picture[28:32, 172:290] = 0
    curves = [len(group_drawing(picture, bridging=times).lines) for times in (0, 1, 4)]
    assert curves == [2, 2, 1]
    with pytest.raises(ValueError, match="between 0 and 10"):
        group_drawing(picture, bridging=11)
    # A crossing is no gap.
    picture[:] = 255
    picture[28:32, 10:140] = picture[5:55, 80:84] = 0
    assert len(group_drawing(picture, bridging=0).lines) == 2


def crossings_by_listing(lines: list[np.ndarray]) -> int:
    segments = [(k, a, b) for k, line in enumerate(lines) for a, b in itertools.pairwise(line)]
    count = 0
    for (_, p, q), (_, r, s) in itertools.combinations(segments, 2):
        matrix = np.stack([q - p, r - s], 1)
        if abs(np.linalg.det(matrix)) > 1e-9:
            along = np.linalg.solve(matrix, r - p)
            count += bool((along > 1e-9).all() and (along < 1 - 1e-9).all())
    return count


@given(seed=st.integers(0, 10_000), points=st.integers(1, 6), count=st.integers(0, 4))
def test_crossings_against_a_listing(seed: int, points: int, count: int) -> None:
    random = np.random.default_rng(seed)
    lines = [random.uniform(0, 20, (points, 2)) for _ in range(count)]
    found = find_crossings(lines)
    assert len(found.place) == crossings_by_listing(lines)
    own = int((found.lines[:, 0] == found.lines[:, 1]).sum())
    assert count_by_line(found, count).sum() == 2 * len(found.place) - own


def test_a_line_through_a_corner_crosses_once() -> None:
    corner = np.array([[0.0, 0.0], [5.0, 5.0], [10.0, 10.0]])
    other = np.array([[0.0, 10.0], [5.0, 5.0], [10.0, 0.0]])
    assert len(find_crossings([corner, np.array([[0.0, 10.0], [10.0, 0.0]])]).place) == 1
    assert len(find_crossings([corner, other]).place) == 1
