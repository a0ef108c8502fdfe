"""The command line: parse, call, print. Heavy imports live inside the commands."""

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from mam import __version__
from mam.commands import data, evaluate, group, learn, letters, objects, reproduce, rivals

app = typer.Typer(
    name="mam",
    help="Markov Attention Models: which pieces belong together?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


data.register(app)
learn.register(app)
group.register(app)
evaluate.register(app)
letters.register(evaluate.evaluate)
objects.register(app, learn.learn, evaluate.evaluate)
rivals.register(learn.learn)
reproduce.register(app)


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


@app.command("quickstart")
def _quickstart(
    out: Annotated[Path, typer.Option(help="Where the picture goes, .png.")] = Path(
        "mam-quickstart.png"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Group a bundled hard image: the answer, its margin, a picture."""
    from mam.commands.quickstart import quickstart

    found = quickstart(out)
    typer.echo(found.as_json() if as_json else found.as_text())


class SolveMethod(StrEnum):
    """How ``mam solve`` may answer."""

    auto = "auto"
    exact = "exact"
    max_product = "max-product"
    toulbar2 = "toulbar2"


@app.command("solve")
def _solve(
    file: Annotated[Path, typer.Argument(help="A model in the UAI format.")],
    evidence: Annotated[Path | None, typer.Option(help="Observed states, in UAI format.")] = None,
    method: Annotated[
        SolveMethod, typer.Option(help="auto is exact wherever that is cheap.")
    ] = SolveMethod.auto,
    bound: Annotated[bool, typer.Option("--bound", help="Bound the optimum from above.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    restarts: Annotated[int, typer.Option(min=1, help="Runs; the best answer wins.")] = 8,
    seed: Annotated[int, typer.Option(min=0, help="Of the initial messages.")] = 0,
    iterations: Annotated[int, typer.Option(min=1, help="Of max-product, at most.")] = 200,
) -> None:
    """Find the best assignment of a UAI model. Exit code 3: no possible assignment was found."""
    from mam.commands.solve import solve_uai, unused_evidence

    answer = solve_uai(
        file,
        evidence,
        method=method.value,
        bound=bound,
        restarts=restarts,
        seed=seed,
        iterations=iterations,
    )
    if unused := unused_evidence(file, evidence):
        typer.echo(f"mam: not used: {unused}; add --evidence {unused} to use it", err=True)
    typer.echo(answer.as_json() if as_json else answer.as_text())
    raise typer.Exit(answer.exit_code)


def _keep_compilations() -> None:
    """Let JAX keep what it compiled between runs; most of a short command would be compiling."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mam" / "xla"
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(cache))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0.3")


def main() -> None:
    """Run the command line; a user's mistake ends in one line, not in a traceback."""
    _keep_compilations()
    try:
        app()
    except (ValueError, OSError) as error:
        typer.secho(f"mam: {error}", err=True, fg=typer.colors.RED)
        raise SystemExit(2) from None
