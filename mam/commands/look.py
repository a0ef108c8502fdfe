"""`mam look`: rows of a data set as a picture. Heavy imports live inside the command."""

from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import QuietOption
from mam.commands.progress_bars import working

_FIRST = 6  # rows that are shown where none are named


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(look)


def look(
    data: Annotated[str, typer.Argument(help="A data set, folder, image or URL.")],
    out: Annotated[Path, typer.Option(help="The PNG to write.")],
    rows: Annotated[
        str | None, typer.Option(help="Row numbers, e.g. 0,1,2; default: the first six.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Draw a contact sheet of some rows.

    \b
    Examples:
      mam look set.parquet --out sheet.png
      mam look photos/ --rows 3,5 --out two.png
    """
    from itertools import islice

    from mam.core.whole_files import write_whole
    from mam.core.words import counted
    from mam.data import encode_png, rows_of, select_rows
    from mam.data.outputs import PNG, check_outputs
    from mam.show.sheet import contact_sheet, row_panels

    try:
        wanted = [int(part) for part in (rows or "").split(",") if part.strip()]
    except ValueError:
        raise ValueError(f"--rows {rows}: give row numbers such as 0,1,2") from None
    check_outputs({PNG: [out]}, [data])
    with working("reading rows", quiet):
        found = list(islice(rows_of(data), _FIRST)) if rows is None else select_rows(data, wanted)
        sheet = contact_sheet([row_panels(row) for row in found])
    write_whole(out, encode_png(sheet))
    typer.echo(f"{out}: {counted(len(found), 'row')} of {data}")
