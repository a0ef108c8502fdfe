"""Small data sets in every layout, made by the tests themselves."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from mam.data import make_row, recipe, schema_of
from mam.data.schema import Row, to_record


def write_parquet(path: Path, rows: list[Row]) -> Path:
    records = [to_record(row) for row in rows]
    pq.write_table(pa.Table.from_pylist(records, schema=schema_of(type(rows[0]))), path)
    return path


def save(path: Path, pixels: np.ndarray, **options) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def published_pathfinder(root: Path, count: int = 3) -> Path:
    """imgs/1/sample_<k>.png and metadata/1.npy with the 11 published columns, as unicode."""
    table = []
    for k in range(count):
        row = make_row(recipe("pathfinder", "hard", 0), k)
        save(root / "imgs/1" / f"sample_{k}.png", row.image)
        entry = ["imgs/1", f"sample_{k}.png", k, row.label, 1.8, 14, 4, 5, 2, 3, 1]
        table.append([str(value) for value in entry])
    (root / "metadata").mkdir()
    np.save(root / "metadata/1.npy", np.array(table, dtype="<U32"))
    return root


def published_cabc(root: Path, count: int = 3) -> Path:
    """imgs, segs (letter A red, letter B green) and the 7 published columns, as bytes."""
    table = []
    for k in range(count):
        row = make_row(recipe("cabc", "hard", 0), k)
        save(root / "imgs/1" / f"sample_{k}.png", row.image)
        channels = [(row.letters & 1) * 255, (row.letters >> 1) * 255, np.zeros_like(row.letters)]
        save(root / "segs/1" / f"sample_{k}.png", np.stack(channels, axis=2).astype(np.uint8))
        entry = ["imgs/1", "segs/1", f"sample_{k}.png", k, row.label, *row.categories.tolist()]
        table.append([str(value).encode() for value in entry])
    (root / "metadata").mkdir()
    np.save(root / "metadata/1.npy", np.array(table, dtype="|S21"))
    return root


def shelf_scene(root: Path, frames: int = 2) -> Path:
    """scene-0000 with two objects, numbers 8 and 19, in segm/."""
    scene = root / "scene-0000"
    for k in range(frames):
        color = np.random.default_rng(k).integers(0, 255, (48, 64, 3), dtype=np.uint8)
        save(scene / f"frame-{k:06d}.color.png", color)
        truth = np.zeros((48, 64), np.uint8)
        truth[5:20, 5:20] = 6 * 8
        truth[25:40, 30:60] = 6 * 19
        save(scene / "segm" / f"frame-{k:06d}.segm.png", truth)
    (scene / "cam.info.txt").write_text('# Objects: ["book","apple"]\n')
    return root
