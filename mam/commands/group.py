"""`mam group`: the curves of a user's own picture. Heavy imports live inside the command."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.options import BoundOption, JsonLinesOption, QuietOption
from mam.commands.pictures import (
    PageOption,
    PicturesArgument,
    beside,
    called,
    each_picture,
    find_pictures,
)
from mam.core.words import counted

if TYPE_CHECKING:
    from mam.tasks.drawing import Drawing

_MADE = "-curves"


class Polarity(StrEnum):
    """What is drawn: light on dark, or dark on light."""

    auto = "auto"
    light = "light"
    dark = "dark"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(group)


def group(
    pictures: PicturesArgument,
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
    page: PageOption = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The overlay PNG, of several a folder; default: PICTURE-curves.png."),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="The SVG; default: beside the overlay.")] = None,
    bound: BoundOption = False,
    as_json: JsonLinesOption = False,
    quiet: QuietOption = False,
) -> None:
    """Group the strokes or lines of pictures into curves, and draw them.

    \b
    Examples:
      mam group drawing.png
      mam group scan.tif --page 2 --json
      mam group scans/ --out curves/
      cat drawing.png | mam group - --out curves.png
    """
    from mam.core.model_files import find_model
    from mam.data.outputs import PNG, SVG, check_outputs
    from mam.tasks.drawing import group_drawing

    found = find_pictures(pictures, _MADE)
    if svg is not None and len(found) > 1:
        raise ValueError(f"--svg {svg}: is for one picture; of several each has one beside its PNG")
    overlays = {one: beside(one, _MADE, out, len(found) > 1) for one in found}
    vectors = {one: svg or png.with_suffix(SVG) for one, png in overlays.items()}
    models = ("contours", "curves") if model == "auto" else (model,)
    check_outputs(
        {PNG: overlays.values(), SVG: vectors.values()}, [*found, *map(find_model, models)]
    )
    points = None if markers is None else parse_points(markers)

    def work(picture: Path) -> str:
        drawing = group_drawing(
            picture,
            model=model,
            markers=points,
            threshold=threshold,
            polarity=polarity.value,
            bound=bound,
            name=called(picture),
            page=page,
        )
        png, vector = overlays[picture], vectors[picture]
        write_pictures(drawing, png, vector)
        report = as_json_text if as_json else as_text
        return report(drawing, png, vector, called(picture))

    each_picture(found, work, "grouping", quiet)


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
    from mam.core.svg import as_svg
    from mam.core.whole import write_whole
    from mam.data.images import encode_png
    from mam.show.curves import Tag, overlay

    tag = None
    if found.same is not None:
        verdict = "same curve" if found.same.same else "different curves"
        tag = Tag(f"{verdict}, margin {found.same.margin:.2f}", found.markers)
    write_whole(png, encode_png(overlay(found.picture, found.lines, tag)))
    if svg is not None:
        rows, cols = map(int, found.picture.shape)
        text = as_svg((rows, cols), found.lines, counted(len(found.lines), "curve"))
        write_whole(svg, text.encode())


def as_text(found: "Drawing", png: Path, svg: Path | None, name: str) -> str:
    """Return a few lines to read."""
    lines = [
        f"{name}: {counted(len(found.lines), 'curve')} of "
        f"{counted(found.strokes, found.piece)}, model {found.model}",
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


def as_json_text(found: "Drawing", png: Path, svg: Path | None, name: str) -> str:
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
            "picture": name,
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
