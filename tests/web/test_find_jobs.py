"""What the page is told of letters and objects that were searched for."""

from typing import Any

import numpy as np
import pytest

from mam.data.images import encode_png
from mam.infer.certificate import Certificate
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_match import THERE, Match
from mam.web import find_jobs
from mam.web.described_answers import PlacedGraph


def finder_of(contrast: float) -> ObjectFinder:
    """What finds one bar with a given contrast, in the pixels of the picture that it is given."""
    finder = ObjectFinder()

    def find(pixels: np.ndarray, copies: int) -> list[Match]:
        vertices, edges = np.array([[4, 5], [4, 90]]), np.array([[0, 1]])
        return [Match(0, 2, vertices, edges, pixels > 0, 7.0, 1.0, Certificate(1.0), contrast)]

    finder.find = find  # type: ignore[method-assign]
    return finder


@pytest.mark.parametrize(("contrast", "there"), [(0.9, True), (THERE, True), (0.2, False)])
def test_a_letter_of_little_contrast_is_not_there(
    monkeypatch: pytest.MonkeyPatch, contrast: float, there: bool
) -> None:
    monkeypatch.setattr(find_jobs, "_finder", lambda path, written: finder_of(contrast))
    # Larger than the pictures that letters are learned from: the finder itself reduces it.
    picture = np.zeros((40, 900), np.uint8)
    picture[3:6, 4:92] = 255
    asked: dict[str, Any] = {"name": "a.png", "pixels": 1 << 20, "model": "letters", "copies": 1}
    answer, _ = find_jobs.find(asked, [encode_png(picture)], lambda text: None)
    [found] = answer["found"]
    assert PlacedGraph.model_validate(found).there is there
    assert (found["name"], found["contrast"], found["threshold"]) == ("C", contrast, THERE)
    assert found["vertices"] == [[4, 5], [4, 90]] and found["pixels"] == 3 * 88
