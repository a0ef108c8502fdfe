"""The command line: parse, call, print. Heavy imports live inside the commands."""

from typing import Annotated

import typer

from mam import __version__
from mam.commands import data

app = typer.Typer(
    name="mam",
    help="Markov Attention Models: which pieces belong together?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


data.register(app)


def _print_version(wanted: bool) -> bool:
    if wanted:
        typer.echo(f"mam {__version__}")
        raise typer.Exit
    return wanted


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; a user's mistake ends in one line, not in a traceback."""
    try:
        app()
    except (ValueError, OSError) as error:
        typer.secho(f"mam: {error}", err=True, fg=typer.colors.RED)
        raise SystemExit(2) from None
