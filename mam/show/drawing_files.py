"""The files that a grouped drawing can be written to, as bytes, by their endings."""

import csv
import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from mam.core.svg import as_svg
from mam.core.words import counted
from mam.data.images import encode_png
from mam.show.curves import Tag, overlay
from mam.tasks.curve_facts import curve_facts
from mam.tasks.drawing import Drawing


def png_file(found: Drawing, name: str) -> bytes:
    """The curves over the picture."""
    tag = None
    if found.same is not None:
        verdict = "same curve" if found.same.same else "different curves"
        tag = Tag(f"{verdict}, margin {found.same.margin:.2f}", [tuple(at) for at in found.markers])
    return encode_png(overlay(found.picture, found.lines, tag))


def svg_file(found: Drawing, name: str) -> bytes:
    """One polyline a curve, in pixels of the picture."""
    rows, cols = map(int, found.picture.shape)
    return as_svg((rows, cols), found.lines, counted(len(found.lines), "curve")).encode()


def csv_file(found: Drawing, name: str) -> bytes:
    """One row a point: the number of its curve, its own, row and column."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["curve", "point", "row", "column"])
    for number, line in enumerate(found.lines, 1):
        points = enumerate(line.tolist(), 1)
        table.writerows([number, k, f"{row:.2f}", f"{col:.2f}"] for k, (row, col) in points)
    return text.getvalue().encode()


def geojson_file(found: Drawing, name: str) -> bytes:
    """One LineString a curve; x is the column and y the row, in pixels, as QuPath has them."""
    features = [
        {
            "type": "Feature",
            "geometry": {
                "type": "LineString",
                "coordinates": np.round(one.line[:, ::-1], 2).tolist(),
            },
            "properties": {"name": f"curve {one.number}", "closed": one.closed}
            | {"length": round(one.length, 1), "width": _rounded(one.width, 2)}
            | {"crossings": one.crossings, "pieces": one.pieces},
        }
        for one in curve_facts(found)
    ]
    return _json_bytes({"type": "FeatureCollection", "features": features})


def json_file(found: Drawing, name: str) -> bytes:
    """All that is known, without a word of other files."""
    return _json_bytes(about_drawing(found, name))


FILES: Mapping[str, Callable[[Drawing, str], bytes]] = {
    ".png": png_file,
    ".svg": svg_file,
    ".csv": csv_file,
    ".geojson": geojson_file,
    ".json": json_file,
}


def about_drawing(found: Drawing, name: str) -> dict[str, Any]:
    """What `mam group --json` says, but for the files that it wrote."""
    curves = [
        {
            "number": one.number,
            "closed": one.closed,
            "length": round(one.length, 1),
            "width": _rounded(one.width, 2),
            "crossings": one.crossings,
            "pieces": one.pieces,
            "weakest": _rounded(one.weakest, 3),
            "points": np.round(one.line, 2).tolist(),
        }
        for one in curve_facts(found)
    ]
    answer = None
    if found.same is not None:
        # No way at all from one to the other has no margin that JSON could hold.
        answer = {"same": found.same.same, "margin": _rounded(found.same.margin, None)}
    return {
        "picture": name,
        "curves": curves,
        "markers": answer,
        "model": found.model,
        "assumed": found.assumed,
        "score": found.score,
        "bound": found.bound,
        "proof": found.proof,
    }


def _rounded(value: float | None, digits: int | None) -> float | None:
    if value is None or not np.isfinite(value):
        return None
    return value if digits is None else round(value, digits)


def _json_bytes(value: dict[str, Any]) -> bytes:
    return (json.dumps(value, allow_nan=False) + "\n").encode()
