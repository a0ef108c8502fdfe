"""The command line: parse, call, print. Heavy imports live inside the commands."""

from typing import Annotated

import typer

from mam import __version__
from mam.commands import (
    doctor,
    edges,
    evaluate,
    find,
    group,
    learn,
    look,
    make,
    quickstart,
    reproduce,
    show,
    solve,
)
from mam.commands.cache import keep_compilations
from mam.commands.ending import Ended, ends_on_request
from mam.core.words import terminal_text

app = typer.Typer(
    name="mam",
    help="Markov Attention Models: which pieces belong together?",
    no_args_is_help=True,
    rich_markup_mode=None,  # plain help keeps the lines of examples and shows flags as flags
    pretty_exceptions_enable=False,
)

# The order is that of `mam --help`.
for _verb in (
    make,
    look,
    learn,
    group,
    evaluate,
    find,
    edges,
    reproduce,
    quickstart,
    solve,
    show,
    doctor,
):
    _verb.register(app)


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
    keep_compilations()
    try:
        with ends_on_request():
            app()
    except Ended as ended:
        ended.leave()
    except (ValueError, OSError) as error:
        typer.secho(f"mam: {terminal_text(_error_line(error))}", err=True, fg=typer.colors.RED)
        raise SystemExit(2) from None


def _error_line(error: ValueError | OSError) -> str:
    """What went wrong; of a file that the system refused its name and why, without a number."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)
