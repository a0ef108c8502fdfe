"""Shelf scenes of the picking challenge: colour frames with the true mask of every object."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, UInt8

from mam.core.json_text import parse_json
from mam.data.images import read_picture
from mam.data.pixels import grey, rgb
from mam.data.read.depth import read_depth
from mam.data.read.published import natural_order
from mam.data.schema import ObjectRow

SEGMENT_STEP = 6  # pixel value of a segmentation = 6 x object number


def scenes_in(root: Path) -> list[Path]:
    """The scene folders at `root` or up to three levels under it (environment, object, scene).

    >>> scenes_in(Path("no-such-folder"))
    []
    """
    if not root.is_dir():
        return []
    if any(root.glob("frame-*.color.png")):
        return [root]
    for pattern in ("scene-*", "*/scene-*", "*/*/scene-*"):
        found = [path for path in root.glob(pattern) if any(path.glob("frame-*.color.png"))]
        if found:
            return sorted(found, key=natural_order)
    return []


def scene_rows(root: Path, depth: bool = False) -> Iterator[ObjectRow]:
    """One row per frame and object of every scene: `segm/` or `masks/` gives the truth.

    With `depth`, frames that have a depth picture come with it.
    """
    for scene in scenes_in(root):
        name = scene.name if scene == root else scene.relative_to(root).as_posix()
        for color, rows in _frames(scene):
            path = color.with_name(color.name.replace(".color.png", ".depth.png"))
            far = read_depth(path) if depth and path.exists() else None
            for row in rows:
                yield replace(row, scene=name, depth=far)


def _frames(scene: Path) -> Iterator[tuple[Path, Iterator[ObjectRow]]]:
    """The colour picture of each frame, and its rows."""
    colors = sorted(scene.glob("frame-*.color.png"), key=natural_order)
    if (scene / "segm").is_dir():
        names = _scene_names(scene)
        for color in colors:
            yield color, _segmented(scene, color, names)
    elif (scene / "masks").is_dir():
        for color in colors:
            yield color, _masked(scene, color)
    else:
        raise FileNotFoundError(f"{scene}: neither segm/ nor masks/ in it")


def _frame(color: Path) -> int:
    found = re.match(r"frame-(\d+)\.", color.name)
    if found is None:
        raise ValueError(f"{color}: the name must be frame-<number>.color.png")
    return int(found[1])


def _listed_objects(scene: Path) -> list[str]:
    """The objects that the camera file names, in alphabetical order as they are numbered."""
    camera = scene / "cam.info.txt"
    if not camera.exists():
        return []
    found = re.search(r"^# Objects: (\[.*\])", camera.read_text(errors="replace"), re.MULTILINE)
    try:
        listed = parse_json(found[1]) if found else []
    except ValueError:
        return []
    return sorted(listed) if all(isinstance(name, str) for name in listed) else []


def _scene_names(scene: Path) -> dict[int, str]:
    """Object number -> name; numbers are alphabetical, so the listed names can be matched."""
    numbers: set[int] = set()
    for path in (scene / "segm").glob("frame-*.segm.png"):
        numbers |= set((np.unique(read_picture(path)) // SEGMENT_STEP).tolist())
    known = sorted(numbers - {0})
    listed = _listed_objects(scene)
    if len(listed) == len(known):
        return dict(zip(known, listed, strict=True))
    return {number: f"object-{number}" for number in known}


def _segmented(scene: Path, color: Path, names: dict[int, str]) -> Iterator[ObjectRow]:
    frame = _frame(color)
    path = scene / "segm" / color.name.replace(".color.png", ".segm.png")
    image, numbers = rgb(read_picture(color)), grey(read_picture(path)) // SEGMENT_STEP
    for number in np.unique(numbers[numbers > 0]).tolist():
        mask = numbers == number
        _check_size(image, mask, path)
        yield ObjectRow(image, mask, names[number], scene.name, frame)


def _masked(scene: Path, color: Path) -> Iterator[ObjectRow]:
    """masks/frame-K.mask.png (one object: the listed one) or masks/frame-K.NAME.mask.png."""
    stem = color.name.removesuffix(".color.png")
    found = sorted((scene / "masks").glob(f"{stem}.*mask.png"))
    if not found:
        raise FileNotFoundError(f"{scene / 'masks'}: no {stem}.mask.png in it")
    listed = _listed_objects(scene)
    only = listed[0] if len(listed) == 1 else scene.parent.name
    image = rgb(read_picture(color))
    for path in found:
        name = path.name.removeprefix(f"{stem}.").removesuffix("mask.png").strip(".") or only
        mask = grey(read_picture(path)) > 0
        _check_size(image, mask, path)
        yield ObjectRow(image, mask, name, scene.name, _frame(color))


def _check_size(
    image: UInt8[np.ndarray, "rows cols 3"],
    mask: Bool[np.ndarray, "mask_rows mask_cols"],
    path: Path,
) -> None:
    if image.shape[:2] != mask.shape:
        raise ValueError(f"{path}: size {mask.shape} differs from its image's {image.shape[:2]}")
