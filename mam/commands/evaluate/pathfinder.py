"""`mam evaluate pathfinder`."""

from enum import StrEnum
from typing import Annotated

import typer

from mam.commands.command_options import DataArgument, JsonOption, LimitOption, QuietOption
from mam.commands.evaluate.rival import evaluate_rival, is_rival
from mam.commands.over_shards import (
    AnswersOption,
    ClusterOption,
    ItemSecondsOption,
    OnCluster,
    evaluate_over,
    refuse_without,
)
from mam.commands.progress_bars import progress_bar, row_count


class Input(StrEnum):
    """Which picture of a pathfinder row is looked at."""

    clean = "clean"
    image = "image"


def pathfinder(
    data: DataArgument,
    model: Annotated[str, typer.Option(help="A bundled model or a file.")] = "contours",
    input: Annotated[
        Input | None,
        typer.Option(
            help="clean, the default: markers are given; image, the only one of a rival: they are "
            "in the picture."
        ),
    ] = None,
    limit: LimitOption = None,
    as_json: JsonOption = False,
    cluster: ClusterOption = None,
    out: AnswersOption = None,
    item_seconds: ItemSecondsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Are the two markers on the same contour?

    \b
    Example:
      mam evaluate pathfinder hard.parquet --limit 100
    """
    refuse_without(cluster, out=out, item_seconds=item_seconds)
    on = OnCluster(cluster, out, item_seconds, limit, as_json, quiet)
    if is_rival(model):
        if input is Input.clean:
            raise ValueError("--input clean: a rival sees markers in the picture alone; use image")
        evaluate_rival(data, model, "pathfinder", on)
        return
    if on.cluster is not None:
        known = {"input": (input or Input.clean).value}
        evaluate_over("pathfinder", data, model, known, on)
        return
    from mam.tasks.pathfinder import evaluate as measure
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    grouper = ContourGrouper.load(model)
    with progress_bar("grouping", row_count(data, limit), "images", quiet) as advance:
        report = measure(data, grouper, (input or Input.clean).value, limit, advance)
    typer.echo(report.as_json() if as_json else report.as_text())
