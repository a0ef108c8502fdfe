"""The look of strands counts where lines differ, and only there."""

import numpy as np
import pytest

from mam.vision.curves.strands.appearance import LOOKS, find_looks, look_terms
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.strands import find_strands
from mam.vision.curves.strands.width import relief


def picture(first: tuple[int, int, int], second: tuple[int, int, int]) -> np.ndarray:
    image = np.full((60, 120, 3), 255, np.uint8)
    image[15:18, 5:115], image[40:43, 5:115] = first, second
    return image


def looks_of(image: np.ndarray) -> np.ndarray:
    strands = find_strands(relief(image.min(2) < 200))
    looks = find_looks(strands, image)
    return look_terms(looks, np.array([0, 0]), np.array([0, 1]))


def test_other_colours_speak_against_one_curve() -> None:
    same, other = looks_of(picture((220, 0, 0), (0, 0, 220)))
    terms = dict(zip(LOOKS, (other - same).tolist(), strict=True))
    assert terms["hue"] > 2 and terms["same hue"] < -0.9


def test_without_contrast_all_is_alike() -> None:
    same, other = looks_of(picture((0, 0, 0), (0, 0, 0)))
    np.testing.assert_array_equal(same, other)
    assert same[LOOKS.index("contrast")] == 0


def test_dashes_are_less_solid() -> None:
    image = picture((0, 0, 0), (0, 0, 0))
    mask = image.min(2) < 200
    image[40:43, 20:60] = 255
    solid = find_looks(find_strands(relief(mask)), image).solid
    assert solid[0] == 1 and 0.5 < solid[1] < 0.75


def test_a_picture_of_another_size_is_refused() -> None:
    image = picture((0, 0, 0), (0, 0, 0))
    with pytest.raises(ValueError, match="picture 0 has the size"):
        CurveGrouper.load("curves").predict([image.min(2) < 200], [image[:30]])


def test_nothing_stands_out_of_a_blank_picture() -> None:
    image = picture((0, 0, 0), (0, 0, 0))
    strands = find_strands(relief(image.min(2) < 200))
    looks = find_looks(strands, np.full_like(image, 255))
    assert not looks.solid.any() and looks.contrast == 0
