"""The published folder layouts of pathfinder and cABC."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tokenize import TokenError

import numpy as np
from jaxtyping import Int, Shaped, UInt8

from mam.data.images import read_picture
from mam.data.pixels import grey
from mam.data.read.markers import find_discs, find_rings
from mam.data.schema import CabcRow


@dataclass(frozen=True, eq=False)
class PublishedPathfinderRow:
    """A published pathfinder image: no contours are given, the markers are found in the image."""

    image: UInt8[np.ndarray, "rows cols"]
    label: int  # 1 = same contour
    markers: Int[np.ndarray, "2 2"]
    name: str


@dataclass(frozen=True)
class _Columns:
    """Which metadata column holds what."""

    count: int
    folder: int
    file: int
    label: int


_PATHFINDER = _Columns(count=11, folder=0, file=1, label=3)
_CABC = _Columns(count=7, folder=0, file=2, label=4)
_CABC_SEGMENTS = 1
_CABC_CATEGORIES = (5, 6)
_ASCII = 127
# What numpy lets out of headers that are none.
_UNREADABLE = (ValueError, EOFError, OSError, SyntaxError, TypeError, OverflowError, TokenError)


def is_published(folder: Path) -> bool:
    """Whether a folder has the layout imgs/<batch>/sample_<k>.png with metadata/<batch>.npy."""
    return (folder / "imgs").is_dir() and (folder / "metadata").is_dir()


def natural_order(path: Path) -> tuple:
    """A sorting key that puts 2 before 10.

    >>> [p.name for p in sorted(map(Path, ["b10", "b2"]), key=natural_order)]
    ['b2', 'b10']
    """
    parts = re.split(r"(\d+)", path.name)
    return tuple(int(part) if part.isdecimal() else part for part in parts)


def _table(path: Path) -> Shaped[np.ndarray, "rows columns"]:
    """The metadata of one batch as strings. Never unpickles: object arrays are refused."""
    try:
        # Mapped: a header that announces more than the file holds is refused, not allocated.
        table = np.load(path, allow_pickle=False, mmap_mode="r")
    except _UNREADABLE as error:
        raise ValueError(
            f"{path}: not a readable .npy table of strings ({error}); "
            "object arrays are refused, save it with numpy as fixed-width strings"
        ) from None
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind not in "SU":
        raise ValueError(f"{path}: a table of strings with 2 axes is needed")
    letters = np.frombuffer(table.tobytes(), np.uint8 if table.dtype.kind == "S" else np.uint32)
    table = np.array(table)
    if (letters if table.dtype.isnative else letters.byteswap()).max(initial=0) > _ASCII:
        raise ValueError(f"{path}: a table of strings in ASCII is needed")
    return np.char.decode(table, "ascii") if table.dtype.kind == "S" else table


def _inside(root: Path, folder: str, file: str, where: str) -> Path:
    path = root / folder / file
    if "\0" in str(path):
        raise ValueError(f"{where}: the path {folder!r}/{file!r} has a zero inside")
    if not path.resolve().is_relative_to(root.resolve()):
        raise ValueError(f"{where}: the path {folder}/{file} leads out of {root}")
    return path


def _number(text: str, where: str, what: str, most: int) -> int:
    try:
        value = int(float(text))
    except (ValueError, OverflowError):
        value = -1
    if not 0 <= value <= most:
        raise ValueError(f"{where}, {what}: a number from 0 to {most} is needed, found {text!r}")
    return value


def published_rows(root: Path) -> Iterator[PublishedPathfinderRow | CabcRow]:
    """The rows of a published pathfinder or cABC folder, batch by batch, in metadata order."""
    batches = sorted((root / "metadata").glob("*.npy"), key=natural_order)
    if not batches:
        raise FileNotFoundError(f"{root / 'metadata'}: no <batch>.npy in it")
    for batch in batches:
        table = _table(batch)
        if table.shape[1] not in (_PATHFINDER.count, _CABC.count):
            raise ValueError(
                f"{batch}: {table.shape[1]} columns; pathfinder has {_PATHFINDER.count}, "
                f"cABC {_CABC.count}"
            )
        for number, entry in enumerate(table):
            where = f"{batch}: row {number}"
            read = _read_pathfinder if len(entry) == _PATHFINDER.count else _read_cabc
            yield read(root, entry.tolist(), where)


def _read_pathfinder(root: Path, entry: list[str], where: str) -> PublishedPathfinderRow:
    path = _inside(root, entry[_PATHFINDER.folder], entry[_PATHFINDER.file], where)
    image = grey(read_picture(path))
    label = _number(entry[_PATHFINDER.label], where, "label", 1)
    return PublishedPathfinderRow(image, label, find_discs(image, str(path)), path.name)


def _read_cabc(root: Path, entry: list[str], where: str) -> CabcRow:
    path = _inside(root, entry[_CABC.folder], entry[_CABC.file], where)
    image = grey(read_picture(path))
    shapes = _inside(root, entry[_CABC_SEGMENTS], entry[_CABC.file], where)
    channels = read_picture(shapes)
    if channels.ndim != 3 or channels.shape[:2] != image.shape:
        raise ValueError(f"{shapes}: an RGB picture of the size of {path.name} is needed")
    letters = (channels[..., 0] > 0).astype(np.uint8) | (
        (channels[..., 1] > 0).astype(np.uint8) << 1
    )
    label = _number(entry[_CABC.label], where, "label", 1)
    categories = [_number(entry[k], where, "category", 25) for k in _CABC_CATEGORIES]
    return CabcRow(image, letters, label, np.array(categories), find_rings(image, str(path)))
