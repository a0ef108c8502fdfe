"""One way in for every layout: parquet, published folders, scenes, plain folders, single images."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Shaped

from mam.data.images import SUFFIXES, read_picture
from mam.data.pixels import grey
from mam.data.read.published import (
    PublishedPathfinderRow,
    is_published,
    natural_order,
    published_rows,
)
from mam.data.read.scenes import scene_rows, scenes_in
from mam.data.schema import PictureRow, Row
from mam.data.store.parquet import files_matching, is_url, parquet_batches

AnyRow = Row | PictureRow | PublishedPathfinderRow
IMAGE_SUFFIXES = SUFFIXES - {".npy"}  # published sets have arrays beside their pictures
_IMAGE_FOLDERS = ("images", "imgs", "image")
_MASK_FOLDERS = ("masks", "mask", "labels", "segs")


def layout_of(source: str) -> str:
    """Which layout a path or URL has: parquet, published, scenes, folder or image.

    >>> layout_of("s3://bucket/hard.parquet")
    'parquet'
    """
    if is_url(source) or files_matching(source):
        return "parquet"
    path = Path(source)
    if not path.exists():
        raise FileNotFoundError(f"{source}: no such file or folder")
    if path.is_file():
        return "image" if path.suffix.lower() in SUFFIXES else "parquet"
    if any(path.glob("*.parquet")):
        return "parquet"
    if _published_roots(path):
        return "published"
    if scenes_in(path):
        return "scenes"
    if _folder_images(path)[0]:
        return "folder"
    raise ValueError(
        f"{source}: no known layout in it (*.parquet; imgs/ with metadata/; scene-*/; images)"
    )


def _published_roots(path: Path) -> list[Path]:
    """The published set at `path`, or those directly under it (one per level)."""
    if is_published(path):
        return [path]
    return sorted((p for p in path.iterdir() if p.is_dir() and is_published(p)), key=natural_order)


def rows_of(source: str) -> Iterator[AnyRow]:
    """The rows of any source, one at a time; only a batch is ever in memory."""
    return itertools.chain.from_iterable(batches_of(source))


def batches_of(source: str, size: int = 32) -> Iterator[Sequence[AnyRow]]:
    """The rows of any source in lists of at most `size`."""
    layout = layout_of(source)
    if layout == "parquet":
        yield from parquet_batches(source, batch=size)
        return
    if layout == "published":
        roots = _published_roots(Path(source))
        rows: Iterable[AnyRow] = itertools.chain.from_iterable(map(published_rows, roots))
    elif layout == "scenes":
        rows = scene_rows(Path(source))
    else:
        rows = picture_rows(Path(source))
    rows = iter(rows)
    while found := list(itertools.islice(rows, size)):
        yield found


def select_rows(source: str, wanted: Sequence[int]) -> list[AnyRow]:
    """The rows with these numbers, in the order asked for."""
    if not wanted or min(wanted) < 0:
        raise ValueError(f"rows {list(wanted)}: give row numbers from 0 on")
    found: dict[int, AnyRow] = {}
    if layout_of(source) == "parquet":
        ordered = sorted(set(wanted))
        rows = itertools.chain.from_iterable(parquet_batches(source, wanted=ordered))
        found = dict(zip(ordered, rows, strict=False))
    else:
        for number, row in enumerate(itertools.islice(rows_of(source), max(wanted) + 1)):
            if number in wanted:
                found[number] = row
    missing = [number for number in wanted if number not in found]
    if missing:
        raise ValueError(f"{source}: has no row {missing[0]}")
    return [found[number] for number in wanted]


def _folder_images(path: Path) -> tuple[list[Path], Path | None]:
    """The images of a plain folder and the folder of their masks, if any."""

    def images(folder: Path) -> list[Path]:
        inside = (p for p in folder.iterdir() if p.suffix.lower() in IMAGE_SUFFIXES)
        return sorted(inside, key=natural_order)

    masks = next((path / name for name in _MASK_FOLDERS if (path / name).is_dir()), None)
    for name in _IMAGE_FOLDERS:
        if (path / name).is_dir():
            return images(path / name), masks
    return [p for p in images(path) if not p.stem.endswith("_mask")], masks


def _mask_path(image: Path, masks: Path | None) -> Path | None:
    """masks/NAME.*, or NAME_mask.* beside the image."""
    beside = [image.with_name(f"{image.stem}_mask{suffix}") for suffix in sorted(IMAGE_SUFFIXES)]
    inside = [masks / f"{image.stem}{suffix}" for suffix in sorted(IMAGE_SUFFIXES)] if masks else []
    return next((path for path in [*inside, *beside] if path.exists()), None)


def picture_rows(path: Path) -> Iterator[PictureRow]:
    """A single image, or the images of a plain folder with their masks.

    In a folder with a masks folder every image must have its mask.
    """
    if path.is_file():
        yield PictureRow(read_picture(path), None, path.name)
        return
    images, masks = _folder_images(path)
    for image in images:
        pixels = read_picture(image)
        found = _mask_path(image, masks)
        if found is None and masks is not None:
            raise FileNotFoundError(f"{masks}: no mask for {image.name}")
        mask = None if found is None else _read_mask(found, pixels)
        yield PictureRow(pixels, mask, image.name)


def _read_mask(
    path: Path, pixels: Shaped[np.ndarray, "rows cols *channels"]
) -> Bool[np.ndarray, "rows cols"]:
    values = read_picture(path)
    # A label number of 1 of 65535 counts: ask the raw values, not the rounded grey.
    mask = values > 0 if values.ndim == 2 else grey(values) > 0
    if mask.shape != pixels.shape[:2]:
        raise ValueError(f"{path}: size {mask.shape} differs from its image's {pixels.shape[:2]}")
    return mask
