"""Which pixels of a picture are drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage import data

from mam.vision.images.ink import describe_strokes, find_ink


def page(paper: int, ink: int) -> tuple[np.ndarray, np.ndarray]:
    drawn = np.zeros((60, 80), bool)
    drawn[10:13, 5:70], drawn[20:55, 40:43] = True, True
    return np.where(drawn, ink, paper).astype(np.uint8), drawn


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 255), st.integers(0, 255), st.integers(0, 3))
def test_ink_is_the_rarer_value_of_either_polarity(paper: int, ink: int, blur: int) -> None:
    picture, drawn = page(paper, ink)
    if abs(paper - ink) < 20:
        return
    noise = np.random.default_rng(blur).integers(-blur, blur + 1, picture.shape)
    found = find_ink(np.clip(picture.astype(int) + noise, 0, 255).astype(np.uint8))
    assert found.dark == (ink < paper)
    np.testing.assert_array_equal(found.mask, drawn)
    assert ((found.contrast > 0) == drawn).all() and found.contrast[drawn].min() > 150


def test_grey_borders_of_a_clean_drawing_count() -> None:
    picture, drawn = page(0, 255)
    picture[9, 5:70] = picture[13, 5:70] = 60
    found = find_ink(picture)
    assert (found.contrast[9, 5:70] == 60).all() and not found.mask[9].any()
    by_hand = find_ink(picture, threshold=200)
    assert ((by_hand.contrast > 0) == drawn).all()


def test_polarity_can_be_forced_and_photographs_are_told() -> None:
    picture, drawn = page(0, 255)
    forced = find_ink(picture, polarity="dark")
    np.testing.assert_array_equal(forced.mask, ~drawn)
    assert "much for a drawing" in forced.assumed
    assert "looks like a photograph" in find_ink(data.camera()).assumed
    assert "photograph" not in find_ink(picture).assumed


def test_bad_pictures_are_named() -> None:
    with pytest.raises(ValueError, match=r"plain\.png is one grey value"):
        find_ink(np.full((9, 9), 7, np.uint8), name="plain.png")
    with pytest.raises(ValueError, match="auto, light, dark"):
        find_ink(np.eye(9, dtype=np.uint8), polarity="red")
    with pytest.raises(ValueError, match="no pixel is above 300"):
        find_ink(np.eye(9, dtype=np.uint8), threshold=300, polarity="light")


def test_short_strokes_and_long_lines_look_different() -> None:
    dashes = np.zeros((60, 90), bool)
    for row in range(5, 55, 10):
        for col in range(5, 80, 12):
            dashes[row : row + 2, col : col + 7] = True
    look = describe_strokes(dashes)
    assert look.short and look.count == 35
    assert look.length == pytest.approx(7) and look.width == pytest.approx(2)
    assert not describe_strokes(page(0, 255)[1]).short
    assert describe_strokes(np.zeros((9, 9), bool)).count == 0
