"""From a layer of napari to layers with its curves: arrays in, tuples out."""

from typing import Any

import numpy as np
from jaxtyping import Int, Shaped

from mam.core.svg import PALETTE
from mam.tasks.drawing import Drawing, group_drawing
from mam.vision.curves.facts import table_of

LayerTuple = tuple[Any, dict[str, Any], str]  # data, what else is known, kind
_HALF = 127  # of 255: a mask is black and white


def curve_layers(
    data: Shaped[np.ndarray, "..."],
    *,
    labels: bool = False,
    name: str = "picture",
    scale: tuple[float, ...] = (1.0, 1.0),
    translate: tuple[float, ...] = (0.0, 0.0),
    **known: Any,
) -> list[LayerTuple]:
    """The curves of an image, or of what is labelled, as paths and as labels.

    Other settings are those of `group_drawing`.

    >>> picture = np.full((40, 60), 255, np.uint8)
    >>> picture[18:22, 5:55] = 0
    >>> paths, pixels = curve_layers(picture, name="scan")
    >>> paths[1]["name"], paths[2], pixels[2], int(pixels[0].max())
    ('scan curves', 'shapes', 'labels', 1)
    """
    channels = 3 if data.ndim == 3 and data.shape[-1] in (3, 4) and not labels else 2
    if data.ndim != channels:
        raise ValueError(
            f"{name}: has {data.ndim} dimensions; choose a layer with rows and columns"
        )
    if labels:
        found = group_drawing(data > 0, name=name, **known | {"threshold": _HALF, "ink": "light"})
    else:
        found = group_drawing(_brightness(data), name=name, **known)
    placed = {"scale": tuple(scale)[-2:], "translate": tuple(translate)[-2:]}
    return [_paths(found, name, placed), _labels(found, name, placed)]


def _brightness(data: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """Floating-point pixels between 0 and 1, whatever their unit."""
    if data.dtype.kind != "f" or (data.min() >= 0 and data.max() <= 1):
        return data
    low, high = float(np.nanmin(data)), float(np.nanmax(data))
    return (np.nan_to_num(data, nan=low) - low) / max(high - low, 1e-12)


def _paths(found: Drawing, name: str, placed: dict[str, Any]) -> LayerTuple:
    facts = found.facts
    colours = PALETTE[np.arange(len(facts)) % len(PALETTE)] / 255
    about = {
        "name": f"{name} curves",
        "shape_type": "path",
        "edge_width": [one.width / 2 for one in facts],
        "edge_color": colours,
        "face_color": "transparent",
        "features": table_of(facts),
        **placed,
    }
    return found.lines, about, "shapes"


def _labels(found: Drawing, name: str, placed: dict[str, Any]) -> LayerTuple:
    return curve_labels(found), {"name": f"{name} pixels", **placed}, "labels"


def curve_labels(found: Drawing) -> Int[np.ndarray, "rows cols"]:
    """The number of the longest curve on each pixel, from 1; 0 elsewhere."""
    masks = found.masks
    if not len(masks):
        return np.zeros(found.shape, np.int64)
    return np.where(masks.any(0), masks.argmax(0) + 1, 0)
