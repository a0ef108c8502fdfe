"""`mam find` with a model of objects in photographs."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mam.commands.find.found_objects import FoundIn, FoundObject
from mam.core.whole_files import write_whole
from mam.data import encode_png
from mam.data.pixels import rgb
from mam.data.read.depth import read_depth
from mam.show.objects import draw_detections, encode_labels, label_map
from mam.vision.elastic.photographs.detection import Detection
from mam.vision.elastic.photographs.detector import ObjectDetector


def object_search(
    model: str,
    parameters: Mapping[str, Any],
    copies: int,
    depth: Path | None,
    masks: Path | None,
) -> Callable[[np.ndarray, str, Path | None], FoundIn]:
    """What finds objects in a photograph, draws those that are there, and tells of them."""
    detector = ObjectDetector.load(model, **parameters)
    far = None if depth is None else read_depth(depth)

    def find_one(picture: np.ndarray, name: str, out: Path | None) -> FoundIn:
        pixels = rgb(picture) if picture.ndim == 3 else picture
        objects = detector.find(pixels, far, copies)
        if out is not None:
            write_whole(out, encode_png(draw_detections(pixels, objects)))
        if masks is not None:
            write_whole(masks, encode_labels(label_map(objects, pixels.shape[:2])))
        return FoundIn(name, "objects", [_found_object(one) for one in objects])

    return find_one


def _found_object(one: Detection) -> FoundObject:
    more = {
        "threshold": round(one.threshold, 3),
        "cut": one.cut,
        "graph": one.graph,
        "proof": one.proof,
        "vertices": one.vertices.tolist(),
        "types": one.types.tolist(),
    }
    size = int(one.mask.sum())
    measures = one.score, one.margin, one.scale, one.box, one.outline, size
    return FoundObject(_line(one), one.name, one.there, *measures, more)


def _line(one: Detection) -> str:
    score = f"score {one.score:.2f} (there from {one.threshold:.2f} on)"
    if one.box is None or not one.there:
        return f"{one.name} is not there, {score}"
    top, left, bottom, right = one.box
    cut = ", cut by the border" if one.cut else ""
    return (
        f"{one.name}, rows {top} to {bottom}, columns {left} to {right}, {int(one.mask.sum())} px, "
        f"{score}, margin {one.margin:.2f}{cut}"
    )
