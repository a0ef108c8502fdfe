"""What may be asked: the bodies of requests, and the command lines that do the same."""

import shlex
from enum import StrEnum
from pathlib import PurePath
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Number = Annotated[float, Field(ge=-1, le=100_000, allow_inf_nan=False)]
Spot = Annotated[list[Number], Field(min_length=2, max_length=2)]  # row, column
Link = Annotated[list[Spot], Field(min_length=2, max_length=2)]
Key = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
ModelName = Annotated[str, Field(min_length=1, max_length=200)]
# What is drawn: by the look, or a colour, red, green and blue.
InkName = Annotated[str, Field(pattern=r"^(auto|dark|light|\d{1,3},\d{1,3},\d{1,3})$")]


class CurveModelName(StrEnum):
    """How a picture is grouped."""

    auto = "auto"
    contours = "contours"
    curves = "curves"


class FileEnding(StrEnum):
    """What a grouping can be taken home as."""

    png = ".png"
    svg = ".svg"
    csv = ".csv"
    points_csv = ".points.csv"
    geojson = ".geojson"
    json = ".json"
    coco_json = ".coco.json"
    swc = ".swc"
    tif = ".tif"


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid")


class GroupQuestion(_Question):
    """Which strokes or lines of a picture form one curve?"""

    picture: Key
    model: CurveModelName = CurveModelName.auto
    threshold: Annotated[float, Field(ge=0, le=255, allow_inf_nan=False)] | None = None
    ink: InkName = "auto"
    bridging: Annotated[float, Field(ge=0, le=10, allow_inf_nan=False)] = 1.0
    forbid: Annotated[list[Link], Field(max_length=200)] = []
    demand: Annotated[list[Link], Field(max_length=200)] = []
    markers: Annotated[list[Spot], Field(min_length=2, max_length=2)] | None = None


class FileQuestion(GroupQuestion):
    """The same, as a file."""

    ending: FileEnding


class FindQuestion(_Question):
    """Where in a picture are the objects of a model?"""

    picture: Key
    model: ModelName = "letters"
    copies: Annotated[int, Field(ge=1, le=10)] = 2


class LearnQuestion(_Question):
    """Learn an object from a picture and a mask of it, a PNG in base64."""

    picture: Key
    mask: Annotated[str, Field(max_length=1_900_000, pattern="^[A-Za-z0-9+/]*={0,2}$")]
    name: Annotated[str, Field(min_length=1, max_length=60)] = "object"


class ModelQuestion(_Question):
    """The states of a small model when some variables are known."""

    name: Annotated[str, Field(pattern="^[a-z-]{1,40}$")]
    given: Annotated[
        dict[Annotated[str, Field(max_length=40)], Annotated[int, Field(ge=0, le=1)]],
        Field(max_length=100),
    ] = {}


def command_line(question: GroupQuestion, name: str, ending: str = ".svg") -> str:
    """The command that gives the same answer.

    >>> asked = GroupQuestion(picture="0" * 64, bridging=2, forbid=[[[1, 2], [3, 4.5]]])
    >>> command_line(asked, "my scan.png")
    "mam group 'my scan.png' --bridging 2 --forbid '1,2 3,4.5' --out 'my scan.svg'"
    """
    words = ["mam", "group", name]
    if question.model is not CurveModelName.auto:
        words += ["--model", question.model.value]
    if question.threshold is not None:
        words += ["--threshold", f"{question.threshold:g}"]
    if question.ink != "auto":
        words += ["--ink", question.ink]
    if question.bridging != 1:
        words += ["--bridging", f"{question.bridging:g}"]
    for option, links in (("--forbid", question.forbid), ("--demand", question.demand)):
        for link in links:
            words += [option, _places(link)]
    if question.markers is not None:
        words += ["--markers", _places(question.markers)]
    out = PurePath(name).stem + ("-curves.png" if ending == ".png" else ending)
    return shlex.join([*words, "--out", out])


def _places(places: list[Spot]) -> str:
    return " ".join(",".join(f"{number:.10g}" for number in place) for place in places)
