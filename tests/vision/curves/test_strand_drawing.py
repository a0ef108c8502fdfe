"""Strands as the chain model sees them: copies, shared ones, halves; and their log odds."""

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from mam.vision.curves.strands.appearance import LOOKS, look_terms
from mam.vision.curves.strands.sharing import SHARING_TERMS, sharing_terms
from mam.vision.curves.strands.strand_continuation import StrandContinuation
from mam.vision.curves.strands.strand_drawing import StrandDrawing, describe, sketch
from mam.vision.curves.strands.strand_pairs import TERMS
from mam.vision.curves.strands.strands import degrees


def crossing() -> np.ndarray:
    mask = np.zeros((80, 80), bool)
    mask[38:43, 5:75], mask[5:75, 38:43] = True, True
    return mask


def sharing() -> np.ndarray:
    """Two lines that meet, are one for a while, and part again."""
    mask = np.zeros((120, 300), bool)
    for col in range(10, 290):
        apart = max(0, abs(col - 150) - 30) // 2
        mask[59 - apart : 62 - apart, col] = mask[59 + apart : 62 + apart, col] = True
    return mask


def pairs_of(drawing: StrandDrawing) -> set[tuple[int, int]]:
    return set(zip(drawing.pairs.first.tolist(), drawing.pairs.second.tolist(), strict=True))


def test_all_ends_at_a_crossing_may_be_joined() -> None:
    drawn = sketch(crossing())
    drawing = describe(drawn, np.ones(4, int))
    at = np.flatnonzero(drawing.ends.node >= 0)
    assert len(at) == 4 and not drawing.shared.any()
    assert pairs_of(drawing) == set(itertools.combinations(at.tolist(), 2))
    # Straight on lies opposite: the headings of two ends are opposed.
    turn = {
        pair: float(drawing.ends.heading[pair[0]] @ drawing.ends.heading[pair[1]])
        for pair in pairs_of(drawing)
    }
    assert sorted(np.round(list(turn.values())).tolist()) == [-1, -1, 0, 0, 0, 0]


def test_a_strand_with_a_free_end_is_there_as_often_as_it_counts() -> None:
    drawn = sketch(crossing())
    drawing = describe(drawn, np.array([3, 1, 2, 1]))
    assert len(drawing.strands) == 7 and not drawing.shared.any()
    starts = [drawing.strands.points[drawing.strands.strand == k][0].tolist() for k in range(7)]
    before = [drawn.strands.points[drawn.strands.strand == k][0].tolist() for k in range(4)]
    assert starts == [before[k] for k in (0, 0, 0, 1, 2, 2, 3)]


def test_a_shared_strand_is_passed_and_never_joined() -> None:
    drawn = sketch(sharing())
    inner = (degrees(drawn.strands.node) > 2).all(1)
    assert inner.sum() == 1
    drawing = describe(drawn, np.where(inner, 2, 1))
    assert drawing.shared.tolist() == inner.tolist()
    mine = np.flatnonzero(drawing.shared)
    over = drawing.pairs.over[(drawing.pairs.over >= 0).any(1)]
    assert len(over) == 4  # two ends on either side
    assert set(over[over >= 0].tolist()) == set(mine.tolist())
    assert not np.isin(drawing.pairs.first // 2, mine).any()
    assert not np.isin(drawing.pairs.second // 2, mine).any()
    alone = describe(drawn, np.ones(len(drawn.strands), int))
    assert not alone.shared.any() and (alone.pairs.over < 0).all()


def test_a_ring_is_cut_in_two() -> None:
    rows, cols = np.mgrid[:100, :100]
    ring = np.abs(np.hypot(rows - 50, cols - 50) - 35) < 3
    drawn = sketch(ring)
    assert len(drawn.strands) == 1
    drawing = describe(drawn, np.ones(1, int))
    assert len(drawing.strands) == 2 and len(drawing.pairs) == 2
    assert {tuple(sorted((a // 2, b // 2))) for a, b in pairs_of(drawing)} == {(0, 1)}


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_what_every_drawing_keeps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    noise = ndimage.gaussian_filter(rng.normal(size=(60, 60)), rng.uniform(1, 3))
    drawn = sketch(np.asarray(np.abs(noise) < rng.uniform(0.01, 0.1)))
    drawing = describe(drawn, rng.integers(1, 4, len(drawn.strands)))
    pairs, shared = drawing.pairs, drawing.shared
    assert len(shared) == len(drawing.strands) and len(drawing.ends) == 2 * len(shared)
    assert (pairs.first < pairs.second).all()
    assert (pairs.first // 2 != pairs.second // 2).all()
    assert not shared[pairs.first // 2].any() and not shared[pairs.second // 2].any()
    over = pairs.over[pairs.over >= 0]
    assert shared[over].all()


def known_weights() -> StrandContinuation:
    rng = np.random.default_rng(0)
    sizes = len(TERMS), len(SHARING_TERMS), len(LOOKS)
    return StrandContinuation(*(rng.normal(size=size) for size in sizes))


def test_log_odds_are_weights_times_terms() -> None:
    drawn, known = sketch(crossing()), known_weights()
    image = np.full((80, 80, 3), 255, np.uint8)
    image[crossing()] = (200, 30, 30)
    image[38:43, 5:75] = (20, 20, 200)
    blind, seen = (describe(drawn, np.ones(4, int), picture=one) for one in (None, image))
    assert blind.looks is None and seen.looks is not None
    assert pairs_of(blind) == pairs_of(seen)
    plain = [float(row @ known.weights) for row in blind.terms()]
    np.testing.assert_allclose(known.log_odds(blind), plain)
    looks = look_terms(seen.looks, seen.pairs.first // 2, seen.pairs.second // 2)
    more = [float(row @ known.appearance) for row in looks]
    assert np.ptp(more) > 0.1
    np.testing.assert_allclose(known.log_odds(seen), np.add(plain, more))


def test_sharing_is_weights_times_terms() -> None:
    strands, known = sketch(sharing()).strands, known_weights()
    wanted = [float(row @ known.sharing) for row in sharing_terms(strands)]
    np.testing.assert_allclose(known.single(strands), wanted)


def test_an_empty_mask_has_nothing_to_join() -> None:
    drawing = describe(sketch(np.zeros((9, 9), bool)), np.zeros(0, int))
    assert len(drawing.strands) == 0 and not len(drawing.pairs)
    assert known_weights().log_odds(drawing).shape == (0,)
