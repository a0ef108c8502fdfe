"""What a person knows of a picture: places, and ends that are joined or not."""

from typing import NamedTuple

PointPlaces = tuple[tuple[float, float], tuple[float, float]]


class Hints(NamedTuple):
    """Two markers to ask about, and links, each named by two places."""

    markers: PointPlaces | None = None
    forbid: tuple[PointPlaces, ...] = ()
    demand: tuple[PointPlaces, ...] = ()


def parse_points(text: str, option: str = "--markers") -> PointPlaces:
    """`R,C R,C` as two points.

    >>> parse_points("10,20 30,40")
    ((10.0, 20.0), (30.0, 40.0))
    """
    try:
        points = [[float(number) for number in point.split(",")] for point in text.split()]
    except ValueError:
        points = []
    if len(points) != 2 or any(len(point) != 2 for point in points):
        raise ValueError(f"{option} {text!r}: give two points as 'ROW,COLUMN ROW,COLUMN'")
    (r0, c0), (r1, c1) = points
    return (r0, c0), (r1, c1)
