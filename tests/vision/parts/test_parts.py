"""Parts and their files."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from mam.core.model_files import save_model
from mam.core.schema import ArraySpec, ModelFile, Schema
from mam.vision.parts.masks import CABC, Noise, Parts


def test_parts_come_back_from_their_file(tmp_path: Path) -> None:
    parts = Parts(np.random.default_rng(0).random((4, 7, 7)) < 0.5, CABC, {"seed": 3})
    parts.save(tmp_path / "parts.safetensors")
    back = Parts.load(tmp_path / "parts.safetensors")
    np.testing.assert_array_equal(back.masks, parts.masks)
    assert back.noise == CABC and back.provenance == {"seed": 3}
    assert [path.name for path in tmp_path.iterdir()] == ["parts.safetensors"]


@pytest.mark.parametrize(
    ("masks", "words"),
    [
        (np.ones((2, 3, 4), bool), "odd side"),
        (np.ones((2, 4, 4), bool), "odd side"),
        (np.ones((2, 3, 3)), "masks of bool"),
        (np.eye(3, dtype=bool)[None] & (np.arange(2) > 0)[:, None, None], "part 0 has no pixels"),
    ],
)
def test_bad_masks_are_refused(masks: np.ndarray, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Parts(masks)


@pytest.mark.parametrize("changes", [{"pi01": 0.5}, {"pi10": 0.0}, {"prior": 0.0}])
def test_bad_noise_is_refused(changes: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(changes))):
        Noise(**changes)


def test_files_that_are_no_parts(tmp_path: Path) -> None:
    torn = tmp_path / "torn.safetensors"
    torn.write_bytes(b"nothing")
    with pytest.raises(ValueError, match="not a model file"):
        Parts.load(torn)
    stranger = tmp_path / "stranger.safetensors"
    save_file({"x": np.zeros(3)}, stranger)
    with pytest.raises(ValueError, match="not one that mam wrote"):
        Parts.load(stranger)
    other = tmp_path / "other.safetensors"
    toy = Schema("toy", {"x": ArraySpec(("float64",), (3,))}, {}, "mam learn toys")
    save_model(other, ModelFile({"x": np.zeros(3)}, {}, {}), toy)
    with pytest.raises(
        ValueError, match=r"a model of toy, where one of parts .* `mam learn parts`"
    ):
        Parts.load(other)
    with pytest.raises(FileNotFoundError, match="no such file"):
        Parts.load(tmp_path / "none.safetensors")
