"""Objects of other sizes than those learned from, what is told of them, and what is not there."""

from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
import pytest
from PIL import Image

from mam.core.resize import scaled
from mam.data import encode_png
from mam.data.generate.objects import LEVELS, make_objects
from mam.data.schema import ObjectRow
from mam.infer.certificate import Certificate
from mam.vision.elastic.found import corners_of
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.edge_evidence import EvidenceConfig, evidence_of, score_maps
from mam.vision.elastic.photographs.outline import filled, iou
from mam.vision.elastic.search import sizes_between
from mam.vision.images.photo_edges import as_channels, find_edges
from tests.infer.test_compilations import compilations

SMALL = replace(LEVELS["easy"], rows=160, cols=160, objects=1, frames=3, clutter=(2, 4))


@pytest.fixture(scope="module")
def rows() -> list[ObjectRow]:
    return [make_objects(SMALL, 5, row) for row in range(3)]


@pytest.fixture(scope="module")
def detector(rows: list[ObjectRow]) -> ObjectDetector:
    known = rows[:2]
    detector = ObjectDetector(graphs=16)
    return detector.fit([row.image for row in known], [row.mask for row in known])


@pytest.mark.parametrize("size", [pytest.param(0.67, marks=pytest.mark.slow), 1.5])
def test_objects_of_other_sizes_are_found(
    detector: ObjectDetector, rows: list[ObjectRow], size: float
) -> None:
    image, mask = scaled(rows[2].image, size), scaled(rows[2].mask, size)
    [missed] = detector.find(image)
    assert not missed.there
    wide = ObjectDetector(graphs=16, scales=(0.65, 1.6))
    wide.model_ = detector.model_
    [found] = wide.find(image)
    assert found.there and iou(found.mask, mask) > 0.7
    assert 0.85 < found.scale / size < 1.2


def test_box_and_outline_are_those_of_the_mask(
    detector: ObjectDetector, rows: list[ObjectRow]
) -> None:
    [found] = detector.find(rows[2].image)
    assert found.box == corners_of(found.mask)
    assert iou(filled(found.outline, found.mask.shape), found.mask) > 0.9


def test_pictures_of_all_kinds_are_read(
    detector: ObjectDetector, rows: list[ObjectRow], tmp_path: Path
) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(encode_png(rows[2].image))
    [wanted] = detector.find(rows[2].image)
    for source in (path, str(path), path.read_bytes(), Image.open(path)):
        [found] = detector.find(source)
        assert found.score == wanted.score
    mask = Image.fromarray(rows[0].mask)
    [again] = ObjectDetector(graphs=16).fit([rows[0].image], [mask]).find(path)
    assert np.isfinite(again.score)


def test_a_canvas_changes_nothing_inside(rows: list[ObjectRow]) -> None:
    """But next to the lower and the right border, where edges are thinned with one px more."""
    config, image = EvidenceConfig(), rows[0].image[:100, :110]
    exact = score_maps(find_edges(as_channels(image)), config)
    found = evidence_of(image, None, config)
    inside = slice(None), slice(0, 100 - 6), slice(0, 110 - 6)
    for one, other in zip(found, exact, strict=True):
        np.testing.assert_allclose(one[inside], other[inside], atol=1e-6)
        assert np.allclose(one[:, 100:], config.outside)
        assert np.allclose(one[:, :, 110:], config.outside)


@pytest.mark.parametrize("count", [9, pytest.param(100, marks=pytest.mark.slow)])
def test_pictures_of_many_sizes_share_few_programs(
    detector: ObjectDetector, rows: list[ObjectRow], count: int
) -> None:
    """Of each canvas: edges, maps, the forward pass, matching of few or many candidates."""
    jax.clear_caches()
    shapes = {(90 + 53 * k % 611, 80 + 31 * k % 577) for k in range(count)}
    assert len(shapes) == count
    with compilations() as names:
        for height, width in shapes:
            detector.find(np.resize(rows[2].image, (height, width, 3)))
    assert len(names) <= 30, names


@pytest.mark.parametrize("wrong", [(0, 1), (2, 1), (1, np.inf)])
def test_sizes_are_refused(wrong: tuple[float, float]) -> None:
    with pytest.raises(ValueError, match="the smaller first"):
        list(sizes_between(*wrong))


def corner(side: int) -> np.ndarray:
    """A corner of two bars, its size that of the side of a picture."""
    picture = np.zeros((128, 128), bool)
    arm, wide = side // 2, max(4, side // 12)
    picture[20 : 20 + wide, 20 : 20 + arm] = picture[20 : 20 + arm, 20 : 20 + wide] = True
    return picture


@pytest.fixture(scope="module")
def finder() -> ObjectFinder:
    return ObjectFinder(variants=0).fit([corner(100)], [3])


def test_letters_in_pictures_of_many_sizes_share_their_programs(finder: ObjectFinder) -> None:
    finder.find(corner(100))
    with compilations() as names:
        for cut in range(1, 60, 7):
            finder.find(corner(100)[: 128 - cut, : 128 - cut // 2])
    assert not names


def test_a_letter_of_another_size_is_found(finder: ObjectFinder) -> None:
    large = corner(180)
    wide = ObjectFinder.of(finder.bank_, variants=0, scales=(1, 2))
    [found], [before] = wide.find(large), finder.find(large)
    assert found.there and iou(found.pixels, large) > iou(before.pixels, large)
    assert found.pixels.shape == large.shape and 1.3 < found.scale <= 2
    top, left, bottom, right = found.box
    assert max(abs(top - 20), abs(left - 20), abs(bottom - 109), abs(right - 109)) < 12
    [same] = ObjectFinder.of(finder.bank_, variants=0, scales=(0.7, 1.4)).find(corner(100))
    assert same.scale == 1.0


def test_a_match_says_how_good_its_places_are(finder: ObjectFinder) -> None:
    [quick] = finder.find(corner(100))
    assert (quick.bound, quick.gap, quick.proof) == (None, None, None)  # its graph has loops
    assert quick.set_proof == "exact"
    bounded = replace(quick, certificate=Certificate.below(7.0, 7.5))
    assert (bounded.bound, bounded.gap, bounded.proof) == (7.5, 0.5, None)
    assert bounded.score == quick.score != 7.0  # of the set that it was found in


def test_a_shape_is_not_there(finder: ObjectFinder) -> None:
    random = np.random.default_rng(0)
    absent = {
        "nothing": np.zeros((128, 128), bool),
        "everything": np.ones((128, 128), bool),
        "noise": random.random((128, 128)) < 0.5,
        "stripes": np.indices((128, 128))[0] % 6 < 3,
        "dots": np.indices((128, 128)).sum(0) % 9 == 0,
    }
    for name, picture in absent.items():
        [found] = finder.find(picture)
        assert not found.there and "not there" in repr(found), name
    [found] = finder.find(corner(100) ^ (random.random((128, 128)) < 0.05))
    assert found.there
    _, second = finder.find(corner(100), copies=2)  # of one letter the second is not there
    assert not second.there


def test_a_bank_says_to_which_side_pictures_are_reduced(finder: ObjectFinder) -> None:
    """What is found is told in the pixels of the picture, not of the reduced one."""
    bank = replace(finder.bank_, config={"side": 128})
    large = scaled(corner(100), 3.0)
    [found] = ObjectFinder.of(bank, variants=0).find(large)
    assert found.pixels.shape == (384, 384) and iou(found.pixels, large) > 0.8
    assert np.abs(found.vertices.min(0) - 3 * 24).max() < 15
