"""Pictures of edges, and of objects found in a photograph."""

import colorsys
import io
from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Int, Shaped, UInt8
from PIL import Image, ImageDraw

from mam.core.svg import PALETTE
from mam.data.pixels import rgb
from mam.show.sheet import Picture, colour_labels
from mam.vision.elastic.photographs.detection import Detection
from mam.vision.images.photo_edges import TYPES

_FULL = 0.15  # strength of an edge that is drawn in full colour
_DOT = 2  # px, radius of a part
_LIGHT = 0.35  # share of the colour over a mask
_HUES = np.array([colorsys.hsv_to_rgb(t / TYPES, 1.0, 1.0) for t in range(TYPES)])


def draw_edges(
    strength: Float[np.ndarray, "rows cols"], types: Int[np.ndarray, "rows cols"]
) -> Picture:
    """Edges on black: the hue is the direction, the brightness the strength.

    >>> draw_edges(np.array([[0.0, 0.15]]), np.array([[0, 0]])).tolist()
    [[[0, 0, 0], [255, 0, 0]]]
    """
    light = np.clip(strength / _FULL, 0, 1)[..., None]
    return np.rint(_HUES[types] * light * 255).astype(np.uint8)


def draw_detections(
    image: Shaped[np.ndarray, "rows cols *channels"], found: Sequence[Detection]
) -> Picture:
    """The picture with mask, parts and name of every object that is there, each in its colour."""
    canvas = rgb(image).astype(np.float32)
    shown = [one for one in found if one.there]
    for number, one in enumerate(shown):
        colour = PALETTE[number % len(PALETTE)].astype(np.float32)
        canvas[one.mask] = (1 - _LIGHT) * canvas[one.mask] + _LIGHT * colour
    picture = Image.fromarray(np.rint(canvas).astype(np.uint8))
    pen = ImageDraw.Draw(picture)
    for number, one in enumerate(shown):
        colour = tuple(int(c) for c in PALETTE[number % len(PALETTE)])
        for row, col in one.vertices.tolist():
            pen.ellipse([col - _DOT, row - _DOT, col + _DOT, row + _DOT], fill=colour)
        row, col = one.vertices.min(0).tolist()
        spot = max(2, col), max(2, row - 14)
        label = f"{one.name} {one.score:.1f}".encode("latin-1", "replace").decode("latin-1")
        pen.rectangle(pen.textbbox(spot, label), fill=(0, 0, 0))
        pen.text(spot, label, fill=colour)
    return np.asarray(picture)


def encode_labels(labels: UInt8[np.ndarray, "rows cols"]) -> bytes:
    """PNG bytes of numbers, as indices of a palette: numbers to programs, colours to the eye."""
    picture, out = Image.fromarray(labels), io.BytesIO()
    colours = colour_labels(np.arange(256, dtype=np.uint8)[None])
    picture.putpalette(colours.tobytes())
    picture.save(out, "PNG")
    return out.getvalue()


def label_map(found: Sequence[Detection], shape: tuple[int, int]) -> UInt8[np.ndarray, "rows cols"]:
    """The number (from 1) of the object that is there at each pixel; better scores lie on top."""
    labels = np.zeros(shape, np.uint8)
    shown = [one for one in found if one.there]
    for number, one in reversed(list(enumerate(shown, 1))):
        labels[one.mask] = min(number, 255)
    return labels
