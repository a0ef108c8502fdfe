"""`mam show`: the page in a browser. Heavy imports live inside the command."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(show)


def show(
    port: Annotated[int, typer.Option(help="0: any that is free.", min=0, max=65535)] = 8765,
    host: Annotated[
        str, typer.Option(help="Another address than this machine's own needs a token.")
    ] = "127.0.0.1",
    models: Annotated[
        Path | None, typer.Option(help="A folder of models of objects, to be found.")
    ] = None,
    workers: Annotated[int, typer.Option(help="Processes that group pictures.", min=1, max=64)] = 2,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = False,
) -> None:
    """Serve a page: drop a picture, see its curves, ask and correct.

    \b
    Examples:
      mam show --browser
      mam show --port 0 --models models/
    """
    try:
        from mam.web.serve import serve
    except ImportError as error:
        if (error.name or "").split(".")[0] not in ("fastapi", "uvicorn", "pydantic"):
            raise
        raise ValueError(
            "the page needs more packages: pip install 'markov-attention[web]'"
        ) from None

    def announce(address: str) -> None:
        import webbrowser

        typer.echo(f"{address}  (Ctrl-C ends it)")
        if browser:
            webbrowser.open(address)

    serve(host, port, models, workers, announce)
