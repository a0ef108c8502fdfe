"""The data sets' rows: as Python values, and as parquet records with Hugging Face metadata."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Float, Int, Shaped, UInt8

from mam.data.images import encode_png, read_picture
from mam.data.segments import Segments, check_inside, parse_segments, segments_text


@dataclass(frozen=True, eq=False)
class PathfinderRow:
    """A pathfinder image: are the two markers on the same contour?"""

    image: UInt8[np.ndarray, "rows cols"]  # with markers
    clean: UInt8[np.ndarray, "rows cols"]  # without
    contours: UInt8[np.ndarray, "rows cols"]  # 0 or contour number; 1 and 2 are the long ones
    label: int  # 1 = same contour
    markers: Int[np.ndarray, "2 2"]  # (row, col) of each
    segments: Segments  # strokes of every contour, in order


@dataclass(frozen=True, eq=False)
class CabcRow:
    """A cABC image: are the two ring markers on the same letter?"""

    image: UInt8[np.ndarray, "rows cols"]  # with ring markers
    letters: UInt8[np.ndarray, "rows cols"]  # bit 0 letter A, bit 1 letter B
    label: int  # 1 = same letter
    categories: Int[np.ndarray, "2"]  # 0..25 for A..Z
    markers: Int[np.ndarray, "2 2"]  # (row, col) of each


@dataclass(frozen=True, eq=False)
class CurvesRow:
    """Crossing curves: which pixels belong to which?"""

    mask: Bool[np.ndarray, "rows cols"]
    labels: UInt8[np.ndarray, "rows cols"]  # 0 or curve number, the upper curve owns a crossing
    gaps: Bool[np.ndarray, "rows cols"] | None = None  # the mask broken along upper curves' borders
    name: str | None = None
    masks: Bool[np.ndarray, "curves rows cols"] | None = None  # all pixels of each, shared or not
    image: UInt8[np.ndarray, "rows cols 3"] | None = None  # the picture that the mask was made from


@dataclass(frozen=True, eq=False)
class ObjectRow:
    """A photograph with the mask of one object."""

    image: UInt8[np.ndarray, "rows cols 3"]
    mask: Bool[np.ndarray, "rows cols"]
    name: str
    scene: str
    frame: int
    depth: Float[np.ndarray, "rows cols"] | None = None  # metres; read from scenes, never written


@dataclass(frozen=True, eq=False)
class PictureRow:
    """A picture from a folder or a file, with its mask where there is one."""

    image: Shaped[np.ndarray, "rows cols *channels"]
    mask: Bool[np.ndarray, "rows cols"] | None
    name: str


Row = PathfinderRow | CabcRow | CurvesRow | ObjectRow

_IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
_IMAGES = pa.list_(_IMAGE)
_POINTS = pa.list_(pa.list_(pa.int64()))
COLUMNS: Mapping[type, Mapping[str, pa.DataType]] = {
    PathfinderRow: {
        "image": _IMAGE,
        "clean": _IMAGE,
        "contours": _IMAGE,
        "label": pa.int64(),
        "markers": _POINTS,
        "segments": pa.string(),
    },
    CabcRow: {
        "image": _IMAGE,
        "letters": _IMAGE,
        "label": pa.int64(),
        "categories": pa.list_(pa.int64()),
        "markers": _POINTS,
    },
    CurvesRow: {"mask": _IMAGE, "labels": _IMAGE},
    ObjectRow: {
        "image": _IMAGE,
        "mask": _IMAGE,
        "name": pa.string(),
        "scene": pa.string(),
        "frame": pa.int64(),
    },
}

# Numbers that are answers; others would be compared with answers that nobody gives.
ANSWERS = {"label": range(2), "categories": range(26)}

# Read where a file has them; written where a data set says so.
OPTIONAL: Mapping[type, Mapping[str, pa.DataType]] = {
    CurvesRow: {"gaps": _IMAGE, "name": pa.string(), "masks": _IMAGES, "image": _IMAGE},
}


def _feature(kind: pa.DataType) -> Any:
    """The Hugging Face feature of a column type."""
    if kind == _IMAGE:
        return {"_type": "Image"}
    if pa.types.is_list(kind):
        return {"feature": _feature(kind.value_type), "_type": "List"}
    return {"dtype": str(kind), "_type": "Value"}


def schema_of(
    row_type: type, extra: Mapping[str, str] | None = None, also: Sequence[str] = ()
) -> pa.Schema:
    """The parquet schema of a kind of row, with the metadata `datasets.load_dataset` reads.

    >>> schema_of(CurvesRow, also=["name"]).names
    ['mask', 'labels', 'name']
    """
    columns = {**COLUMNS[row_type], **{name: OPTIONAL[row_type][name] for name in also}}
    features = {name: _feature(kind) for name, kind in columns.items()}
    metadata = {"huggingface": json.dumps({"info": {"features": features}}), **(extra or {})}
    return pa.schema(list(columns.items()), metadata=metadata)


def _png(picture: Shaped[np.ndarray, "..."]) -> dict[str, bytes | None]:
    ready = picture.astype(np.uint8) * 255 if picture.dtype == bool else picture
    return {"bytes": encode_png(ready), "path": None}


def to_record(row: Row) -> dict[str, Any]:
    """A row as the plain values that the parquet file holds.

    >>> row = CurvesRow(np.eye(2, dtype=bool), np.eye(2, dtype=np.uint8))
    >>> sorted(to_record(row))
    ['labels', 'mask']
    """
    record: dict[str, Any] = {}
    also = OPTIONAL.get(type(row), {})
    there = {name: kind for name, kind in also.items() if getattr(row, name) is not None}
    for name, kind in {**COLUMNS[type(row)], **there}.items():
        value = getattr(row, name)
        if kind == _IMAGE:
            record[name] = _png(value)
        elif kind == _IMAGES:
            record[name] = [_png(one) for one in value]
        elif name == "segments":
            record[name] = segments_text(value)
        else:
            record[name] = value.tolist() if isinstance(value, np.ndarray) else value
    return record


def kind_of(names: list[str], where: str) -> type:
    """The kind of row that a file with these columns holds.

    >>> kind_of(["labels", "mask", "name"], "ropes.parquet").__name__
    'CurvesRow'
    """
    for row_type, columns in COLUMNS.items():
        if set(columns) <= set(names):
            return row_type
    nearest = max(COLUMNS, key=lambda row_type: len(set(COLUMNS[row_type]) & set(names)))
    missing = [name for name in COLUMNS[nearest] if name not in names]
    raise ValueError(
        f"{where}: missing column {', '.join(map(repr, missing))}; "
        f"the file has {', '.join(map(repr, names)) or 'no columns'}"
    )


def check_types(row_type: type, schema: pa.Schema, where: str) -> None:
    """Refuse a file whose columns have other types than the rows need, before any row is read."""
    for name in (*COLUMNS[row_type], *OPTIONAL.get(row_type, {})):
        if len(schema.get_all_field_indices(name)) > 1:
            raise ValueError(f"{where}: column {name!r} is there twice")
    for name, wanted in COLUMNS[row_type].items():
        found = schema.field(name).type
        if not _fits(found, wanted):
            raise ValueError(f"{where}: column {name!r} has type {found}, it must be {wanted}")


def columns_in(row_type: type, schema: pa.Schema) -> list[str]:
    """The columns of a file to read: all that rows need, and the optional ones it has.

    >>> columns_in(CurvesRow, schema_of(CurvesRow).append(pa.field("name", pa.string())))
    ['mask', 'labels', 'name']
    """
    also = OPTIONAL.get(row_type, {})
    there = [n for n in also if n in schema.names and _fits(schema.field(n).type, also[n])]
    return [*COLUMNS[row_type], *there]


def _fits(found: pa.DataType, wanted: pa.DataType) -> bool:
    if pa.types.is_struct(wanted):
        names = [field.name for field in found] if pa.types.is_struct(found) else []
        if "bytes" not in names or len(set(names)) < len(names):  # no record has a name twice
            return False
        held = found.field("bytes").type
        return pa.types.is_binary(held) or pa.types.is_large_binary(held)
    if pa.types.is_list(wanted):
        lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        return any(test(found) for test in lists) and _fits(found.value_type, wanted.value_type)
    if pa.types.is_string(wanted):
        return pa.types.is_string(found) or pa.types.is_large_string(found)
    return pa.types.is_integer(found)


def from_record(row_type: type, record: Mapping[str, Any], where: str) -> Row:
    """A row from a parquet record; `where` (file and row) is named in errors.

    >>> row = CurvesRow(np.eye(2, dtype=bool), np.eye(2, dtype=np.uint8))
    >>> from_record(CurvesRow, to_record(row), "here").labels.tolist()
    [[1, 0], [0, 1]]
    """
    values = {}
    also = OPTIONAL.get(row_type, {})
    there = {name: kind for name, kind in also.items() if record.get(name) is not None}
    for name, kind in {**COLUMNS[row_type], **there}.items():
        spot = f"{where}, column {name!r}"
        if record[name] is None:
            raise ValueError(f"{spot}: the value is missing (null)")
        if kind == _IMAGE:
            values[name] = _picture(row_type, name, record[name], spot)
        elif kind == _IMAGES:
            values[name] = _pictures(row_type, name, record[name], spot)
        elif name == "segments":
            values[name] = parse_segments(record[name], spot)
        elif pa.types.is_list(kind):
            values[name] = _numbers(record[name], (2, 2) if kind == _POINTS else (2,), spot)
        else:
            values[name] = record[name]
    _agree(row_type, values, where)
    return row_type(**values)


def _agree(row_type: type, values: Mapping[str, Any], where: str) -> None:
    """The pictures of a row have one size, and its markers lie on them."""
    kinds = {**COLUMNS[row_type], **OPTIONAL.get(row_type, {})}
    there = [name for name, kind in kinds.items() if kind in (_IMAGE, _IMAGES) and name in values]
    size = values[there[0]].shape[:2]
    for name in there:
        if (other := values[name].shape[kinds[name] == _IMAGES :][:2]) != size:
            spot = f"{where}, column {name!r}"
            raise ValueError(f"{spot}: size {other} differs from {there[0]!r}, {size}")
    for name, answers in ANSWERS.items():
        for number in np.ravel(values.get(name, ())).tolist():
            if number not in answers:
                spot = f"{where}, column {name!r}"
                raise ValueError(f"{spot}: {number} is no number from 0 to {answers[-1]}")
    markers = values.get("markers")
    if markers is not None and ((markers < 0) | (markers >= size)).any():
        raise ValueError(f"{where}, column 'markers': {markers.tolist()} lies outside {size}")
    check_inside(values.get("segments", ()), size, f"{where}, column 'segments'")


def _picture(row_type: type, name: str, cell: Mapping[str, Any], spot: str) -> Any:
    if not cell.get("bytes"):
        raise ValueError(f"{spot}: the image has no bytes")
    pixels = read_picture(cell["bytes"], spot)
    if row_type in (ObjectRow, CurvesRow) and name == "image":
        if pixels.ndim != 3:
            pixels = np.repeat(pixels[..., None], 3, axis=2)
        return pixels[..., :3]
    if pixels.ndim != 2 or pixels.dtype != np.uint8:
        raise ValueError(f"{spot}: an 8-bit grey image is needed, found {pixels.shape}")
    return pixels > 0 if name in ("mask", "gaps", "masks") else pixels


def _pictures(row_type: type, name: str, cells: Any, spot: str) -> Any:
    found = [_picture(row_type, name, cell or {}, spot) for cell in cells]
    if len({one.shape for one in found}) != 1:
        raise ValueError(f"{spot}: needs images of one size, and one at least")
    return np.stack(found)


def _numbers(value: Any, shape: tuple[int, ...], spot: str) -> Int[np.ndarray, "..."]:
    try:
        found = np.array(value, dtype=np.int64)
    except (TypeError, ValueError, OverflowError):
        found = np.zeros(0, np.int64)
    if found.shape != shape:
        raise ValueError(f"{spot}: needs whole numbers of shape {shape}, found {value!r}")
    return found
