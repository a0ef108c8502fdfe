"""`mam learn`: models from data. Heavy imports live inside the commands."""

import typer

from mam.commands.learn.groupers import contours, curves
from mam.commands.learn.objects import objects
from mam.commands.learn.parts import parts
from mam.commands.learn.rival import rival


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    learn = typer.Typer(help="Learn a model from data.", no_args_is_help=True)
    for command in (parts, contours, curves, objects, rival):
        learn.command()(command)
    app.add_typer(learn, name="learn")
