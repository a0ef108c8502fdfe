"""`mam learn rival` and `mam evaluate` as a user types them."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.core.model_files import load_model, save_model
from mam.core.schema import ModelFile, Setting
from mam.data import CabcRow, recipe, write_dataset
from mam.data.read.labelled import read_labelled
from mam.rivals.files import SCHEMA
from tests.rivals.tiny import SIDE, tiny, write_set

__all__ = ["tiny"]
TOY = ["--side", SIDE, "--batch", 8, "--epochs", 20, "--rate", 1e-2]


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("rivals")


@pytest.fixture
def learned(folder: Path, tiny: None) -> Path:
    """A rival of pathfinder, beside sets of both tasks."""
    out = folder / "toy.safetensors"
    if not out.exists():
        data = write_set(folder / "train.parquet", 16)
        write_set(folder / "test.parquet", 12, seed=9)
        write_set(folder / "cabc.parquet", 12, CabcRow)
        told = json.loads(run("learn", "rival", data, "--out", out, *TOY, "--json").stdout)
        assert told["finished"] and told["network"] == "h-cnn" and told["images"] == 16
    return out


def test_learn_and_evaluate(learned: Path, folder: Path) -> None:
    told = run("evaluate", "pathfinder", folder / "test.parquet", "--model", learned, "--json")
    report = json.loads(told.stdout)
    assert report["n"] == 12 and report["accuracy"] == 1.0 and report["per_second"] > 0
    arguments = ["evaluate", "pathfinder", folder / "test.parquet", "--model", learned]
    few = json.loads(run(*arguments, "--limit", 5, "--input", "image", "--json").stdout)
    assert few["n"] == 5
    with pytest.raises(ValueError, match="--input clean: a rival sees markers in the picture"):
        run(*arguments, "--input", "clean")


def test_a_run_that_stopped_says_how_to_go_on(folder: Path, tiny: None) -> None:
    data, out = write_set(folder / "train.parquet", 16), folder / "stopped.safetensors"
    command = ["learn", "rival", data, "--out", out, *TOY, "--resume", "--minutes", 0]
    assert "stopped at step 16 of 40" in run(*command).stdout
    assert "--resume" in run(*command).stdout
    assert "h-cnn from 320 images" in run(*command).stdout
    assert out.exists() and not (folder / "stopped.safetensors.checkpoint").exists()


def test_what_does_not_fit_is_refused(learned: Path, folder: Path, tmp_path: Path) -> None:
    before = learned.read_bytes()
    test, letters = folder / "test.parquet", folder / "cabc.parquet"
    with pytest.raises(ValueError, match=r"cabc\.parquet: a set of cabc, where one of pathfinder"):
        run("evaluate", "pathfinder", letters, "--model", learned)
    with pytest.raises(ValueError, match=r"toy\.safetensors: a rival that learned pathfinder"):
        run("evaluate", "cabc", letters, "--model", learned)
    with pytest.raises(ValueError, match="neither causes nor presets"):
        run("evaluate", "cabc", letters, "--model", learned, "--causes")
    Image.fromarray(np.eye(40, dtype=np.uint8) * 255).save(tmp_path / "a.png")
    with pytest.raises(ValueError, match=r"toy\.safetensors: a model of rival, where one of"):
        run("group", tmp_path / "a.png", "--model", learned)
    with pytest.raises(ValueError, match=r"toy\.safetensors: is there already"):
        run("learn", "rival", test, *TOY, "--out", learned)
    with pytest.raises(ValueError, match="is an input"):
        run("learn", "rival", learned, "--out", learned)
    with pytest.raises(ValueError, match=r"test\.parquet: has 12 images, not 50"):
        run("learn", "rival", test, "--images", 50, "--out", tmp_path / "x.safetensors")
    with pytest.raises(ValueError, match="learned with task pathfinder, not cabc"):
        options = [*TOY, "--resume", "--out", learned]
        run("learn", "rival", letters, *options)
    assert learned.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


def test_files_with_other_arrays_are_refused(learned: Path, folder: Path, tmp_path: Path) -> None:
    file = load_model(learned, SCHEMA)
    wrong = {
        "less": ({"network.cell.mu": None}, {}, "no network.cell.mu in it"),
        "other": ({"network.cell.mu": np.zeros(3, np.float32)}, {}, r"mu is float32 \(3,\), not"),
        "kind": ({}, {"network": "vit"}, "network is 'vit'; it must be h-cnn or"),
    }
    for name, (arrays, config, words) in wrong.items():
        kept = {n: a for n, a in {**file.arrays, **arrays}.items() if a is not None}
        path = tmp_path / name
        model = ModelFile(kept, {**file.config, **config}, file.provenance)
        save_model(
            path, model, replace(SCHEMA, settings={**SCHEMA.settings, "network": Setting(str)})
        )
        with pytest.raises(ValueError, match=words):
            run("evaluate", "pathfinder", folder / "test.parquet", "--model", path)


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys; from importlib import util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'optax' else find(name, *rest)\n"
        f"sys.argv = ['mam', 'learn', 'rival', 'x', '--out', {str(tmp_path / 'y')!r}]\n"
        "from mam.cli import main; main()"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.returncode == 2 and len(found.stderr.splitlines()) == 1
    assert "rivals need optax" in found.stderr and '"markov-attention[train]"' in found.stderr


def test_a_generated_set_and_its_shards_hold_the_same_pictures(tmp_path: Path) -> None:
    made = recipe("pathfinder", "easy", 1)
    write_dataset(made, 3, tmp_path / "a.parquet")
    write_dataset(made, 3, tmp_path / "shards")
    one, other = (read_labelled(str(tmp_path / name)) for name in ("a.parquet", "shards"))
    assert one.digest() == other.digest() and one.task == "pathfinder" and len(one) == 3
    assert read_labelled(str(tmp_path / "a.parquet"), 2).digest() != one.digest()
    write_dataset(recipe("curves", "easy", 1), 1, tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="rows of curves have no label"):
        read_labelled(str(tmp_path / "c.parquet"))
