"""The detector on generated scenes: what is there, what is not, and bad input."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mam.data.generate.objects import LEVELS, make_objects
from mam.data.schema import ObjectRow
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.outline import iou

SMALL = replace(LEVELS["easy"], rows=160, cols=192, objects=2, frames=2, clutter=(2, 5))


@pytest.fixture(scope="module")
def rows() -> list[ObjectRow]:
    return [make_objects(SMALL, 5, row) for row in range(10)]


@pytest.fixture(scope="module")
def detector(rows: list[ObjectRow]) -> ObjectDetector:
    known = rows[:8]
    return ObjectDetector(graphs=16).fit(
        [row.image for row in known],
        [row.mask for row in known],
        names=[row.name for row in known],
    )


def test_objects_are_found_in_new_scenes(detector: ObjectDetector, rows: list[ObjectRow]) -> None:
    scores, hulls = [], []
    for row in rows[8:]:
        [found] = [one for one in detector.find(row.image) if one.name == row.name]
        assert found.there and found.score >= found.threshold and found.margin > 0
        scores.append(iou(found.mask, row.mask))
        hulls.append(iou(found.hull, row.mask))
        assert (found.bound is None) == (found.gap is None) == (found.proof is None)
        assert len(found.types) == len(found.vertices) and found.edges.max() < len(found.vertices)
    assert np.median(scores) > 0.75 and np.median(hulls) > 0.6


def test_a_picture_without_edges_holds_nothing(detector: ObjectDetector) -> None:
    found = detector.find(np.full((160, 192, 3), 120, np.uint8))
    assert [one.there for one in found] == [False, False]
    assert all(np.isfinite(one.score) for one in found)


def test_a_saved_model_finds_the_same(
    detector: ObjectDetector, rows: list[ObjectRow], tmp_path: Path
) -> None:
    path = tmp_path / "model.safetensors"
    detector.save(path)
    again = ObjectDetector.load(path, graphs=16, mask="hull").find(rows[0].image)
    for one, other in zip(detector.find(rows[0].image), again, strict=True):
        assert (one.name, one.there) == (other.name, other.there)
        np.testing.assert_array_equal(one.vertices, other.vertices)
        np.testing.assert_array_equal(one.hull, other.mask)
    with pytest.raises(ValueError, match="objects in photographs, where one of elastic graphs"):
        Bank.load(path)


def test_two_copies_and_an_object_cut_by_the_border(
    detector: ObjectDetector, rows: list[ObjectRow]
) -> None:
    row = rows[0]
    spots = np.argwhere(row.mask)
    wide = np.concatenate([row.image, row.image], 1)
    own = [one for one in detector.find(wide, copies=2) if one.name == row.name]
    assert len(own) == 2
    assert abs(abs(own[0].vertices.mean(0)[1] - own[1].vertices.mean(0)[1]) - 192) < 5
    first = int(np.quantile(spots[:, 1], 0.2))  # a fifth of the object lies beyond
    blank = np.full((160, first, 3), 128, np.uint8)
    part = np.concatenate([row.image[:, first:], blank], 1)
    truth = np.concatenate([row.mask[:, first:], blank[..., 0] < 0], 1)
    [found] = [one for one in detector.find(part) if one.name == row.name]
    assert found.cut and iou(found.mask, truth) > 0.6


def test_bad_examples_are_refused(rows: list[ObjectRow]) -> None:
    image, mask = rows[0].image, rows[0].mask
    detector = ObjectDetector()
    with pytest.raises(ValueError, match="image 0: its mask has 150 x 192 px, the picture 160"):
        detector.fit([image], [mask[:150]])
    with pytest.raises(ValueError, match="image 1: its mask is empty"):
        detector.fit([image, image], [mask, np.zeros_like(mask)])
    with pytest.raises(ValueError, match="0 px of edges inside the mask, too few"):
        detector.fit([np.zeros_like(image)], [mask])
    with pytest.raises(ValueError, match="as many masks"):
        detector.fit([image], [])
    with pytest.raises(ValueError, match="nothing to learn from"):
        detector.fit([], [])
    with pytest.raises(ValueError, match="has learned nothing yet: call fit, or load one"):
        detector.find(image)
    with pytest.raises(ValueError, match="mask is one of"):
        ObjectDetector(mask="box").config  # noqa: B018


def test_the_scikit_learn_contract() -> None:
    detector = ObjectDetector(graphs=7).set_params(seed=3)
    assert detector.get_params()["graphs"] == 7
    assert repr(detector) == "ObjectDetector(graphs=7, seed=3)"


def test_large_pictures_are_reduced(rows: list[ObjectRow]) -> None:
    row = rows[0]
    large = np.repeat(np.repeat(row.image, 2, 0), 2, 1)
    mask = np.repeat(np.repeat(row.mask, 2, 0), 2, 1)
    detector = ObjectDetector(graphs=16, side=192).fit([large], [mask])
    [found] = detector.find(large)
    assert found.there and found.mask.shape == mask.shape
    assert iou(found.mask, mask) > 0.8
    assert found.vertices.max() > 192 / 2
    with pytest.raises(ValueError, match="give rows x columns"):
        detector.find(np.zeros(5, np.uint8))
