"""`mam evaluate curves`."""

from enum import StrEnum
from typing import Annotated

import typer

from mam.commands.command_options import DataArgument, JsonOption, LimitOption, QuietOption
from mam.commands.over_shards import (
    AnswersOption,
    ClusterOption,
    ItemSecondsOption,
    OnCluster,
    evaluate_over,
    refuse_without,
)
from mam.commands.progress_bars import progress_bar, row_count


class Column(StrEnum):
    """Which mask of a row of curves is looked at."""

    mask = "mask"
    gaps = "gaps"
    image = "image"


def curves(
    data: DataArgument,
    model: Annotated[str, typer.Option(help="A bundled model or a file.")] = "curves",
    column: Annotated[
        Column,
        typer.Option(
            help="gaps: masks with breaks along the upper curves' borders; image: the ink that is "
            "found in the picture."
        ),
    ] = Column.mask,
    appearance: Annotated[
        bool, typer.Option("--appearance", help="Look at the rows' pictures beside their masks.")
    ] = False,
    branches: Annotated[
        bool, typer.Option("--branches", help="Curves may branch; a tree is one curve.")
    ] = False,
    limit: LimitOption = None,
    as_json: JsonOption = False,
    cluster: ClusterOption = None,
    out: AnswersOption = None,
    item_seconds: ItemSecondsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Which pixels belong to which curve? Dice, by set.

    \b
    Example:
      mam evaluate curves curves.parquet --json
    """
    refuse_without(cluster, out=out, item_seconds=item_seconds)
    if cluster is not None:
        known = {"column": column.value, "branches": branches, "appearance": appearance}
        on = OnCluster(cluster, out, item_seconds, limit, as_json, quiet)
        evaluate_over("curves", data, model, known, on)
        return
    from mam.tasks.curves import evaluate as measure
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    grouper = CurveGrouper.load(model).set_params(branches=branches)
    with progress_bar("grouping", row_count(data, limit), "images", quiet) as advance:
        report = measure(data, grouper, column.value, limit, advance, appearance)
    typer.echo(report.as_json() if as_json else report.as_text())
