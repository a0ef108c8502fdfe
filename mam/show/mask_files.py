"""The pixels of curves as files in which they may overlap: pages of a TIFF, or COCO."""

import io
import json
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxtyping import Bool
from PIL import Image, TiffImagePlugin

from mam.core.words import counted
from mam.data.pixels import black_and_white
from mam.tasks.drawing import Drawing
from mam.vision.images.thin_masks import box_of


def tif_file(found: Drawing, name: str) -> bytes:
    """One page a curve: 255 on its pixels, 0 elsewhere."""
    masks = found.masks
    out = io.BytesIO()
    pages = _pages(masks if len(masks) else np.zeros((1, *found.shape), bool))
    about = TiffImagePlugin.ImageFileDirectory_v2()
    about[TiffImagePlugin.IMAGEDESCRIPTION] = f"{counted(len(masks), 'curve')}, one a page"
    first = next(pages)
    first.save(
        out,
        "TIFF",
        save_all=True,
        append_images=list(pages),
        compression="tiff_deflate",
        tiffinfo=about,
    )
    return out.getvalue()


def _pages(masks: Bool[np.ndarray, "curves rows cols"]) -> Iterator[Image.Image]:
    return (Image.fromarray(black_and_white(mask)) for mask in masks)


def coco_file(found: Drawing, name: str) -> bytes:
    """An annotation a curve, its pixels as run lengths; `pycocotools` reads it."""
    rows, cols = found.shape
    annotations = [
        {
            "id": number,
            "image_id": 1,
            "category_id": 1,
            "iscrowd": 0,
            "area": int(mask.sum()),
            "bbox": _box(mask),
            "segmentation": {"size": [rows, cols], "counts": run_lengths(mask)},
        }
        for number, mask in enumerate(found.masks, start=1)
    ]
    about: dict[str, Any] = {
        "images": [{"id": 1, "file_name": name, "height": rows, "width": cols}],
        "categories": [{"id": 1, "name": "curve"}],
        "annotations": annotations,
    }
    return (json.dumps(about) + "\n").encode()


def run_lengths(mask: Bool[np.ndarray, "rows cols"]) -> list[int]:
    """How many pixels are OFF, then ON, then OFF, ..., column after column, as COCO counts them.

    >>> run_lengths(np.array([[True, False], [True, True]]))
    [0, 2, 1, 1]
    """
    flat = mask.ravel(order="F")
    changes = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    starts = np.concatenate([[0] if flat[:1].any() else [], [0], changes, [flat.size]])
    return np.diff(starts).astype(int).tolist()


def _box(mask: Bool[np.ndarray, "rows cols"]) -> list[int]:
    """Left, top, width, height."""
    rows, cols = box_of(mask)
    return [cols.start, rows.start, cols.stop - cols.start, rows.stop - rows.start]
