"""Learning: it learns, it goes on bit for bit, and it refuses what does not fit."""

from dataclasses import replace
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mam.core.model_files import load_model
from mam.data.store.lock import locked_file
from mam.rivals import data
from mam.rivals.convnext import ConvNext
from mam.rivals.data import batch_of, coming, numbers_of
from mam.rivals.files import SCHEMA
from mam.rivals.hcnn import Hcnn
from mam.rivals.learn import BLOCK, checkpoint_path, learn_rival
from mam.rivals.network_layers import convolve, pool
from mam.rivals.predict import Rival
from mam.rivals.settings import Settings
from mam.rivals.settle import settled
from mam.rivals.train import scaled
from tests.rivals.tiny import SIDE, images, pictures, tiny

__all__ = ["tiny"]
PICTURES = pictures(16)
SETTINGS = Settings("h-cnn", "pathfinder", 16, PICTURES.digest(), SIDE, 8, 1e-2, 20)
assert 2 * BLOCK < SETTINGS.steps < 3 * BLOCK


@pytest.mark.usefixtures("tiny")
def test_it_learns_sixteen_images_and_is_read_again(tmp_path: Path) -> None:
    out = tmp_path / "a.safetensors"
    told: list[tuple[int, float]] = []
    progress = learn_rival(
        PICTURES, SETTINGS, out, workers=2, told=lambda n, loss: told.append((n, loss))
    )
    assert progress.finished and progress.step == 40
    assert sum(count for count, _ in told) == 320 and told[-1][1] == progress.loss
    assert progress.loss is not None and progress.loss < 0.2
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]
    rival = Rival.load(out)
    assert (rival.kind, rival.task, rival.side) == ("h-cnn", "pathfinder", SIDE)
    assert rival.provenance["images_seen"] == 320 and rival.provenance["settings"]["seed"] == 0
    fresh, labels = images(20, seed=5)
    logits = rival.logits(fresh)
    assert ((logits > 0) == labels).all()
    np.testing.assert_allclose(rival.logits(fresh[3:4]), logits[3:4], rtol=1e-4)
    assert rival.logits(fresh[:0]).shape == (0,)
    with pytest.raises(ValueError, match=r"a\.safetensors: takes images of 16 x 16 px, not 8 x 8"):
        rival.logits(fresh[:, :8, :8])


@pytest.mark.usefixtures("tiny")
def test_it_answers_as_it_learned_by_the_moments_of_its_last_weights(tmp_path: Path) -> None:
    # Weights that move as far as these do leave any mean over earlier steps behind.
    settings = replace(SETTINGS, rate=0.1, epochs=2)
    learn_rival(PICTURES, settings, tmp_path / "a")
    rival = Rival.load(tmp_path / "a")
    assert isinstance(rival.network, Hcnn)
    pixels, _ = images(16)
    in_learning, _ = rival.network(scaled(jnp.asarray(pixels)), rival.moments, learning=True)
    np.testing.assert_allclose(rival.logits(pixels), in_learning, atol=0.1)
    maps = convolve(scaled(jnp.asarray(pixels))[..., None], rival.network.stem.first)
    maps = convolve(pool(jax.nn.relu(maps + rival.network.stem.bias)), rival.network.stem.second)
    np.testing.assert_allclose(rival.moments["stem"].mean, maps.mean((0, 1, 2)), atol=1e-4)
    np.testing.assert_allclose(rival.moments["stem"].variance, maps.var((0, 1, 2)), rtol=1e-3)


def test_a_network_without_batch_norm_has_no_moments_to_settle() -> None:
    assert settled(ConvNext.of(jax.random.key(0)), PICTURES, SETTINGS, 1) == {}


@pytest.mark.usefixtures("tiny")
def test_a_stopped_run_goes_on_bit_for_bit(tmp_path: Path) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    learn_rival(PICTURES, SETTINGS, whole)
    stops = []
    for workers in (1, 3, 2):
        progress = learn_rival(PICTURES, SETTINGS, parts, resume=True, workers=workers, minutes=0)
        stops.append(progress.step)
        assert checkpoint_path(parts).exists() != progress.finished == parts.exists()
    assert stops == [BLOCK, 2 * BLOCK, SETTINGS.steps]
    one, other = (load_model(path, SCHEMA).arrays for path in (whole, parts))
    assert one.keys() == other.keys() and len(one["losses"]) == 3
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.usefixtures("tiny")
def test_nothing_is_overwritten_and_other_settings_are_refused(tmp_path: Path) -> None:
    out = tmp_path / "a"
    learn_rival(PICTURES, SETTINGS, out, minutes=0)
    kept = checkpoint_path(out)
    before = kept.read_bytes()
    with pytest.raises(ValueError, match=r"a\.checkpoint: a run stopped here; go on with --resume"):
        learn_rival(PICTURES, SETTINGS, out)
    others = {
        "rate": (1e-3, "learned with rate 0.01, not 0.001"),
        "network": ("convnext", "learned with kind h-cnn, not convnext"),
        "side": (32, "learned with side 16, not 32"),
        "task": ("cabc", "learned with task pathfinder, not cabc"),
        "digest": ("0", "learned from other images"),
        "epochs": (21, "learned with epochs 20, not 21"),
    }
    for name, (value, words) in others.items():
        with pytest.raises(ValueError, match=rf"a\.checkpoint: {words}"):
            learn_rival(PICTURES, replace(SETTINGS, **{name: value}), out, resume=True)
    assert kept.read_bytes() == before and not out.exists()
    learn_rival(PICTURES, SETTINGS, out, resume=True)
    before = out.read_bytes()
    with pytest.raises(ValueError, match=r"a: is there already; choose another --out"):
        learn_rival(PICTURES, SETTINGS, out)
    with pytest.raises(ValueError, match="learned with seed 0, not 1"):
        learn_rival(PICTURES, replace(SETTINGS, seed=1), out, resume=True)
    assert learn_rival(PICTURES, SETTINGS, out, resume=True).finished
    assert out.read_bytes() == before


@pytest.mark.usefixtures("tiny")
def test_a_loss_that_is_no_number_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "mam.rivals.learn.learn_batch", lambda batch, state, rate: (state, jnp.float32("nan"))
    )
    with pytest.raises(ValueError, match="step 16: the loss is nan; try a smaller --rate"):
        learn_rival(PICTURES, SETTINGS, tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with locked_file(tmp_path / "a.lock"), pytest.raises(OSError, match="a: another run is learn"):
        learn_rival(PICTURES, SETTINGS, tmp_path / "a")


def test_batches_depend_on_the_seed_alone() -> None:
    few = pictures(10)
    found = [list(coming(few, SIDE, 4, 3, range(5), workers)) for workers in (1, 4)]
    for one, other in zip(*found, strict=True):
        np.testing.assert_array_equal(one.images, other.images)
        np.testing.assert_array_equal(one.labels, other.labels)
    later = next(coming(few, SIDE, 4, 3, range(3, 5), 2))
    np.testing.assert_array_equal(later.images, found[0][3].images)
    orders = {tuple(numbers_of(step, 10, 4, seed)) for step in range(4) for seed in (0, 1)}
    assert len(orders) == 8
    assert len({*numbers_of(2, 10, 4, 3), *numbers_of(3, 10, 4, 3)}) == 8


def test_a_bad_picture_is_named() -> None:
    few = replace(pictures(3), pictures=[b"x", *pictures(2).pictures])
    with pytest.raises(ValueError, match="toy: row 0, column 'image': not a picture"):
        batch_of(few, [2, 0], SIDE)
    from mam.data import encode_png

    flat = encode_png(np.zeros((4, 6), np.uint8))
    with pytest.raises(ValueError, match="here: 4 x 6 px; it must be square"):
        data.reduced(flat, SIDE, "here")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"batch": 17}, "--batch 17: more than the 16 images"),
        ({"rate": 0.0}, "--rate 0: it must lie between 0 and 1"),
        ({"epochs": 0}, "--epochs 0: it must be at least 1"),
        ({"seed": -1}, "--seed -1"),
    ],
)
def test_settings(changes: dict, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(SETTINGS, **changes)
