"""`mam group`: the curves of a user's own picture. Heavy imports live inside the command."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import BoundOption, JsonLinesOption, QuietOption
from mam.commands.group.group_outputs import INK, MADE, PNG, SVG, plan_outputs
from mam.commands.group.hints import Hints, parse_points
from mam.commands.over_shards import (
    ClusterOption,
    ItemSecondsOption,
    one_folder,
    refuse_without,
    run_over,
    tell,
)
from mam.commands.pictures import (
    PageOption,
    PicturesArgument,
    each_picture,
    find_pictures,
    find_sources,
)
from mam.commands.sections import SectionedCommand
from mam.commands.shard_jobs import GroupJob
from mam.core.limits import INK_PIECES

_INK, _WHAT, _OUT, _ASK = "Ink", "Curves", "Outputs", "What is known"


class ShownInstead(StrEnum):
    """What is shown in place of curves."""

    ink = "ink"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command(cls=SectionedCommand)(group)


def group(
    pictures: PicturesArgument,
    ink: Annotated[
        str,
        typer.Option(
            help="What is drawn: auto, dark, light or a colour R,G,B.", rich_help_panel=_INK
        ),
    ] = "auto",
    threshold: Annotated[
        float | None,
        typer.Option(
            help="Grey value that parts ink from paper, or with a colour how near to it.",
            rich_help_panel=_INK,
        ),
    ] = None,
    box: Annotated[
        str | None,
        typer.Option(help="Two corners 'R,C R,C': only what is between.", rich_help_panel=_INK),
    ] = None,
    page: PageOption = None,
    most: Annotated[
        int,
        typer.Option(help="Stop if the ink is in more pieces.", min=1, rich_help_panel=_INK),
    ] = INK_PIECES,
    show: Annotated[
        ShownInstead | None,
        typer.Option(
            help="ink: draw what is taken as ink, PICTURE-ink.png, and stop.",
            rich_help_panel=_INK,
        ),
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            help="auto (by the look), contours, curves, or a file of such a model.",
            rich_help_panel=_WHAT,
        ),
    ] = "auto",
    bridging: Annotated[
        float,
        typer.Option(
            help="Gaps so many times wider than usual are bridged; 0: none.", rich_help_panel=_WHAT
        ),
    ] = 1.0,
    branches: Annotated[
        bool,
        typer.Option(
            "--branches", help="Lines may branch: roads, vessels, neurons.", rich_help_panel=_WHAT
        ),
    ] = False,
    bound: BoundOption = False,
    markers: Annotated[
        str | None,
        typer.Option(help="Two points 'R,C R,C': are they on one curve?", rich_help_panel=_ASK),
    ] = None,
    forbid: Annotated[
        list[str],
        typer.Option(
            help="Two ends 'R,C R,C' that must not be joined; again for more.",
            rich_help_panel=_ASK,
        ),
    ] = [],  # noqa: B006
    demand: Annotated[
        list[str],
        typer.Option(
            help="Two ends 'R,C R,C' that must be joined; again for more.", rich_help_panel=_ASK
        ),
    ] = [],  # noqa: B006
    out: Annotated[
        list[Path],
        typer.Option(
            help="A file by its ending: .png, .svg, .csv (a row a curve), .points.csv, .geojson, "
            ".json, .tif (a mask a page), .coco.json, .swc. Again for more; of several pictures "
            "the ending alone. Default: PICTURE-curves.png and .svg.",
            rich_help_panel=_OUT,
            show_default=False,
        ),
    ] = [],  # noqa: B006
    out_dir: Annotated[
        Path | None,
        typer.Option(
            help="A folder for all of them, with a table of all curves; a second run does only "
            "what is new.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    simplify: Annotated[
        float,
        typer.Option(
            help="Lines may leave their smooth course by so many px.", min=0, rich_help_panel=_OUT
        ),
    ] = 0.5,
    pixel_size: Annotated[
        str | None,
        typer.Option(
            help="Such as 0.2um; default: what a TIFF of OME or ImageJ says.", rich_help_panel=_OUT
        ),
    ] = None,
    axes: Annotated[
        str | None,
        typer.Option(
            help="Of a chart, 'x: 0@52 100@430; y: 0@310 1@20', values at pixels ('y log: ...'): "
            ".csv then has the curves as series in these units.",
            rich_help_panel=_OUT,
        ),
    ] = None,
    as_json: JsonLinesOption = False,
    quiet: QuietOption = False,
    cluster: ClusterOption = None,
    item_seconds: ItemSecondsOption = None,
) -> None:
    """Group the strokes or lines of pictures into curves, and draw them.

    \b
    Examples:
      mam group drawing.png
      mam group scan.png --show ink
      mam group scan.tif --page 2 --json
      mam group neurites.tif --branches --out curves.csv --out trees.swc
      mam group scans/*.png --out-dir curves/
      mam group chart.png --axes "x: 0@52 100@430; y: 0@310 1@20" --out series.csv
      mam group scan.png --bridging 2 --forbid "40,52 47,60" --out curves.geojson
      cat drawing.png | mam group - --out curves.png
      mam group scans/ --cluster local:8 --out answers/
    """
    refuse_without(cluster, item_seconds=item_seconds)
    from mam.commands.group.folder import Kept
    from mam.commands.group.work import draw_ink_of, group_one
    from mam.core.model_files import find_model

    job = GroupJob(
        model=model,
        threshold=threshold,
        ink=ink,
        box=None if box is None else parse_points(box, "--box"),
        bridging=bridging,
        branches=branches,
        bound=bound,
        simplify=simplify,
        pixel_size=pixel_size,
        axes=axes,
        most=most,
        page=page,
    )
    known = Hints(
        None if markers is None else parse_points(markers),
        tuple(parse_points(link, "--forbid") for link in forbid),
        tuple(parse_points(link, "--demand") for link in demand),
    )
    job.check()
    if cluster is not None:
        places = [*out, *([] if out_dir is None else [out_dir])]
        _on_cluster(job, pictures, places, cluster, item_seconds, as_json, quiet, known, show)
        return
    found = find_pictures(pictures, MADE, INK)
    if show is not None:
        plan = plan_outputs(found, out, out_dir, INK, [PNG])
        each_picture(found, lambda one: draw_ink_of(one, job, plan, as_json), "looking at", quiet)
        return
    models = [find_model(one) for one in job.models]
    plan = plan_outputs(found, out, out_dir, MADE, [PNG, SVG], models)
    kept = None if plan.folder is None else Kept.of(plan, job, known, models)
    each_picture(
        found,
        lambda one: group_one(one, job, known, plan, kept, as_json),
        "grouping",
        quiet,
        finish=(lambda: None) if kept is None else kept.tabulate,
    )


def _on_cluster(
    job: GroupJob,
    pictures: list[str],
    places: list[Path],
    cluster: str,
    item_seconds: float | None,
    as_json: bool,
    quiet: bool,
    known: Hints,
    show: ShownInstead | None,
) -> None:
    if known != Hints() or show is not None:
        raise ValueError("--cluster: --markers, --forbid, --demand and --show are for one picture")
    folder = one_folder(places)
    sources = find_sources(pictures, MADE, INK)
    tell(run_over(job, sources, folder, cluster, item_seconds, quiet), as_json)
