"""`mam group`: the curves of a user's own picture. Heavy imports live inside the command."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from mam.tasks.drawing import Drawing


class Polarity(StrEnum):
    """What is drawn: light on dark, or dark on light."""

    auto = "auto"
    light = "light"
    dark = "dark"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(group)


def group(
    image: Annotated[Path, typer.Argument(help="A picture: PNG, JPEG or TIFF.")],
    model: Annotated[
        str, typer.Option(help="auto (by the look), contours, curves, or a file of such a model.")
    ] = "auto",
    markers: Annotated[
        str | None, typer.Option(help="Two points 'R,C R,C': are they on one curve?")
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Grey value that parts curves from paper; else Otsu's.")
    ] = None,
    polarity: Annotated[
        Polarity, typer.Option(help="What is drawn, light or dark; auto: the rarer.")
    ] = Polarity.auto,
    out: Annotated[
        Path | None, typer.Option(help="The overlay PNG; default: IMAGE-curves.png.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="The SVG; default: beside the overlay.")] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Bound what is not proved optimal.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Group the strokes or lines of a picture into curves, and draw them."""
    from mam.core.model_files import find_model
    from mam.data.images import decode, grey
    from mam.data.outputs import check_outputs
    from mam.tasks.drawing import group_drawing

    png = out or image.with_name(f"{image.stem}-curves.png")
    vector = svg or png.with_suffix(".svg")
    models = ("contours", "curves") if model == "auto" else (model,)
    check_outputs([png, vector], [image, *map(find_model, models)])
    points = None if markers is None else parse_points(markers)
    picture = grey(decode(image, str(image)))
    found = group_drawing(
        picture,
        model=model,
        markers=points,
        threshold=threshold,
        polarity=polarity.value,
        bound=bound,
        name=str(image),
    )
    write_pictures(found, png, vector)
    report = as_json_text if as_json else as_text
    typer.echo(report(found, png, vector))


def parse_points(text: str) -> list[list[float]]:
    """`R,C R,C` as two points.

    >>> parse_points("10,20 30,40")
    [[10.0, 20.0], [30.0, 40.0]]
    """
    try:
        points = [[float(number) for number in point.split(",")] for point in text.split()]
    except ValueError:
        points = []
    if len(points) != 2 or any(len(point) != 2 for point in points):
        raise ValueError(f"--markers {text!r}: give two points as 'ROW,COLUMN ROW,COLUMN'")
    return points


def write_pictures(found: "Drawing", png: Path, svg: Path | None) -> None:
    """Write the overlay and the SVG, each whole or not at all."""
    from mam.core.whole import write_whole
    from mam.data.images import encode_png
    from mam.show.curves import Tag, as_svg, overlay

    tag = None
    if found.same is not None:
        verdict = "same curve" if found.same.same else "different curves"
        tag = Tag(f"{verdict}, margin {found.same.margin:.2f}", found.markers)
    write_whole(png, encode_png(overlay(found.picture, found.lines, tag)))
    if svg is not None:
        shape = found.picture.shape
        text = as_svg((int(shape[0]), int(shape[1])), found.lines, f"{len(found.lines)} curves")
        write_whole(svg, text.encode())


def as_text(found: "Drawing", png: Path, svg: Path | None) -> str:
    """Return a few lines to read."""
    lines = [
        f"{len(found.lines)} curves of {found.strokes} strokes, model {found.model}",
        f"assumed: {found.assumed}",
        _certificate(found),
    ]
    if found.same is not None:
        verdict = "the same curve" if found.same.same else "different curves"
        lines.append(f"The markers are on {verdict}, margin {found.same.margin:.2f}")
    lines.append(f"{png}: overlay" + ("" if svg is None else f"; {svg}: polylines"))
    return "\n".join(lines)


def _certificate(found: "Drawing") -> str:
    if found.proof is not None:
        return f"score {found.score:.2f}, proved optimal"
    return f"score {found.score:.2f}" + (
        "" if found.bound is None else f", within {found.bound - found.score:.2f} of the optimum"
    )


def as_json_text(found: "Drawing", png: Path, svg: Path | None) -> str:
    """Return one JSON object."""
    import json

    import numpy as np

    from mam.tasks.drawing import line_length

    curves = [
        {
            "number": number,
            "closed": bool(len(line) > 2 and (line[0] == line[-1]).all()),
            "length": round(line_length(line), 1),
            "points": np.round(line, 2).tolist(),
        }
        for number, line in enumerate(found.lines, 1)
    ]
    answer = None
    if found.same is not None:
        margin = found.same.margin
        # No way at all from one to the other has no margin that JSON could hold.
        answer = {"same": found.same.same, "margin": margin if np.isfinite(margin) else None}
    return json.dumps(
        {
            "curves": curves,
            "markers": answer,
            "model": found.model,
            "assumed": found.assumed,
            "score": found.score,
            "bound": found.bound,
            "proof": found.proof,
            "overlay": str(png),
            "svg": None if svg is None else str(svg),
        },
        allow_nan=False,
    )
