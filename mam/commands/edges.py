"""`mam edges`: the edges of a picture. Heavy imports live inside the command."""

from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import QuietOption
from mam.commands.progress_bars import working


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(edges)


def edges(
    image: Annotated[Path, typer.Argument(help="A picture, grey or in colour.")],
    out: Annotated[Path, typer.Option(help="The PNG of its edges; the hue is the direction.")],
    depth: Annotated[
        Path | None, typer.Option(help="The picture's depth, one more channel.")
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Draw the edges of a picture: responses of filters of 16 directions, thinned.

    \b
    Example:
      mam edges photo.jpg --out edges.png
    """
    import numpy as np

    from mam.core.whole_files import write_whole
    from mam.data import encode_png, read_picture
    from mam.data.outputs import PNG, check_outputs
    from mam.data.read.depth import read_depth
    from mam.show.objects import draw_edges
    from mam.vision.images.photo_edges import as_channels, find_edges

    check_outputs({PNG: [out]}, [image, depth])
    far = None if depth is None else read_depth(depth)
    with working("looking for edges", quiet):
        found = find_edges(as_channels(read_picture(image), far, name=str(image)))
        strength = np.asarray(found.strength)
    write_whole(out, encode_png(draw_edges(strength, np.asarray(found.type))))
    typer.echo(f"{out}: {int((strength > 0.04).sum())} px of edges")
