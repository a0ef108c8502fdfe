"""`mam evaluate`: how good a model is on a data set. Heavy imports live inside the commands."""

from typing import Annotated

import typer

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
