"""Model files: safetensors with JSON metadata, no pickle. A model is a bundled name or a path."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load_file, save

from mam import __version__
from mam.core.digest import UNSIGNED, check_data, check_header, signed
from mam.core.whole import write_whole

FORMAT = 1  # raised when a file written by this version cannot be read by an older one
# Names of the types of arrays in a file (safetensors format).
_DTYPES = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "F32": np.float32,
    "F64": np.float64,
}
_KEYS = ("format", "kind", "version", "config", "provenance")  # what every file says of itself
# A mapped file may be far larger than what is used of it, and reading it all to check it would undo
# the mapping. Up to this size that takes less than 0.1 s, and a larger one has only its header
# checked.
_CHECKED = 64 << 20
BUNDLED = "bundled"  # the folder of models that come with the package


@dataclass(frozen=True, eq=False)
class ModelFile:
    """What a model file holds: arrays, settings, and how they were learned."""

    kind: str
    arrays: Mapping[str, np.ndarray]
    config: Mapping[str, Any]
    provenance: Mapping[str, Any]


def save_model(path: str | Path, model: ModelFile) -> None:
    """Write a model file, whole or not at all."""
    about = {
        "format": FORMAT,
        "kind": model.kind,
        "version": __version__,
        "config": dict(model.config),
        "provenance": dict(model.provenance),
        **UNSIGNED,
    }
    arrays = {name: np.asarray(values, order="C") for name, values in model.arrays.items()}
    content = save(arrays, metadata={"mam": json.dumps(about, sort_keys=True)})
    write_whole(Path(path), signed(content))


def model_kind(source: str | Path) -> str:
    """Return what kind of model a file or a bundled name is."""
    return _about(find_model(source))["kind"]


def load_model(source: str | Path, kind: str, *, mapped: bool = False) -> ModelFile:
    """Read a model of the given kind from a file, or by its bundled name.

    The arrays of a ``mapped`` file stay on the disk until they are looked at. What was changed
    since it was written is refused; of a large mapped file that goes for all but the arrays.
    """
    path = find_model(source)
    about = _about(path)
    if about["format"] > FORMAT:
        raise ValueError(
            f"{path}: written by mam {about['version']} in format {about['format']}; "
            f"this is mam {__version__}, which reads up to format {FORMAT}: install a newer one"
        )
    if about["kind"] != kind:
        raise ValueError(f"{path}: a model of {about['kind']}, where one of {kind} is wanted")
    if not mapped or path.stat().st_size <= _CHECKED:
        check_data(path)
    arrays = _mapped(path) if mapped else load_file(path)
    return ModelFile(kind, arrays, about["config"], about["provenance"])


def _about(path: Path) -> dict[str, Any]:
    """Read what a file says about itself."""
    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get("mam")
    except SafetensorError as error:
        raise ValueError(f"{path}: not a model file ({error})") from None
    if text is None:
        raise ValueError(f"{path}: a safetensors file, but not one that mam wrote")
    check_header(path)
    try:
        about = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: the file is damaged ({error})") from None
    missing = [key for key in _KEYS if not isinstance(about, dict) or key not in about]
    if missing:
        raise ValueError(f"{path}: the file is damaged (it says nothing of its {missing[0]})")
    return about


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file: a length, a JSON header of that length, then the data."""
    whole = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    header = json.loads(whole[8:start].tobytes())
    return {
        name: whole[start + about["data_offsets"][0] : start + about["data_offsets"][1]]
        .view(_DTYPES[about["dtype"]])
        .reshape(about["shape"])
        for name, about in header.items()
        if name != "__metadata__"
    }


def find_model(source: str | Path) -> Path:
    """Return the file of a bundled name, or the path itself."""
    path = Path(source)
    if path.is_file():
        return path
    bundled = bundled_models()
    if str(source) in bundled:
        return bundled[str(source)]
    raise FileNotFoundError(
        f"{source}: no such file, and no bundled model; bundled are {', '.join(sorted(bundled))}"
    )


def bundled_models() -> dict[str, Path]:
    """Return the models that come with the package, by name."""
    return {path.stem: path for path in sorted(bundled_file("").glob("*.safetensors"))}


def bundled_file(name: str) -> Path:
    """Return a file that comes with the package."""
    return Path(str(resources.files("mam"))) / BUNDLED / name
