"""`mam group`: the curves of a user's own picture. Heavy imports live inside the command."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.jobs import GroupJob
from mam.commands.options import BoundOption, JsonLinesOption, QuietOption
from mam.commands.over_shards import ClusterOption, ItemSecondsOption, run_over, tell
from mam.commands.pictures import (
    PageOption,
    PicturesArgument,
    beside_each,
    called,
    each_picture,
    find_pictures,
    find_sources,
)
from mam.core.limits import ITEM_SECONDS
from mam.core.words import counted

if TYPE_CHECKING:
    from mam.tasks.drawing import Drawing

_MADE = "-curves"
_PNG, _SVG = ".png", ".svg"
# What a file of each ending holds.
_HELD = {
    _PNG: "overlay",
    _SVG: "polylines",
    ".csv": "points",
    ".geojson": "polylines",
    ".json": "the answer",
}


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
    bridging: Annotated[
        float, typer.Option(help="Gaps so many times wider than usual are bridged; 0: none.")
    ] = 1.0,
    forbid: Annotated[
        list[str], typer.Option(help="Two ends 'R,C R,C' that must not be joined; again for more.")
    ] = [],  # noqa: B006
    demand: Annotated[
        list[str], typer.Option(help="Two ends 'R,C R,C' that must be joined; again for more.")
    ] = [],  # noqa: B006
    page: PageOption = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The overlay PNG, of several a folder; default: PICTURE-curves.png. With the "
            "ending .svg, .csv, .geojson or .json that file alone."
        ),
    ] = None,
    svg: Annotated[Path | None, typer.Option(help="The SVG; default: beside the overlay.")] = None,
    bound: BoundOption = False,
    cluster: ClusterOption = None,
    item_seconds: ItemSecondsOption = ITEM_SECONDS,
    as_json: JsonLinesOption = False,
    quiet: QuietOption = False,
) -> None:
    """Group the strokes or lines of pictures into curves, and draw them.

    \b
    Examples:
      mam group drawing.png
      mam group scan.tif --page 2 --json
      mam group scans/ --out curves/
      mam group scan.png --bridging 2 --forbid "40,52 47,60" --out curves.geojson
      cat drawing.png | mam group - --out curves.png
      mam group scans/ --cluster local:8 --out answers/
    """
    from mam.core.model_files import find_model
    from mam.core.whole import write_whole
    from mam.data.outputs import check_outputs
    from mam.show.drawing_files import FILES
    from mam.tasks.drawing import group_drawing

    job = GroupJob(model, threshold, polarity.value, bridging, bound, page)
    if cluster is not None:
        if markers or forbid or demand or svg:
            raise ValueError(
                "--cluster: --markers, --forbid, --demand and --svg are for one picture"
            )
        sources = find_sources(pictures, _MADE)
        tell(run_over(job, sources, out, cluster, item_seconds, quiet), as_json)
        return
    found = find_pictures(pictures, _MADE)
    if svg is not None and len(found) > 1:
        raise ValueError(f"--svg {svg}: is for one picture; of several each has one beside its PNG")
    overlays = beside_each(found, _MADE, out)
    outputs = {one: _outputs(png, svg) for one, png in overlays.items()}
    check_outputs(
        {end: [some.get(end) for some in outputs.values()] for end in _HELD},
        [*found, *map(find_model, job.models)],
    )
    points = None if markers is None else parse_points(markers)
    known = {
        "forbid": [parse_points(link, "--forbid") for link in forbid],
        "demand": [parse_points(link, "--demand") for link in demand],
    }

    def work(picture: Path) -> str:
        name = called(picture)
        drawing = group_drawing(picture, name=name, markers=points, **known, **job.known)
        for ending, path in outputs[picture].items():
            write_whole(path, FILES[ending](drawing, name))
        report = as_json_text if as_json else as_text
        return report(drawing, outputs[picture], name)

    each_picture(found, work, "grouping", quiet)


def _outputs(out: Path, svg: Path | None) -> dict[str, Path]:
    """What is written, by ending: the overlay and the SVG beside it, or what the name says."""
    ending = out.suffix.lower()
    if ending == _SVG and svg is not None:
        raise ValueError(f"--out {out}, --svg {svg}: two outputs of one command hold SVG; give one")
    if ending in _HELD and ending != _PNG:
        return {ending: out} | ({} if svg is None else {_SVG: svg})
    return {_PNG: out, _SVG: svg or out.with_suffix(_SVG)}


def parse_points(text: str, option: str = "--markers") -> list[list[float]]:
    """`R,C R,C` as two points.

    >>> parse_points("10,20 30,40")
    [[10.0, 20.0], [30.0, 40.0]]
    """
    try:
        points = [[float(number) for number in point.split(",")] for point in text.split()]
    except ValueError:
        points = []
    if len(points) != 2 or any(len(point) != 2 for point in points):
        raise ValueError(f"{option} {text!r}: give two points as 'ROW,COLUMN ROW,COLUMN'")
    return points


def as_text(found: "Drawing", files: dict[str, Path], name: str) -> str:
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
    lines.append("; ".join(f"{path}: {_HELD[ending]}" for ending, path in files.items()))
    return "\n".join(lines)


def _certificate(found: "Drawing") -> str:
    if found.proof is not None:
        return f"score {found.score:.2f}, proved optimal"
    return f"score {found.score:.2f}" + (
        "" if found.bound is None else f", within {found.bound - found.score:.2f} of the optimum"
    )


def as_json_text(found: "Drawing", files: dict[str, Path], name: str) -> str:
    """Return one JSON object."""
    import json

    from mam.show.drawing_files import about_drawing

    written = {"overlay": files.get(_PNG), "svg": files.get(_SVG)}
    paths = {kind: None if path is None else str(path) for kind, path in written.items()}
    return json.dumps(about_drawing(found, name) | paths, allow_nan=False)
