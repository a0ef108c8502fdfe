"""`mam evaluate`: how good a model is on a data set. Heavy imports live inside the commands."""

from enum import StrEnum
from typing import Annotated

import typer

from mam.commands.progress import progress_bar
from mam.commands.rivals import evaluate_rival, is_rival

evaluate = typer.Typer(help="Measure a model on a data set.", no_args_is_help=True)

Data = Annotated[str, typer.Argument(help="A data set: a parquet file or a folder.")]
Limit = Annotated[int | None, typer.Option(help="Only so many rows, from the first.", min=1)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


def register(app: typer.Typer) -> None:
    """Add this file's commands to the application."""
    app.add_typer(evaluate, name="evaluate")


@evaluate.callback()
def _group() -> None:
    pass


class Input(StrEnum):
    """Which picture of a pathfinder row is looked at."""

    clean = "clean"
    image = "image"


@evaluate.command()
def pathfinder(
    data: Data,
    model: Annotated[str, typer.Option(help="A bundled model or a file.")] = "contours",
    input: Annotated[
        Input | None,
        typer.Option(
            help="clean, the default: markers are given; image, the only one of a rival: they are "
            "in the picture."
        ),
    ] = None,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Are the two markers on the same contour?"""
    if is_rival(model):
        if input is Input.clean:
            raise ValueError("--input clean: a rival sees markers in the picture alone; use image")
        evaluate_rival(data, model, "pathfinder", limit, as_json)
        return
    from mam.tasks.pathfinder import evaluate as measure
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    grouper = ContourGrouper.load(model)
    with progress_bar("grouping", row_count(data, limit), "images") as advance:
        report = measure(data, grouper, (input or Input.clean).value, limit, advance)
    typer.echo(report.as_json() if as_json else report.as_text())


class Column(StrEnum):
    """Which mask of a row of curves is looked at."""

    mask = "mask"
    gaps = "gaps"


@evaluate.command()
def curves(
    data: Data,
    model: Annotated[str, typer.Option(help="A bundled model or a file.")] = "curves",
    column: Annotated[
        Column, typer.Option(help="gaps: masks with breaks along the upper curves' borders.")
    ] = Column.mask,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Which pixels belong to which curve? Dice, by set."""
    from mam.tasks.curves import evaluate as measure
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    grouper = CurveGrouper.load(model)
    with progress_bar("grouping", row_count(data, limit), "images") as advance:
        report = measure(data, grouper, column.value, limit, advance)
    typer.echo(report.as_json() if as_json else report.as_text())


def row_count(data: str, limit: int | None) -> int | None:
    """The number of rows to do, for the progress bar; None where only reading them would tell."""
    from mam.data import count_rows
    from mam.data.read.readers import layout_of

    if layout_of(data) != "parquet":
        return limit
    rows = count_rows(data)
    return rows if limit is None else min(rows, limit)
