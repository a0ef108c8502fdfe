"""The contours of a pathfinder row, stroke by stroke, and their JSON."""

import json
import reprlib
from collections.abc import Sequence
from itertools import chain
from typing import Any, NamedTuple

from mam.core.json_text import parse_json
from mam.core.limits import PICTURE_PIXELS


class Stroke(NamedTuple):
    """One stroke of a contour: it leaves (row, col) along `angle` (radians, rows point down).

    The first stroke of a contour starts at its origin; every later one starts at its far tip and
    its angle points back along the contour, as in the published generator.
    """

    row: int
    col: int
    angle: float


Segments = tuple[tuple[Stroke, ...], ...]  # strokes of every contour, in order


def segments_text(segments: Segments) -> str:
    """The JSON of them.

    >>> segments_text(((Stroke(5, 6, 0.5),),))
    '[[[5, 6, 0.5]]]'
    """
    return json.dumps([[[s.row, s.col, round(s.angle, 4)] for s in one] for one in segments])


def parse_segments(text: str, spot: str) -> Segments:
    """The strokes of every contour from their JSON form.

    >>> parse_segments("[[[5, 6, 0.5]]]", "row 0")
    ((Stroke(row=5, col=6, angle=0.5),),)
    """
    try:
        return tuple(
            tuple(_stroke(row, col, angle) for row, col, angle in contour)
            for contour in parse_json(text)
        )
    except (TypeError, ValueError) as error:
        raise ValueError(f"{spot}: not a JSON list of contours of strokes ({error})") from None


def _stroke(row: Any, col: Any, angle: Any) -> Stroke:
    for number in (row, col, angle):
        # No side of a picture is longer; a NaN is in no range.
        if type(number) not in (int, float) or not -PICTURE_PIXELS <= number <= PICTURE_PIXELS:
            raise ValueError(
                f"{reprlib.repr(number)} is no number from {-PICTURE_PIXELS} to {PICTURE_PIXELS}"
            )
    return Stroke(int(row), int(col), float(angle))


def check_inside(segments: Segments, size: Sequence[int], spot: str) -> None:
    """Refuse strokes that do not begin on the picture, of so many rows and columns."""
    for stroke in chain.from_iterable(segments):
        if not (0 <= stroke.row < size[0] and 0 <= stroke.col < size[1]):
            raise ValueError(f"{spot}: [{stroke.row}, {stroke.col}] lies outside {tuple(size)}")
