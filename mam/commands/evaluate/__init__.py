"""`mam evaluate`: how good a model is on a data set. Heavy imports live inside the commands."""

import typer

from mam.commands.evaluate.cabc import cabc
from mam.commands.evaluate.curves import curves
from mam.commands.evaluate.objects import objects
from mam.commands.evaluate.pathfinder import pathfinder


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    evaluate = typer.Typer(help="Measure a model on a data set.", no_args_is_help=True)
    for command in (pathfinder, curves, cabc, objects):
        evaluate.command()(command)
    app.add_typer(evaluate, name="evaluate")
