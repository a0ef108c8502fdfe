r"""Where polylines cross each other or themselves.

Segments :math:`p q` and :math:`r s` cross when r and s lie on different sides of the line through p
and q, and p and q on different sides of that through r and s. A point on the line counts as on the
left, so that a curve which passes exactly through a vertex of another crosses it once.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.core.svg import Line
from mam.vision.curves.angles import cross
from mam.vision.curves.line_forms import in_short_steps

_LONG = 16.0  # px: segments are cut, so that few pairs of them are near each other


class Crossings(NamedTuple):
    """Every crossing: its place, and the two lines that cross there."""

    place: Float[np.ndarray, "crossings 2"]  # row, column
    lines: Int[np.ndarray, "crossings 2"]


def find_crossings(lines: Sequence[Line]) -> Crossings:
    """List all crossings.

    >>> bar, post = np.array([[5.0, 0], [5, 10]]), np.array([[0.0, 4], [9, 4]])
    >>> found = find_crossings([bar, post])
    >>> found.place.tolist(), found.lines.tolist()
    ([[5.0, 4.0]], [[0, 1]])
    """
    cut = [in_short_steps(line, _LONG) for line in lines]
    start = np.concatenate([line[:-1] for line in cut] or [np.zeros((0, 2))])
    stop = np.concatenate([line[1:] for line in cut] or [np.zeros((0, 2))])
    count = [max(len(line) - 1, 0) for line in cut]
    line = np.repeat(np.arange(len(lines)), count)
    first, second = _near(start, stop, line).T
    p, q, r, s = start[first], stop[first], start[second], stop[second]
    apart = (_left(p, q, r) != _left(p, q, s)) & (_left(r, s, p) != _left(r, s, q))
    first, second = first[apart], second[apart]
    p, q, r, s = (some[apart] for some in (p, q, r, s))
    across, along = q - p, s - r
    share = cross(r - p, along) / cross(across, along)
    return Crossings(p + share[:, None] * across, np.stack([line[first], line[second]], 1))


def count_by_line(found: Crossings, lines: int) -> Int[np.ndarray, " lines"]:
    """How many crossings each line has; one with itself counts once."""
    one, other = found.lines.T
    twice = other[one != other]
    return np.bincount(one, minlength=lines) + np.bincount(twice, minlength=lines)


def _near(
    start: Float[np.ndarray, "segments 2"],
    stop: Float[np.ndarray, "segments 2"],
    line: Int[np.ndarray, " segments"],
) -> Int[np.ndarray, "pairs 2"]:
    """Pairs of segments that might cross; neighbours on one line share a point and do not."""
    if len(start) < 2:
        return np.zeros((0, 2), np.int64)
    reach = float(np.linalg.norm(stop - start, axis=1).max())
    pairs = KDTree((start + stop) / 2).query_pairs(reach + 1e-9, output_type="ndarray")
    first, second = np.sort(np.asarray(pairs, np.int64).reshape(-1, 2), axis=1).T
    chained = (line[first] == line[second]) & (
        (stop[first] == start[second]).all(1) | (stop[second] == start[first]).all(1)
    )
    return np.stack([first, second], 1)[~chained]


def _left(
    p: Float[np.ndarray, "n 2"], q: Float[np.ndarray, "n 2"], point: Float[np.ndarray, "n 2"]
) -> Bool[np.ndarray, " n"]:
    return cross(q - p, point - p) >= 0
