"""What is answered, for the description of the API; the tests hold real answers against these."""

from pydantic import BaseModel, ConfigDict

Coordinates = list[float]  # row, column
CoordinateLine = list[Coordinates]


class _WebAnswer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorAnswer(_WebAnswer):
    """Why there is no answer."""

    error: str


class PictureAnswer(_WebAnswer):
    """A picture that the server has."""

    picture: str  # its key
    name: str
    rows: int
    cols: int


class CurveAnswer(_WebAnswer):
    """One curve; lengths in pixels."""

    number: int
    closed: bool
    length: float
    width: float | None
    crossings: int
    pieces: int
    weakest: float | None  # margin of its weakest link
    points: CoordinateLine


class SameAnswer(_WebAnswer):
    """Whether two places are on one curve."""

    same: bool
    margin: float | None  # None: nothing could change it


class OtherAnswer(_WebAnswer):
    """The best answer that says otherwise."""

    lines: list[CoordinateLine]  # those that are not in the first answer
    cost: float
    proof: str | None


class GroupAnswer(_WebAnswer):
    """The curves of a picture, and what they are made of."""

    picture: str
    curves: list[CurveAnswer]
    markers: SameAnswer | None
    alternative: OtherAnswer | None
    model: str
    assumed: str
    score: float
    bound: float | None
    proof: str | None  # of the grouping of its pieces,
    pieces_proof: str | None  # and of the pieces
    pixel_size: None = None
    rows: int
    cols: int
    dark: bool
    threshold: float | None  # None: it is not the same throughout
    ink: str  # a mask as PNG in base64
    piece: str
    pieces: list[CoordinateLine]
    ends: list[Coordinates]  # end s of piece k is number 2 k + s
    links: list[tuple[int, int, bool, float | None]]  # two ends, whether ON, margin
    command: str


class PlacedGraph(_WebAnswer):
    """An elastic graph where it was found."""

    name: str
    there: bool
    score: float
    contrast: float | None = None  # letters: near 1 for a clean shape, near 0 for none
    threshold: float | None = None  # there from this on: objects by score, letters by contrast
    margin: float | None
    proof: str | None
    vertices: list[Coordinates]
    edges: list[tuple[int, int]]
    mask: str  # PNG in base64
    pixels: int


class FindAnswer(_WebAnswer):
    """What was found."""

    kind: str
    found: list[PlacedGraph]


class LearnAnswer(_WebAnswer):
    """A learned model, by its key."""

    model: str
    graphs: int
    vertices: float


class ToyVariable(_WebAnswer):
    """A variable of a small model; an attention variable is between two others."""

    label: str
    name: str
    state: int
    margin: float | None
    given: int | None
    x: float | None = None
    y: float | None = None
    between: tuple[str, str] | None = None


class ToyAnswer(_WebAnswer):
    """A small model in a context; without more where nothing is possible."""

    title: str
    story: str
    possible: bool
    variables: list[ToyVariable] = []
    joined: list[tuple[str, str]] = []
    context: list[tuple[str, str]] = []
    independent: list[tuple[str, str, bool]] = []
    score: float | None = None
    proof: str | None = None
