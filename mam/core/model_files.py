"""Model files: safetensors with JSON metadata, no pickle. A model is a bundled name or a path."""

from importlib import resources
from pathlib import Path

import numpy as np
from safetensors.numpy import save

from mam import __version__
from mam.core.digest import UNSIGNED, check_data, signed
from mam.core.json_text import parse_json
from mam.core.limits import DIGEST_BYTES, HEADER_BYTES
from mam.core.metadata import metadata_text, read_metadata
from mam.core.schema import ModelFile, Schema
from mam.core.whole_files import write_whole

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
BUNDLED = "bundled"  # the folder of models that come with the package


def save_model(path: str | Path, model: ModelFile, schema: Schema) -> None:
    """Write a model file, whole or not at all; what `load_model` would refuse is not written."""
    arrays = {name: np.asarray(values, order="C") for name, values in model.arrays.items()}
    about = {
        "format": FORMAT,
        "kind": schema.kind,
        "version": __version__,
        "config": dict(model.config),
        "provenance": dict(model.provenance),
        **UNSIGNED,
    }
    try:
        schema.check(ModelFile(arrays, model.config, model.provenance))
        text = metadata_text(about)
    except ValueError as error:
        raise ValueError(f"{path}: cannot be written ({error})") from None
    write_whole(Path(path), signed(save(arrays, metadata={"mam": text})))


def model_kind(source: str | Path) -> str:
    """Return what kind of model a file or a bundled name is."""
    return read_metadata(find_model(source))["kind"]


def load_model(source: str | Path, schema: Schema, *, mapped: bool = False) -> ModelFile:
    """Read a model from a file, or by its bundled name; one that does not fit is refused.

    The arrays of a ``mapped`` file stay on the disk, where they are checked piece by piece: 0.1 s
    for 150 MB. What was changed since it was written is refused; of a mapped file above
    ``DIGEST_BYTES`` that goes for all but changes of arrays that the schema allows.
    """
    path = find_model(source)
    about = read_metadata(path)
    if not 1 <= about["format"] <= FORMAT:
        raise ValueError(
            f"{path}: written by mam {about['version']} in format {about['format']}; "
            f"this is mam {__version__}, which reads up to format {FORMAT}: install a newer one"
        )
    if about["kind"] != schema.kind:
        raise ValueError(
            f"{path}: a model of {about['kind']}, where one of {schema.kind} is wanted; give one "
            f"that `{schema.learned_by}` wrote"
        )
    if not mapped or path.stat().st_size <= DIGEST_BYTES:
        check_data(path)
    try:
        arrays = _mapped(path)
        if not mapped:
            arrays = {name: np.array(values) for name, values in arrays.items()}
        found = ModelFile(arrays, about["config"], about["provenance"])
        schema.check(found)
    except ValueError as error:
        raise ValueError(
            f"{path}: {error}. Take another copy of the file, or make it anew with "
            f"`{schema.learned_by}`"
        ) from None
    return found


def _mapped(path: Path) -> dict[str, np.ndarray]:
    """The arrays of a safetensors file: a length, a JSON header of that length, then the data.

    Rows here and there are looked up; safetensors' own slices are of rows in a row, and copies.
    """
    whole = np.memmap(path, np.uint8, "r")
    start = 8 + int.from_bytes(whole[:8].tobytes(), "little")
    arrays = {}
    for name, about in parse_json(whole[8:start].tobytes(), HEADER_BYTES).items():
        if name == "__metadata__":
            continue
        if about["dtype"] not in _DTYPES:
            raise ValueError(f"{name!r} is {about['dtype']}, not one of {', '.join(_DTYPES)}")
        first, last = about["data_offsets"]
        values = whole[start + first : start + last].view(_DTYPES[about["dtype"]])
        arrays[name] = values.reshape(about["shape"])
    return arrays


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
