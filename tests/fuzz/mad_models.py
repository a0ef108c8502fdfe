"""Model files that went wrong: torn bytes, and files that are whole but hold nonsense."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save

from mam.core.digest import signed

NUMBERS = [np.nan, np.inf, -np.inf, -1, 0, 1, 0.5, 1e308, -1e308, 2**31, -(2**63), 10**400, 1e-308]
OTHERS = [None, True, "", "x", "\ud800", "<script>", [], [[]], {}, {"a": 1}, [None] * 3, "9" * 9999]
DEEP = json.loads("[" * 500 + "]" * 500)
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64"]


class Content(NamedTuple):
    """What a file holds, to be changed."""

    arrays: dict[str, np.ndarray]
    about: dict[str, Any]


def content_of(path: Path) -> Content:
    """Read a file without any check."""
    with safe_open(path, "numpy") as file:
        arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return Content(arrays, json.loads(file.metadata()["mam"]))


def written(content: Content) -> bytes:
    """A file with right digests, whatever it holds."""
    arrays = {name: np.asarray(values, order="C") for name, values in content.arrays.items()}
    zeros = dict.fromkeys(("data_sha256", "header_sha256"), "0" * 64)
    about = content.about | zeros if isinstance(content.about, dict) else content.about
    return signed(save(arrays, metadata={"mam": json.dumps(about)}))


def mutated(content: Content, rng: np.random.Generator) -> bytes:
    """A file that differs in its arrays, in its metadata, or in some bytes."""
    kind = rng.integers(4)
    if kind == 0:
        return written(_other_array(content, rng))
    if kind == 1:
        return written(_other_value(content, rng))
    if kind == 2:
        about = json.loads(json.dumps(content.about))
        _change_node(about, rng)
        return written(Content(content.arrays, about))
    torn = _torn(written(content), rng)
    # The half with right digests is read further than the digests.
    return signed(torn) if rng.random() < 0.5 else torn


def _other_array(content: Content, rng: np.random.Generator) -> Content:
    """An array is missing, added, renamed, or of another type or shape."""
    arrays = dict(content.arrays)
    name = str(rng.choice(sorted(arrays)))
    values = arrays.pop(name)
    with np.errstate(all="ignore"):
        changes: list[Callable[[], dict[str, np.ndarray]]] = [
            dict,
            lambda: {name: values, "other": values},
            lambda: {f"{name}s": values},
            lambda: {name: values.astype(str(rng.choice(DTYPES)))},
            lambda: {name: values[:1]},
            lambda: {name: values[:0]},
            lambda: {name: values[:-1]},
            lambda: {name: values[..., :-1]} if values.ndim else {},
            lambda: {name: values.ravel()},
            lambda: {name: values.T},
            lambda: {name: values[None]},
            lambda: {name: np.concatenate([values, values])},
            lambda: {name: np.zeros((0, 1 << 40), values.dtype)},
            lambda: {name: rng.permutation(values)},
        ]
        added = changes[rng.integers(len(changes))]() if values.ndim else {}
    return Content(arrays | added, content.about)


def _other_value(content: Content, rng: np.random.Generator) -> Content:
    """Some elements are mad."""
    arrays = dict(content.arrays)
    name = str(rng.choice(sorted(arrays)))
    values = np.array(arrays[name])
    if not values.size:
        return _other_array(content, rng)
    if values.dtype.kind == "f":
        mad = [np.nan, np.inf, -np.inf, np.finfo(values.dtype).max]
    else:
        about = np.iinfo(values.dtype)
        mad = [about.min, about.max, min(about.max, 10**6), 1]
    at = rng.integers(values.size, size=int(rng.choice([1, 1, values.size])))
    values.reshape(-1)[at] = mad[rng.integers(len(mad))]
    return Content(arrays | {name: values}, content.about)


def _change_node(node: Any, rng: np.random.Generator) -> None:
    """Replace, remove, rename or add something in a tree of JSON."""
    while True:
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            return
        key = keys[rng.integers(len(keys))]
        if not isinstance(node[key], dict | list) or rng.random() < 0.3:
            break
        node = node[key]
    change = rng.integers(5)
    if change == 0:
        del node[key]
    elif change == 1 and isinstance(node, dict):
        node[f"{key}x"] = node.pop(key)
    else:
        values = [*NUMBERS, *OTHERS, DEEP]
        node[key] = values[rng.integers(len(values))]


def _torn(content: bytes, rng: np.random.Generator) -> bytes:
    """Bytes are changed, cut, doubled, or left out."""
    torn = bytearray(content)
    head = int.from_bytes(content[:8], "little") + 8
    first = int(rng.integers(rng.choice([8, head, len(torn)])))
    last = min(first + int(rng.choice([1, 4, 64])), len(torn))
    change = rng.integers(6)
    if change == 0:
        del torn[first:]
    elif change == 1:
        del torn[first:last]
    elif change == 2:
        torn[first:first] = torn[first:last]
    elif change == 3:
        torn[first:last] = bytes(last - first)
    else:
        torn[first:last] = rng.bytes(last - first)
    return bytes(torn)
