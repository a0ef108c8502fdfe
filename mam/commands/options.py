"""Options and arguments that several commands have."""

from enum import StrEnum
from typing import Annotated

import typer

Data = Annotated[str, typer.Argument(help="A data set: a parquet file or a folder.")]
Limit = Annotated[int | None, typer.Option(help="Only so many rows, from the first.", min=1)]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


class PresetName(StrEnum):
    """Whose settings the search has."""

    best = "best"
    paper = "paper"


class SplitName(StrEnum):
    """Which rows count."""

    all = "all"
    train = "train"
    test = "test"


class MaskName(StrEnum):
    """What the mask of a found object is."""

    outline = "outline"
    hull = "hull"


LETTERS = "letters"  # the bundled model of letters
LetterModel = Annotated[str, typer.Option(help="A bank of elastic graphs: bundled name or file.")]
Preset = Annotated[PresetName, typer.Option(help="Our settings, or the paper's.")]
Split = Annotated[
    SplitName,
    typer.Option(help="train, test: 70 % and 30 % of the scenes, frames with the largest masks."),
]
ObjectName = Annotated[
    str | None, typer.Option(help="Of the object; only this one, if there are more.")
]
SceneDepth = Annotated[bool, typer.Option("--depth", help="Use the scenes' depth as a channel.")]
Mask = Annotated[
    MaskName, typer.Option(help="The learned outline, or the convex hull of the parts.")
]
Graphs = Annotated[int, typer.Option(help="Graphs of each object, with variants.", min=1)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.", min=0)]
