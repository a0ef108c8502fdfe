"""`mam learn objects`, `mam find` and `mam evaluate cabc` as a user types them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from mam.cli import app
from mam.data import encode_png
from mam.vision.elastic.letters import finder as finders
from mam.vision.elastic.letters.letter_forward import ForwardConfig
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.variants import VariantConfig
from tests.infer.test_compilations import compilations

# Programs that are compiled where none has been: each costs a second or more.
EVALUATE_PROGRAMS, FIND_PROGRAMS = 12, 11


def run(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def test_learn_find_evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small = LetterSearchConfig(
        window=9,
        rounds=(),
        kept=6,
        forward=ForwardConfig(each_group=1, more=4),
        variants=VariantConfig(count=0),
    )
    monkeypatch.setitem(finders.PRESETS, "best", lambda: small)
    data, bank = tmp_path / "set.parquet", tmp_path / "bank.safetensors"
    run("make", "cabc", "--level", "easy", "--count", 2, "--seed", 5, "--out", data)
    learned = json.loads(run("learn", "objects", data, "--out", bank, "--json").stdout)
    assert learned["graphs"] == 4 and learned["vertices"] > 10
    with compilations() as names:
        report = json.loads(run("evaluate", "cabc", data, "--model", bank, "--json").stdout)
    assert len(names) <= EVALUATE_PROGRAMS, names
    keys = {"accuracy", "proved", "n", "per_second", "compile_s", "errors", "skipped"}
    assert set(report) == keys and report["n"] == 2 and report["compile_s"] >= 0
    told = json.loads(run("evaluate", "cabc", data, "--model", bank, "--causes", "--json").stdout)
    assert set(told) == {*report, "causes"} and told["errors"] == report["errors"]
    assert list(told["causes"]) == ["forward", "matching", "pair", "markers"]
    assert sum(told["causes"].values()) == len(told["errors"])
    picture = tmp_path / "bar.png"
    image = np.zeros((100, 90), np.uint8)
    image[40:47, 20:80] = 255
    picture.write_bytes(encode_png(image))
    out = tmp_path / "found.png"
    with compilations() as names:
        found = json.loads(run("find", picture, "--model", bank, "--out", out, "--json").stdout)
    assert len(names) <= FIND_PROGRAMS, names
    assert len(found["matches"]) == 2
    for one in found["matches"]:
        assert {"name", "there", "score", "contrast", "box", "outline"} <= set(one)
    with Image.open(out) as drawn:
        assert drawn.size == (270, 300)
    assert "contrast" in run("find", picture, "--model", bank, "--copies", 1).stdout
    picture.write_bytes(encode_png(np.full((100, 90), 255, np.uint8)))
    said = run("find", picture, "--model", bank, "--copies", 1).stdout
    assert f"{picture}: nothing there; the best is " in said


def test_a_bank_is_searched_for_as_it_was_learned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar, picture = np.zeros((40, 60), bool), tmp_path / "bar.png"
    bar[16:25, 5:50] = True
    picture.write_bytes(encode_png(bar.astype(np.uint8) * 255))
    asked: list[str] = []

    def told(self, model, depth, masks):
        asked.append(dict(self.known)["preset"])
        raise ValueError("enough")

    monkeypatch.setattr("mam.commands.find.FindJob.search", told)
    for preset in ("paper", "best"):
        bank = replace(learn_bank([bar]), config={"side": 60, "preset": preset})
        bank.save(tmp_path / preset)
        with pytest.raises(ValueError, match="enough"):
            run("find", picture, "--model", tmp_path / preset)
    with pytest.raises(ValueError, match="enough"):
        run("find", picture, "--model", tmp_path / "paper", "--preset", "best")
    assert asked == ["paper", "best", "best"]


def test_a_set_without_masks_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(encode_png(np.zeros((9, 9), np.uint8)))
    with pytest.raises(ValueError, match="row 0 has no mask"):
        run("learn", "objects", tmp_path, "--out", tmp_path / "bank.safetensors")
