"""Jobs about curves: what `mam group` does, for the page."""

import base64
from itertools import pairwise
from typing import Any

import numpy as np
from jaxtyping import Bool

from mam.data.images import encode_png, read_picture
from mam.data.pixels import black_and_white, rgb, shown
from mam.show.drawing_files import FILES, about_drawing
from mam.tasks.alternative import alternative
from mam.tasks.drawing import Drawing, group_drawing
from mam.vision.curves.answer import Grouped
from mam.vision.curves.strands.curve_answer import CurveGrouping
from mam.web.frames import Telling
from mam.web.job import Answer, given_picture

_LINKS = 2000  # that the page gets to know, those with the least margins first
_STEP = 3  # every so many points of a strand are shown


def look(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Decode a picture: its size, and a PNG that every browser can show."""
    pixels = given_picture(arguments, blobs)
    plain = shown(pixels) if pixels.ndim == 2 else rgb(pixels)
    rows, cols = plain.shape[:2]
    return {"rows": rows, "cols": cols}, [encode_png(plain)]


def group(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Group a picture: all that the page shows."""
    drawing = _grouped(arguments, blobs, tell)
    tell("describing")
    about = about_drawing(drawing, arguments["name"])
    return about | _pieces(drawing) | _ink(drawing) | {"alternative": _otherwise(drawing)}, []


def group_file(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Group a picture and write the file that the command line would write."""
    drawing = _grouped(arguments, blobs, tell)
    return {}, [FILES[arguments["ending"]].write(drawing, arguments["name"])]


def _grouped(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Drawing:
    tell("reading")
    pixels = given_picture(arguments, blobs)
    tell("grouping")
    asked = arguments["question"]
    wanted = ("model", "markers", "threshold", "ink", "bridging", "forbid", "demand")
    return group_drawing(
        pixels, **{key: asked[key] for key in wanted if key in asked}, name=arguments["name"]
    )


def _ink(drawing: Drawing) -> dict[str, Any]:
    ink = drawing.ink
    assert ink is not None
    rows, cols = drawing.shape
    threshold = None if ink.threshold is None else round(ink.threshold, 1)
    about = {"rows": rows, "cols": cols, "dark": ink.dark, "threshold": threshold}
    return about | {"ink": mask_text(ink.mask)}


def mask_text(mask: Bool[np.ndarray, "rows cols"]) -> str:
    """A mask as a PNG in base64."""
    return base64.b64encode(encode_png(black_and_white(mask))).decode()


def _pieces(drawing: Drawing) -> dict[str, Any]:
    """Pieces, their ends, and the links between ends that are ON or nearly so."""
    found = drawing.found
    assert found is not None
    links = found.links
    kept = np.argsort(np.where(found.on, -np.inf, np.abs(found.belief)), kind="stable")[:_LINKS]
    ends = 2 * links.stroke[kept] + links.side[kept]
    margin = np.abs(found.belief[kept])
    return {
        "piece": drawing.piece,
        "pieces": [np.round(drawing.own(line), 1).tolist() for line in _piece_lines(found)],
        "ends": np.round(drawing.own(found.end_places), 2).tolist(),
        "links": [
            [int(a), int(b), bool(on), None if np.isinf(cost) else round(float(cost), 3)]
            for (a, b), on, cost in zip(ends, found.on[kept], margin, strict=True)
        ],
    }


def _piece_lines(found: Grouped) -> list[np.ndarray]:
    if not isinstance(found, CurveGrouping):
        return list(found.end_places.reshape(-1, 2, 2))
    strands = found.strokes
    border = np.searchsorted(strands.strand, np.arange(len(strands) + 1))
    lines = (strands.points[a:b] for a, b in pairwise(border.tolist()))
    return [np.concatenate([line[:-1:_STEP], line[-1:]]) for line in lines]


def _otherwise(drawing: Drawing) -> dict[str, Any] | None:
    other = alternative(drawing)
    if other is None:
        return None
    before = {line.round(2).tobytes() for line in drawing.lines}
    changed = [line for line in other.lines if line.round(2).tobytes() not in before]
    return {
        "lines": [np.round(line, 1).tolist() for line in changed],
        "cost": round(drawing.score - other.score, 3),
        "proof": other.proof,
    }


def warm_curves(arguments: dict[str, Any], blobs: list[bytes], tell: Telling) -> Answer:
    """Compile what the first pictures need."""
    from mam.web.samples import sample_png

    for name in ("dashes", "ropes", "sketch"):
        group_drawing(read_picture(sample_png(name)))
    return {}, []
