"""`mam look`: rows of a data set as a picture. Heavy imports live inside the command."""

from pathlib import Path
from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(look)


def look(
    data: Annotated[str, typer.Argument(help="A data set, folder, image or URL.")],
    out: Annotated[Path, typer.Option(help="The PNG to write.")],
    rows: Annotated[str, typer.Option(help="Row numbers, e.g. 0,1,2.")] = "0,1,2,3,4,5",
) -> None:
    """Draw a contact sheet of some rows."""
    from mam.core.whole import write_whole
    from mam.data import encode_png, select_rows
    from mam.data.outputs import check_outputs
    from mam.show.sheet import contact_sheet, row_panels

    try:
        wanted = [int(part) for part in rows.split(",") if part.strip()]
    except ValueError:
        raise ValueError(f"--rows {rows}: give row numbers such as 0,1,2") from None
    check_outputs([out], [data])
    sheet = contact_sheet([row_panels(row) for row in select_rows(data, wanted)])
    write_whole(out, encode_png(sheet))
    typer.echo(f"{out}: {len(wanted)} rows of {data}")
