"""Strands as the chain model sees them, halves of rings among them; and their log odds."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from mam.vision.curves.strands.appearance import LOOKS, look_terms
from mam.vision.curves.strands.lane_drawing import LANE_LOOKS
from mam.vision.curves.strands.lane_pairs import LANE_TERMS
from mam.vision.curves.strands.line_counts import LINE_TERMS
from mam.vision.curves.strands.strand_continuation import StrandContinuation
from mam.vision.curves.strands.strand_drawing import StrandDrawing, describe, sketch
from mam.vision.curves.strands.strand_pairs import TERMS


def crossing() -> np.ndarray:
    mask = np.zeros((80, 80), bool)
    mask[38:43, 5:75], mask[5:75, 38:43] = True, True
    return mask


def pairs_of(drawing: StrandDrawing) -> set[tuple[int, int]]:
    return set(zip(drawing.pairs.first.tolist(), drawing.pairs.second.tolist(), strict=True))


def test_all_ends_at_a_crossing_may_be_joined() -> None:
    drawn = sketch(crossing())
    drawing = describe(drawn)
    at = np.flatnonzero(drawing.ends.node >= 0)
    assert len(at) == 4
    assert pairs_of(drawing) == set(itertools.combinations(at.tolist(), 2))
    # Straight on lies opposite: the headings of two ends are opposed.
    turn = {
        pair: float(drawing.ends.heading[pair[0]] @ drawing.ends.heading[pair[1]])
        for pair in pairs_of(drawing)
    }
    assert sorted(np.round(list(turn.values())).tolist()) == [-1, -1, 0, 0, 0, 0]


def test_a_ring_is_cut_in_two() -> None:
    rows, cols = np.mgrid[:100, :100]
    ring = np.abs(np.hypot(rows - 50, cols - 50) - 35) < 3
    drawn = sketch(ring)
    assert len(drawn.strands) == 1
    drawing = describe(drawn)
    assert len(drawing.strands) == 2 and len(drawing.pairs) == 2
    assert {tuple(sorted((a // 2, b // 2))) for a, b in pairs_of(drawing)} == {(0, 1)}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_every_drawing_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=(60, 60)), rng.uniform(1, 3))
    drawn = sketch(np.asarray(np.abs(noise) < rng.uniform(0.01, 0.1)))
    drawing = describe(drawn)
    pairs = drawing.pairs
    assert len(drawing.ends) == 2 * len(drawing.strands)
    assert (pairs.first < pairs.second).all()
    assert (pairs.first // 2 != pairs.second // 2).all()


def known_weights() -> StrandContinuation:
    rng = np.random.default_rng(0)
    sizes = len(TERMS), len(LOOKS), len(LANE_TERMS), len(LANE_LOOKS), len(LINE_TERMS)
    return StrandContinuation(*(rng.normal(size=size) for size in sizes))


def test_log_odds_are_weights_times_terms() -> None:
    drawn, known = sketch(crossing()), known_weights()
    image = np.full((80, 80, 3), 255, np.uint8)
    image[crossing()] = (200, 30, 30)
    image[38:43, 5:75] = (20, 20, 200)
    blind, seen = (describe(drawn, picture=one) for one in (None, image))
    assert blind.looks is None and seen.looks is not None
    assert pairs_of(blind) == pairs_of(seen)
    plain = [float(row @ known.weights) for row in blind.terms()]
    np.testing.assert_allclose(known.log_odds(blind), plain)
    looks = look_terms(seen.looks, seen.pairs.first // 2, seen.pairs.second // 2)
    more = [float(row @ known.appearance) for row in looks]
    assert np.ptp(more) > 0.1
    np.testing.assert_allclose(known.log_odds(seen), np.add(plain, more))


def test_an_empty_mask_has_nothing_to_join() -> None:
    drawing = describe(sketch(np.zeros((9, 9), bool)))
    assert len(drawing.strands) == 0 and not len(drawing.pairs)
    assert known_weights().log_odds(drawing).shape == (0,)
