"""The files that a grouped drawing can be written to, as bytes, by their endings."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mam.core.svg import as_svg
from mam.core.words import counted
from mam.data.images import encode_png
from mam.show.curve_tables import csv_file, points_file
from mam.show.curves import Tag, overlay
from mam.show.mask_files import coco_file, tif_file
from mam.show.tree_file import swc_file
from mam.tasks.drawing import Drawing
from mam.vision.curves.facts import CurveFacts


class DrawingFile(NamedTuple):
    """A kind of file: what it holds, in words, and what writes it."""

    holds: str
    write: Callable[[Drawing, str], bytes]


def png_file(found: Drawing, name: str) -> bytes:
    """The curves over the picture."""
    tag = None
    if found.same is not None:
        verdict = "same curve" if found.same.same else "different curves"
        tag = Tag(f"{verdict}, margin {found.same.margin:.2f}", [tuple(at) for at in found.markers])
    return encode_png(overlay(found.picture, found.lines, tag, found.curves))


def svg_file(found: Drawing, name: str) -> bytes:
    """One path a curve, as wide as it is, in pixels of the picture."""
    widths = [one.width for one in found.facts]
    return as_svg(found.shape, found.lines, counted(len(found.lines), "curve"), widths).encode()


def geojson_file(found: Drawing, name: str) -> bytes:
    """One LineString a curve; x is the column and y the row, in pixels, as QuPath has them."""
    features = [
        {
            "type": "Feature",
            "geometry": {
                "type": "LineString",
                "coordinates": np.round(one.line[:, ::-1], 2).tolist(),
            },
            "properties": {"name": f"curve {one.number}", **_about(one)},
        }
        for one in found.facts
    ]
    return _json_bytes({"type": "FeatureCollection", "features": features})


def json_file(found: Drawing, name: str) -> bytes:
    """All that is known, without a word of other files."""
    return _json_bytes(about_drawing(found, name))


FILES: Mapping[str, DrawingFile] = {
    ".png": DrawingFile("overlay", png_file),
    ".svg": DrawingFile("paths", svg_file),
    ".csv": DrawingFile("a row a curve", csv_file),
    ".points.csv": DrawingFile("points", points_file),
    ".geojson": DrawingFile("lines", geojson_file),
    ".json": DrawingFile("the answer", json_file),
    ".coco.json": DrawingFile("masks", coco_file),
    ".swc": DrawingFile("trees", swc_file),
    ".tif": DrawingFile("a mask a page", tif_file),
}


def ending_of(path: Path) -> str | None:
    """Which kind of file a name promises.

    >>> ending_of(Path("a.points.csv")), ending_of(Path("a.b.CSV")), ending_of(Path("a.jpg"))
    ('.points.csv', '.csv', None)
    """
    known = sorted(FILES, key=len, reverse=True)
    return next((one for one in known if path.name.lower().endswith(one)), None)


def about_drawing(found: Drawing, name: str) -> dict[str, Any]:
    """What `mam group --json` says, but for the files that it wrote."""
    answer = None
    if found.same is not None:
        # No way at all from one to the other has no margin that JSON could hold.
        answer = {"same": found.same.same, "margin": _rounded(found.same.margin, None)}
    return {
        "picture": name,
        "curves": _curves(found),
        "markers": answer,
        "model": found.model,
        "assumed": found.assumed,
        "score": found.score,
        "bound": found.bound,
        "proof": found.proof,
        "pieces_proof": found.pieces_proof,
        "pixel_size": None if found.pixel_size is None else found.pixel_size._asdict(),
    }


def _curves(found: Drawing) -> list[dict[str, Any]]:
    return [
        {"number": one.number, **_about(one), "points": np.round(one.line, 2).tolist()}
        for one in found.facts
    ]


def _about(one: CurveFacts) -> dict[str, Any]:
    """What is known of a curve, in pixels."""
    return {
        "closed": one.closed,
        "length": round(one.length, 1),
        "width": round(one.width, 2),
        "crossings": one.crossings,
        "pieces": one.pieces,
        "weakest": _rounded(one.weakest, 3),
    }


def _rounded(value: float | None, digits: int | None) -> float | None:
    if value is None or not np.isfinite(value):
        return None
    return value if digits is None else round(value, digits)


def _json_bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, allow_nan=False) + "\n").encode()
