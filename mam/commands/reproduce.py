"""`mam reproduce`: the paper's experiments, done again. Heavy imports live inside the command."""

from contextlib import ExitStack
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.ending import ends_on_request
from mam.commands.over_shards import over_cluster
from mam.commands.progress_bars import share_bar


class ExperimentName(StrEnum):
    """What the paper did."""

    pathfinder = "pathfinder"
    cabc = "cabc"
    objects = "objects"
    models = "models"


class ScaleName(StrEnum):
    """How much of it: minutes, an hour on two cores, or the paper's sizes, for a GPU."""

    smoke = "smoke"
    small = "small"
    paper = "paper"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(reproduce)


def reproduce(
    experiment: Annotated[ExperimentName, typer.Argument(help="What to do again.")],
    out: Annotated[Path, typer.Option(help="The folder of the page and of all that it took.")],
    scale: Annotated[
        ScaleName,
        typer.Option(help="smoke: a minute; small: an hour on two cores; paper: for a GPU."),
    ] = ScaleName.smoke,
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder of LEVEL-train.parquet and LEVEL-test.parquet, for objects of scenes or "
            "objects.parquet; else generate."
        ),
    ] = None,
    rivals: Annotated[
        Path | None,
        typer.Option(help="A folder of KIND-TASK-LEVEL.json, of python -m bench.rival_runs."),
    ] = None,
    test: Annotated[
        int | None, typer.Option(help="Images of a level tested on, other than the scale's.", min=1)
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of every figure, other than the scale's.", min=1)
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            help="Steps over processes and machines: local, local:N, tcp://HOST:PORT, or a YAML "
            "file for SLURM, PBS, Kubernetes.",
            show_default=False,
        ),
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Do an experiment of the paper again: a page with its tables and figures, ours beside them.

    What is finished is kept in the folder; the same command goes on where it was interrupted.

    \b
    Example:
      mam reproduce pathfinder --scale smoke --out pathfinder/
    """
    import json
    from functools import partial

    from mam.reproduce.run import Asked, do_step, prepare
    from mam.reproduce.run import reproduce as do

    changes = {name: n for name, n in (("test", test), ("runs", runs)) if n is not None}
    study = prepare(experiment.value, scale.value, out, data, changes, rivals)
    kept = f"finished steps are kept in {out}, the same command goes on"
    with ExitStack() as stack:
        stack.enter_context(ends_on_request(kept))
        tell = stack.enter_context(share_bar(experiment.value, quiet))
        elsewhere = None
        if cluster is not None:
            over = stack.enter_context(over_cluster(cluster, quiet))
            given, others = (one and one.absolute() for one in (data, rivals))
            known = tuple(changes.items())
            asked = Asked(experiment.value, scale.value, out.absolute(), given, known, others)
            elsewhere = partial(over, partial(do_step, asked))
        path = do(
            study,
            lambda title, share: tell(f"{experiment.value}: {title}", share),
            lambda text: None if quiet else typer.echo(f"mam: {text}", err=True),
            elsewhere,
        )
    typer.echo(json.dumps({"page": str(path), **study.summary()}) if as_json else f"{path}")
