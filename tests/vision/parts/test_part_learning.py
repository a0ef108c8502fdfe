"""Learning parts: the joint score never falls, and planted parts come back."""

from dataclasses import replace

import numpy as np
import pytest

from mam.vision.parts.joint import (
    Arrangement,
    Canvas,
    image_scores,
    joint_score,
    reassign,
    recentre,
    relocate_many,
    reweigh,
)
from mam.vision.parts.masks import PATHFINDER, Noise
from mam.vision.parts.part_learning import PartLearner, PartLearningConfig

BAR = np.zeros((5, 5), bool)
BAR[1:4] = True
CROSS = np.zeros((5, 5), bool)
CROSS[2], CROSS[:, 2] = True, True
CONFIG = PartLearningConfig(
    count=2, side=5, windows=12, surround=3, iterations=150, rounds=2, proposals=10, starts=1
)


def planted(count: int, seed: int) -> list[np.ndarray]:
    """Images with bars and crosses that do not touch."""
    rng = np.random.default_rng(seed)
    images = []
    for _ in range(count):
        image = np.zeros((32, 32), bool)
        for row in (1, 9, 17, 25):
            for col in (1, 9, 17, 25):
                r, c = row + rng.integers(-1, 2), col + rng.integers(-1, 2)
                kind = rng.integers(0, 3)
                if kind:
                    image[r : r + 5, c : c + 5] = (BAR, CROSS)[kind - 1]
        images.append(image)
    return images


@pytest.fixture(scope="module")
def learned() -> PartLearner:
    return PartLearner(CONFIG, seed=3).fit(planted(4, 0))


def test_planted_parts_come_back(learned: PartLearner) -> None:
    found = {mask.tobytes() for mask in learned.parts_.masks}
    assert found == {BAR.tobytes(), CROSS.tobytes()}
    assert learned.dropped_ == 0 and (learned.usage_ > 10).all()


def test_the_score_never_falls(learned: PartLearner) -> None:
    assert (np.diff(learned.history_) >= 0).all()
    images = planted(4, 0)
    on = sum(int(image.sum()) for image in images)
    perfect = PATHFINDER.gain * on + PATHFINDER.prior * int(learned.usage_.sum())
    assert learned.history_[-1] == pytest.approx(perfect)


def test_a_seed_reproduces(learned: PartLearner) -> None:
    again = PartLearner(CONFIG, seed=3).fit(planted(4, 0))
    np.testing.assert_array_equal(again.parts_.masks, learned.parts_.masks)
    np.testing.assert_array_equal(again.usage_, learned.usage_)
    assert again.history_ == learned.history_
    assert learned.parts_.provenance["seed"] == 3 and learned.parts_.noise == PATHFINDER


def random_state(seed: int) -> tuple[Canvas, Arrangement]:
    """Overlapping random parts that hang over the border, on random images of two sizes."""
    rng = np.random.default_rng(seed)
    images = [rng.random((20, 24)) < 0.5, rng.random((26, 18)) < 0.5]
    masks = rng.random((3, 5, 5)) < 0.5
    place = rng.integers(-2, 20, (30, 2))
    sites = np.concatenate([rng.integers(0, 2, (30, 1)), rng.integers(0, 3, (30, 1)), place], 1)
    noise = Noise(pi01=0.2, pi10=0.05, prior=-3.0)
    return Canvas.of(images, noise, np.ones((5, 5), bool)), Arrangement(
        masks, np.unique(sites, axis=0)
    )


def test_joint_score_counts_every_pixel_once() -> None:
    rng = np.random.default_rng(0)
    image, noise = rng.random((12, 12)) < 0.5, Noise(pi01=0.2, pi10=0.05, prior=-3.0)
    sites = np.array([[0, 0, 5, 5], [0, 0, 6, 6], [0, 0, 0, 11]])
    found = Arrangement(np.ones((1, 5, 5), bool), sites)
    under = np.zeros_like(image)
    under[3:8, 3:8], under[4:9, 4:9], under[:3, 9:] = True, True, True
    wanted = noise.gain * (image & under).sum() - noise.loss * (~image & under).sum() - 9.0
    assert joint_score(Canvas.of([image], noise, np.ones((5, 5), bool)), found) == pytest.approx(
        wanted
    )


@pytest.mark.parametrize("seed", range(4))
def test_every_move_raises_the_score_or_leaves_it(seed: int) -> None:
    canvas, found = random_state(seed)
    score = joint_score(canvas, found)
    assert image_scores(canvas, found).sum() == pytest.approx(score)
    assert joint_score(canvas, recentre(found)) == pytest.approx(score)
    assert joint_score(canvas, reassign(canvas, found)) >= score
    weighed = reweigh(canvas, found)
    better = joint_score(canvas, weighed)
    assert better > score
    for kind, row, col in np.ndindex(found.masks.shape):  # no single weight is left to toggle
        masks = weighed.masks.copy()
        masks[kind, row, col] = not masks[kind, row, col]
        assert joint_score(canvas, replace(weighed, masks=masks)) <= better + 1e-6
    moved, _ = relocate_many(canvas, weighed, 5, np.random.default_rng(seed))
    assert joint_score(canvas, moved) >= better


def test_recentred_masks_sit_in_the_middle() -> None:
    mask = np.zeros((1, 5, 5), bool)
    mask[0, 0, 2:] = True
    moved = recentre(Arrangement(mask, np.array([[0, 0, 7, 7]])))
    assert np.argwhere(moved.masks[0]).tolist() == [[2, 1], [2, 2], [2, 3]]
    assert moved.sites.tolist() == [[0, 0, 5, 8]]


@pytest.mark.parametrize(("round", "pixels"), [(None, 13), (False, 25)])
def test_a_single_part_is_round_unless_told_otherwise(round: bool | None, pixels: int) -> None:
    blobs = np.zeros((40, 40), bool)
    blobs[5:20, 5:30] = blobs[15:35, 20:30] = True
    small = {"side": 5, "windows": 8, "iterations": 30, "rounds": 1, "proposals": 1, "starts": 1}
    config = PartLearningConfig(count=1, round=round, **small)
    noise = Noise(pi01=0.3, pi10=0.05, prior=-5.0)
    [mask] = PartLearner(config, noise=noise).fit([blobs]).parts_.masks
    assert mask.sum() == pixels and not (mask & ~config.support).any()


@pytest.mark.parametrize(
    ("images", "settings", "words"),
    [
        ([], {}, "there are none"),
        ([np.zeros((9, 9), bool)], {}, "has an ON pixel"),
        ([np.ones((9, 4), bool)], {}, "image 0 is .9, 4., smaller"),
        ([np.ones((9, 9), bool)], {"side": 6}, "odd and at least 3, not 6"),
        ([np.ones((9, 9), bool)], {"count": 0}, "count must be at least 1"),
    ],
    ids=["none", "dark", "small", "even", "no-parts"],
)
def test_bad_input_is_refused(images: list, settings: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PartLearner(PartLearningConfig(**settings)).fit(images)
