"""Options and arguments that several commands have."""

from enum import StrEnum
from typing import Annotated

import typer

DataArgument = Annotated[
    str,
    typer.Argument(help="A data set: a parquet file, a folder, or a pattern, 'shards/*.parquet'."),
]
LimitOption = Annotated[int | None, typer.Option(help="Only so many rows, from the first.", min=1)]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
JsonLinesOption = Annotated[bool, typer.Option("--json", help="One JSON object a picture.")]
QuietOption = Annotated[
    bool, typer.Option("--quiet", "-q", help="No progress and no remarks on standard error.")
]
BoundOption = Annotated[bool, typer.Option("--bound", help="Bound what is not proved optimal.")]


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


LetterModelOption = Annotated[
    str, typer.Option(help="A bank of elastic graphs: bundled name or file.")
]
PresetOption = Annotated[
    PresetName | None,
    typer.Option(help="Our settings, or the paper's; default: the model's own."),
]
SplitOption = Annotated[
    SplitName,
    typer.Option(help="train, test: 70 % and 30 % of the scenes, frames with the largest masks."),
]
ObjectNameOption = Annotated[
    str | None, typer.Option(help="Of the object; only this one, if there are more.")
]
SceneDepthOption = Annotated[
    bool, typer.Option("--depth", help="Use the scenes' depth as a channel.")
]
MaskOption = Annotated[
    MaskName, typer.Option(help="The learned outline, or the convex hull of the parts.")
]
GraphsOption = Annotated[int, typer.Option(help="Graphs of each object, with variants.", min=1)]
SeedOption = Annotated[int, typer.Option(help="The same seed gives the same answer.", min=0)]
