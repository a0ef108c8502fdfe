"""Small files of every kind that readers of data are given, and what reads them."""

import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import tifffile
from fontTools import subset
from fontTools.ttLib import TTFont
from PIL import Image

from mam.data import CurvesConfig, Recipe, make_row, read_picture, recipe, rows_of, write_dataset
from mam.data.generate.letters import LETTERS, outline_face
from mam.data.pixel_size import read_pixel_size
from mam.data.read.depth import read_depth
from mam.data.read.labelled import read_labelled
from mam.data.schema import PathfinderRow, schema_of, to_record
from mam.models.uai import read_uai, read_uai_evidence, read_uai_query
from tests.data.made_layouts import (
    published_cabc,
    published_pathfinder,
    save,
    shelf_scene,
    write_parquet,
)

UAI = b"""MARKOV
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


class Kind(NamedTuple):
    """Files of a reader, one of which is changed."""

    make: Callable[[Path], list[Path]]  # in a folder; those that may be changed
    read: Callable[[Path], Any]  # of the folder
    text: bool = False
    mend: Callable[[bytes], bytes] = bytes  # what makes a changed file look whole again
    refuses: bool = True  # rather than pass over what it does not understand


def _right_sums(content: bytes) -> bytes:
    """A PNG whose chunks have right check sums, whatever they hold."""
    found, at = content[:8], 8
    while at + 12 <= len(content):
        length = int.from_bytes(content[at : at + 4], "big")
        body = content[at + 4 : at + 8 + length]
        found += len(body[4:]).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")
        at += 12 + length
    return found


def one_file(name: str, content: bytes) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        (folder / name).write_bytes(content)
        return [folder / name]

    return make


def _picture(name: str, **options: Any) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        pixels = np.random.default_rng(0).integers(0, 256, (40, 30, 3), np.uint8)
        Image.fromarray(pixels).save(folder / name, **options)
        return [folder / name]

    return make


def _parquet(kind: str) -> Callable[[Path], list[Path]]:
    def make(folder: Path) -> list[Path]:
        if kind == "curves":
            made = Recipe("curves", CurvesConfig(rows=64, cols=64), 0)
            return [write_dataset(made, 2, folder / "rows.parquet")]
        return [write_parquet(folder / "rows.parquet", [make_row(recipe(kind, "easy", 0), 0)])]

    return make


def _layout(make: Callable[..., Path], count: int) -> Callable[[Path], list[Path]]:
    def files(folder: Path) -> list[Path]:
        make(folder, count)
        return sorted(path for path in folder.rglob("*") if path.is_file())

    return files


def _rows(folder: Path) -> None:
    for _ in rows_of(str(folder)):
        pass


def _segments(folder: Path) -> None:
    """The strokes of a row as JSON, in a data set."""
    text = (folder / "segments.json").read_text(errors="replace")
    record = to_record(_PATHFINDER) | {"segments": text}
    table = pa.Table.from_pylist([record], schema=schema_of(PathfinderRow))
    pq.write_table(table, folder / "rows.parquet")
    _rows(folder)


_PATHFINDER = make_row(recipe("pathfinder", "easy", 0), 0)


def _depth(folder: Path) -> list[Path]:
    far = np.random.default_rng(0).integers(0, 1 << 16, (40, 30), np.uint16)
    return [save(folder / "a.png", far)]


def _with_masks(folder: Path) -> list[Path]:
    rng = np.random.default_rng(0)
    image, mask = rng.integers(0, 256, (20, 30, 3), np.uint8), rng.integers(0, 2, (20, 30))
    shown = 255 * mask.astype(np.uint8)
    return [save(folder / "images" / "a.png", image), save(folder / "masks" / "a.png", shown)]


def _font(folder: Path) -> list[Path]:
    """The letters of a font, outlines without hints."""
    options = subset.Options(hinting=False, layout_features=[], name_IDs=[])
    font = TTFont(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf")
    letters = subset.Subsetter(options)
    letters.populate(text="".join(LETTERS))
    letters.subset(font)
    font.save(folder / "a.ttf")
    return [folder / "a.ttf"]


def _evidence(folder: Path) -> Any:
    (folder / "model.uai").write_bytes(UAI)
    return read_uai_evidence(folder / "some.evid", read_uai(folder / "model.uai"))


def _query(folder: Path) -> Any:
    (folder / "model.uai").write_bytes(UAI)
    return read_uai_query(folder / "some.query", read_uai(folder / "model.uai"))


def _npy(folder: Path) -> list[Path]:
    np.save(folder / "a.npy", np.zeros((9, 7), np.uint8))
    return [folder / "a.npy"]


def _ome(folder: Path) -> list[Path]:
    """A TIFF that says how large a pixel is, in XML."""
    known = {"axes": "YX", "PhysicalSizeX": 0.5, "PhysicalSizeXUnit": "um"}
    known |= {"PhysicalSizeY": 0.5, "PhysicalSizeYUnit": "um"}
    tifffile.imwrite(folder / "a.tif", np.zeros((9, 7), np.uint8), ome=True, metadata=known)
    return [folder / "a.tif"]


DATA = {
    "uai": Kind(one_file("model.uai", UAI), lambda f: read_uai(f / "model.uai"), True),
    "evidence": Kind(one_file("some.evid", b"2 0 1 2 2\n"), _evidence, True),
    "query": Kind(one_file("some.query", b"2 0 2\n"), _query, True),
    "png": Kind(_picture("a.png"), lambda f: read_picture(f / "a.png")),
    "png with right sums": Kind(
        _picture("a.png"), lambda f: read_picture(f / "a.png"), mend=_right_sums
    ),
    "jpeg": Kind(_picture("a.jpg"), lambda f: read_picture(f / "a.jpg")),
    "tiff": Kind(_picture("a.tif", compression="tiff_lzw"), lambda f: read_picture(f / "a.tif")),
    "webp": Kind(_picture("a.webp"), lambda f: read_picture(f / "a.webp")),
    "gif": Kind(_picture("a.gif"), lambda f: read_picture(f / "a.gif")),
    "bmp": Kind(_picture("a.bmp"), lambda f: read_picture(f / "a.bmp")),
    "pnm": Kind(_picture("a.ppm"), lambda f: read_picture(f / "a.ppm"), True),
    "npy": Kind(_npy, lambda f: read_picture(f / "a.npy"), True),
    "pixel size": Kind(_ome, lambda f: read_pixel_size(f / "a.tif"), True, refuses=False),
    "depth": Kind(_depth, lambda f: read_depth(f / "a.png"), mend=_right_sums),
    "folder with masks": Kind(_with_masks, _rows),
    "font": Kind(_font, lambda f: outline_face.__wrapped__(f / "a.ttf")),
    "pathfinder": Kind(_parquet("pathfinder"), _rows),
    "cabc": Kind(_parquet("cabc"), _rows),
    "objects": Kind(_parquet("objects"), _rows),
    "segments": Kind(one_file("segments.json", b"[[[5, 6, 0.5], [9, 9, 3]], []]"), _segments, True),
    "labelled": Kind(_parquet("pathfinder"), lambda f: read_labelled(str(f))),
    "labelled, published": Kind(_layout(published_pathfinder, 1), lambda f: read_labelled(str(f))),
    "curves": Kind(_parquet("curves"), _rows),
    "published pathfinder": Kind(_layout(published_pathfinder, 1), _rows),
    "published cabc": Kind(_layout(published_cabc, 1), _rows),
    "scenes": Kind(_layout(shelf_scene, 1), _rows, True),
}
