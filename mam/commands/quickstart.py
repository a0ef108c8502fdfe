"""`mam quickstart`: a bundled hard image, grouped; the answer, its margin and the picture."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.progress_bars import working

if TYPE_CHECKING:
    from mam.tasks.drawing import Drawing
    from mam.vision.curves.strokes.contour_answer import Grouping

_IMAGE = "hard.png"
_STORY = """\
A hard pathfinder image: two contours of 14 strokes, broken, tangled among shorter ones, and two
discs. Are the discs on the same contour? Every stroke is a part with two ends, every pair of facing
ends an attention variable; max-product decides which of these are ON.
"""


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(quickstart)


def quickstart(
    out: Annotated[Path, typer.Option(help="Where the picture goes, .png.")] = Path(
        "mam-quickstart.png"
    ),
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Group a bundled hard image: the answer, its margin, a picture.

    \b
    Example:
      mam quickstart --out hard.png
    """
    with working("grouping; the first time programs are compiled", quiet):
        found = group_bundled(out)
    typer.echo(found.as_json() if as_json else found.as_text())


@dataclass(frozen=True)
class Quickstart:
    """All that the command found out."""

    found: "Grouping"
    drawing: "Drawing"
    picture: Path

    def as_json(self) -> str:
        """Return one JSON object."""
        same = self.drawing.same
        assert same is not None
        return json.dumps(
            {
                "same": same.same,
                "margin": same.margin,
                "strokes": len(self.found.strokes),
                "attention_variables": len(self.found.links),
                "on": int(self.found.on.sum()),
                "contours": len(self.found),
                "score": self.found.score,
                "bound": self.found.bound,
                "proof": self.found.proof,
                "pieces_proof": self.found.pieces_proof,
                "picture": str(self.picture),
            }
        )

    def as_text(self) -> str:
        """Return a page to read."""
        from mam.vision.curves.answer import proved_in_words

        found, same = self.found, self.drawing.same
        assert same is not None
        verdict = "the SAME contour" if same.same else "DIFFERENT contours"
        proof = proved_in_words(found.proof, found.pieces_proof)
        return "\n".join(
            [
                _STORY,
                f"{len(found.strokes)} strokes, {len(found.links)} attention variables, "
                f"{int(found.on.sum())} of them ON: {len(found)} contours",
                f"score {found.score:.3f}, {proof}",
                "",
                f"The discs are on {verdict}, margin {same.margin:.2f}.",
                "",
                f"{self.picture} shows every contour in its own colour.",
                "Your own picture: mam group IMAGE",
            ]
        )


def group_bundled(out: Path) -> Quickstart:
    """Group the bundled image and draw it."""
    from mam.core.model_files import bundled_file
    from mam.core.whole_files import write_whole
    from mam.data.images import read_picture
    from mam.data.outputs import PNG, check_outputs
    from mam.data.read.markers import find_discs
    from mam.show.drawing_files import png_file
    from mam.tasks.drawing import Drawing
    from mam.tasks.pathfinder import group_marked
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    check_outputs({PNG: [out]}, [bundled_file(_IMAGE)])
    image = read_picture(bundled_file(_IMAGE), _IMAGE)
    markers = find_discs(image, _IMAGE)
    grouper = ContourGrouper.load("contours")
    [found] = group_marked([image], [markers], grouper)
    lines = sorted(found.polylines, key=len, reverse=True)
    drawing = Drawing(
        image,
        lines,
        len(found.strokes),
        "contours",
        "",
        found.score,
        found.bound,
        found.proof,
        found.pieces_proof,
        markers.tolist(),
        found.same(markers[0], markers[1]),
    )
    write_whole(out, png_file(drawing, _IMAGE))
    return Quickstart(found, drawing, out)
