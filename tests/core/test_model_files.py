"""Model files: what was changed since they were written is refused, and older files are read."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import save_file

from mam.core import model_files as files
from mam.core import schema
from mam.core.digest import DATA, HEADER
from mam.core.model_files import bundled_models, load_model, model_kind, save_model
from mam.core.schema import ArraySpec, ModelFile, Schema, Setting
from tests.oracles.flips import outcomes

ARRAYS = {"weights": np.linspace(0, 1, 60), "mask": np.arange(30, dtype=np.uint8).reshape(5, 6)}
MODEL = ModelFile(ARRAYS, {"side": 7}, {"data": "toy.parquet", "rows": 10})
TOY = Schema(
    "toy",
    {
        "weights": ArraySpec(("float64",), ("terms",)),
        "mask": ArraySpec(("uint8",), ("rows", "cols"), optional=True),
    },
    {"side": Setting(int, optional=True)},
    "mam learn toys",
)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("count", [300, pytest.param(1500, marks=pytest.mark.slow)])
def test_no_flipped_bit_changes_a_model_silently(tmp_path: Path, mapped: bool, count: int) -> None:
    path = tmp_path / "toy.safetensors"
    save_model(path, MODEL, TOY)

    def read() -> list:
        found = load_model(path, TOY, mapped=mapped)
        arrays = sorted((name, a.dtype.str, a.tolist()) for name, a in found.arrays.items())
        return [arrays, found.config, found.provenance]

    found = outcomes(path, count, read)
    print(found)
    assert set(found) <= {"refused", "harmless"}
    assert found["refused"] > 0.8 * count  # the names and characters of the digests may be hit


def _with_weight(path: Path, at: int, value: float) -> Path:
    """Another copy, in which a weight was changed since it was written."""
    other = path.with_name("other") / path.name
    other.parent.mkdir()
    weights = np.array(ARRAYS["weights"])
    content = path.read_bytes()
    first = content.index(weights.tobytes())
    weights[at] = value
    other.write_bytes(content[:first] + weights.tobytes() + content[first + weights.nbytes :])
    return other


def test_no_digest_is_taken_of_a_large_mapped_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "toy.safetensors"
    save_model(path, MODEL, TOY)
    monkeypatch.setattr(files, "DIGEST_BYTES", 100)
    monkeypatch.setattr(files, "check_data", lambda path: pytest.fail("read it all"))
    found = load_model(path, TOY, mapped=True)
    np.testing.assert_array_equal(found.arrays["mask"], ARRAYS["mask"])
    with pytest.raises(ValueError, match=r"toy\.safetensors: weights\[59\] is nan; it must be"):
        load_model(_with_weight(path, 59, np.nan), TOY, mapped=True)
    content = bytearray(path.read_bytes())
    content[content.index(b"toy.parquet")] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"toy\.safetensors: .*header has another digest"):
        load_model(path, TOY, mapped=True)
    with pytest.raises(ValueError, match=r"toy\.safetensors: .*header has another digest"):
        model_kind(path)


NUMBERS = np.arange(120, dtype=np.int64)
TABLES = Schema(
    "tables",
    {
        "table": ArraySpec(("int64",), ("rows", 4, 3), -5, 1000, below="most"),
        "most": ArraySpec(("int64",), ("rows", 4)),
        "wide": ArraySpec(("float64",), (1, "columns"), -5, 1000),
        "none": ArraySpec(("int64",), (0, 7), 0, 0),
    },
    {},
    "mam learn tables",
    {"rows": (0, 10**9)},
)


@pytest.mark.parametrize("piece", [1, 100, 250, 1 << 20])
def test_pieces_of_arrays_make_no_difference(monkeypatch: pytest.MonkeyPatch, piece: int) -> None:
    monkeypatch.setattr(schema, "_PIECE", piece)
    arrays = {
        "table": NUMBERS.reshape(10, 4, 3),
        "most": np.full((10, 4), 200),
        "wide": np.zeros((1, 90)),
        "none": np.zeros((0, 7), np.int64),
    }
    TABLES.check(ModelFile(arrays, {}, {}))
    for at in [(0, 0, 0), (3, 1, 2), (9, 3, 2)]:
        spot = str(list(at)).replace("[", r"\[")
        for value, said in ((5000, "a number from -5 to 1000"), (300, "below most, 200")):
            table = np.array(arrays["table"])
            table[at] = value
            # The first of several is named.
            table[at[0] + 1 :] = value
            with pytest.raises(ValueError, match=rf"^table{spot} is {value}; it must be {said}$"):
                TABLES.check(ModelFile({**arrays, "table": table}, {}, {}))
    wide = np.zeros((1, 90))
    wide[0, 77] = np.nan
    with pytest.raises(ValueError, match=r"^wide\[0, 77\] is nan"):
        TABLES.check(ModelFile({**arrays, "wide": wide}, {}, {}))


def _written_before(path: Path, text: str) -> None:
    save_file({"weights": np.zeros(3)}, path, metadata={"mam": text})


def test_a_file_without_digests_is_read(tmp_path: Path) -> None:
    path = tmp_path / "old.safetensors"
    about = {"format": 1, "kind": "toy", "version": "0.1.0", "config": {}, "provenance": {"n": 1}}
    _written_before(path, json.dumps(about))
    for mapped in (False, True):
        found = load_model(path, TOY, mapped=mapped)
        assert found.provenance == {"n": 1} and found.arrays["weights"].tolist() == [0, 0, 0]


@pytest.mark.parametrize("text", ["{", "[]", '{"format": 1}', "null", "3"])
def test_a_file_that_says_nonsense_of_itself_is_named(tmp_path: Path, text: str) -> None:
    _written_before(tmp_path / "a.safetensors", text)
    with pytest.raises(ValueError, match=r"a\.safetensors: the file is damaged"):
        load_model(tmp_path / "a.safetensors", TOY)


def test_the_same_model_gives_the_same_file(tmp_path: Path) -> None:
    for name in ("a", "b"):
        save_model(tmp_path / name, MODEL, TOY)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("name", bundled_models())
def test_bundled_models_have_digests(name: str) -> None:
    path = bundled_models()[name]
    with safe_open(path, "numpy") as file:
        about = json.loads(file.metadata()["mam"])
    assert len(about[HEADER]) == len(about[DATA]) == 64
