"""Readers of model files answer anything: a model, or an error that names the file."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from mam.core import model_files, schema
from mam.rivals import networks
from tests.fuzz import measured
from tests.fuzz.kinds import LOADS, write_all
from tests.fuzz.mad_models import Content, content_of, mutated, written
from tests.rivals.tiny import TinyHcnn

FEW, MANY = 20, 640  # of each kind


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(networks.NETWORKS, "h-cnn", TinyHcnn)  # type: ignore[arg-type]
        yield write_all(tmp_path_factory.mktemp("models"))


def answer(path: Path, kind: str) -> str:
    """How a file is answered."""
    return measured.answer(LOADS[kind], path, 1000)


@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", LOADS)
def test_mutated_files_are_read_or_refused(
    models: dict[str, Path], tmp_path: Path, kind: str, count: int
) -> None:
    content, path = content_of(models[kind]), tmp_path / "mad.safetensors"
    assert answer(models[kind], kind) == "read"
    said: Counter[str] = Counter()
    for seed in range(count):
        path.write_bytes(mutated(content, np.random.default_rng([count, seed])))
        try:
            said[answer(path, kind)] += 1
        except Exception as error:
            raise AssertionError(f"{kind}, count {count}, seed {seed}: {error!r}") from error
    print(said)
    assert said["refused"] > 0.5 * count


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
_ARRAYS = arrays_of.arrays(
    st.sampled_from([np.uint8, np.int16, np.int64, np.float32, np.float64]),
    arrays_of.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_setting_and_any_array(models: dict[str, Path], data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(list(LOADS)))
    arrays, about = content_of(models[kind])
    key = data.draw(st.sampled_from(["config", "provenance", "format", "kind", "version"]))
    name = data.draw(st.sampled_from(sorted(arrays)))
    if data.draw(st.booleans()):
        about = about | {key: data.draw(_JSON)}
    else:
        arrays = arrays | {name: data.draw(_ARRAYS)}
    path = models[kind].with_name("any.safetensors")
    path.write_bytes(written(Content(arrays, about)))
    answer(path, kind)


def _changed(content: Content, name: str, at: tuple[int, ...], value: Any) -> Content:
    values = np.array(content.arrays[name])
    values[at] = value
    return Content({**content.arrays, name: values}, content.about)


MAD = [
    ("parts", "masks", (0, 1, 2), 7, r"masks\[0, 1, 2\] is 7"),
    ("parts", "masks", (3,), 0, "part 3 has no pixels"),
    ("contours", "table", (4, 5, 6), np.nan, r"table\[4, 5, 6\] is nan"),
    ("curves", "weights", (2,), -np.inf, r"weights\[2\] is -inf"),
    ("paper", "key", (0,), -1, r"key\[0\] is -1"),
    ("paper", "key", (1,), 5 << 48, r"key\[1\] is \d+, part 5 and"),
    ("paper", "key", (1,), 1, r"key\[1\] is 1; it must be above"),
    ("paper", "side", (1, 1), 2, r"side\[1, 1\] is 2"),
    ("letters", "ends", (1, 0, 1), 200, r"ends\[1, 0, 1\] is 200; it must be below vertex_count"),
    ("letters", "ends", (1, 0), 1, r"ends\[1, 0\] is \[1, 1\]; an edge leads"),
    ("letters", "vertex_count", (2,), 30_000, r"vertex_count\[2\] is 30000"),
    ("letters", "edge_count", (0,), -3, r"edge_count\[0\] is -3"),
    ("objects", "category", (4,), 2, r"category\[4\] is 2; it must be below objects, 2"),
    ("objects", "type", (0, 0), 16, r"type\[0, 0\] is 16"),
    ("objects", "outline", (1, 1, 1), np.inf, r"outline\[1, 1, 1\] is inf"),
    ("rival", "network.cell.mu", (0,), np.nan, r"network\.cell\.mu\[0.* is nan"),
]


@pytest.mark.parametrize(("kind", "name", "at", "value", "words"), MAD)
def test_errors_name_file_array_and_element(
    models: dict[str, Path],
    tmp_path: Path,
    kind: str,
    name: str,
    at: tuple[int, ...],
    value: float,
    words: str,
) -> None:
    path = tmp_path / "mad.safetensors"
    path.write_bytes(written(_changed(content_of(models[kind]), name, at, value)))
    with pytest.raises(ValueError, match=rf"mad\.safetensors: {words}.*mam learn"):
        LOADS[kind](path)


@pytest.mark.parametrize("piece", [1, 1 << 20])
@pytest.mark.parametrize(
    ("name", "at", "value", "words"),
    [
        ("ends", (0, 0), [250, 3], r"ends\[0, 0, 0\] is 250; it must be below vertex_count"),
        ("ends", (4, 0), [1, 1], r"ends\[4, 0\] is \[1, 1\]; an edge leads"),
        ("vertex_count", (3,), 1, r"ends\[3, 0, 1\] is 1; it must be below vertex_count"),
        ("vertex_count", (3,), 99, r"vertex_count\[3\] is 99"),
        ("edge_count", (4,), 0, r"ends\[4, 0\] is \[0, 1\], but graph 4 has only 0"),
    ],
)
def test_large_banks_are_checked_as_small_ones(
    models: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    piece: int,
    name: str,
    at: tuple[int, ...],
    value: Any,
    words: str,
) -> None:
    monkeypatch.setattr(model_files, "DIGEST_BYTES", 100)
    monkeypatch.setattr(schema, "_PIECE", piece)
    path = tmp_path / "mad.safetensors"
    path.write_bytes(written(_changed(content_of(models["letters"]), name, at, value)))
    with pytest.raises(ValueError, match=rf"mad\.safetensors: {words}"):
        LOADS["letters"](path)


@pytest.mark.parametrize("kind", LOADS)
def test_an_array_that_is_missing_added_or_renamed(
    models: dict[str, Path], tmp_path: Path, kind: str
) -> None:
    (arrays, about), path = content_of(models[kind]), tmp_path / "mad.safetensors"
    name = min(arrays)
    less = {key: values for key, values in arrays.items() if key != name}
    for other in (less, {**arrays, "more": arrays[name]}, {**less, name + "x": arrays[name]}):
        path.write_bytes(written(Content(other, about)))
        assert answer(path, kind) == "refused"


def test_metadata_has_a_limited_size_and_depth(models: dict[str, Path], tmp_path: Path) -> None:
    (arrays, about), path = content_of(models["curves"]), tmp_path / "mad.safetensors"
    deep = json.loads("[" * 200 + "]" * 200)
    for value, words in ((deep, "brackets deep"), ("x" * (1 << 21), "characters")):
        path.write_bytes(written(Content(arrays, about | {"provenance": {"x": value}})))
        with pytest.raises(ValueError, match=rf"mad\.safetensors: .*{words}, and .* the most"):
            LOADS["curves"](path)
    path.write_bytes((17 << 20).to_bytes(8, "little") + bytes(18 << 20))
    with pytest.raises(ValueError, match=r"mad\.safetensors: its header has 17825792 bytes"):
        LOADS["curves"](path)
