"""Polylines without the steps of pixels, and with no more points than they need."""

import numpy as np
from jaxtyping import Float
from scipy import ndimage

from mam.core.svg import Line

_REACH = 1 / 3  # widths of a line: the deviation of the Gaussian that smooths it
_LEAST, _MOST = 1.0, 3.0  # px, the same


def line_length(line: Line) -> float:
    """The length of a polyline, px."""
    return float(np.linalg.norm(np.diff(line, axis=0), axis=1).sum())


def is_closed(line: Line) -> bool:
    """Whether a polyline returns to its first point."""
    return bool(len(line) > 2 and (line[0] == line[-1]).all())


def lengths_along(line: Line) -> Float[np.ndarray, " points"]:
    """How far along a polyline each of its points lies, px."""
    return np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))


def points_at(
    line: Line, at: Float[np.ndarray, " places"], along: Float[np.ndarray, " points"]
) -> Float[np.ndarray, "places columns"]:
    """What lies at some lengths along a polyline, of which the lengths of its points are known.

    >>> line = np.array([[0.0, 0], [0, 4], [3, 4]])
    >>> points_at(line, np.array([1.0, 5.5]), lengths_along(line)).tolist()
    [[0.0, 1.0], [1.5, 4.0]]
    """
    return np.stack([np.interp(at, along, column) for column in line.T], 1)


def in_short_steps(line: Line, most: float) -> Float[np.ndarray, "_ 2"]:
    """The same line with more points, no two in a row more than ``most`` px apart.

    >>> in_short_steps(np.array([[0.0, 0], [0, 4], [1, 4]]), 2.0).tolist()
    [[0.0, 0.0], [0.0, 2.0], [0.0, 4.0], [1.0, 4.0]]
    """
    if len(line) < 2:
        return line
    return cut_into(line, np.ceil(np.linalg.norm(np.diff(line, axis=0), axis=1) / most))


def cut_into(line: Line, parts: Float[np.ndarray, " segments"]) -> Float[np.ndarray, "_ 2"]:
    """The same line with each of its segments cut into so many parts, one at least."""
    parts, step = np.maximum(parts, 1).astype(int), np.diff(line, axis=0)
    number = np.repeat(np.arange(len(parts)), parts)
    share = (np.arange(len(number)) - np.repeat(np.cumsum(parts) - parts, parts)) / parts[number]
    return np.concatenate([line[number] + share[:, None] * step[number], line[-1:]])


def smoothed(line: Line, width: float) -> Float[np.ndarray, "_ 2"]:
    """A line of points about a pixel apart without its steps; its ends stay where they are.

    >>> stairs = np.stack([np.arange(40) // 2, np.arange(40)], 1).astype(float)
    >>> float(np.abs(np.diff(smoothed(stairs, 3.0)[5:-5, 0]) - 0.5).max().round(1))
    0.0
    """
    if len(line) < 3:
        return line
    sigma = float(np.clip(_REACH * width, _LEAST, _MOST))
    if is_closed(line):
        round_ = ndimage.gaussian_filter1d(line[:-1], sigma, axis=0, mode="wrap")
        return np.concatenate([round_, round_[:1]])
    far = min(len(line) - 1, int(4 * sigma) + 1)
    # Mirrored at the ends' own places, they do not move.
    before, after = 2 * line[0] - line[far:0:-1], 2 * line[-1] - line[-2 : -far - 2 : -1]
    wide = np.concatenate([before, line, after])
    found = ndimage.gaussian_filter1d(wide, sigma, axis=0, mode="nearest")[far : far + len(line)]
    found[0], found[-1] = line[0], line[-1]
    return found


def simplified(line: Line, tolerance: float) -> Float[np.ndarray, "_ 2"]:
    """The line through few of its points, no more than ``tolerance`` px away (Douglas, Peucker).

    >>> simplified(np.array([[0.0, 0], [0.1, 5], [0, 10], [9, 10]]), 0.5).tolist()
    [[0.0, 0.0], [0.0, 10.0], [9.0, 10.0]]
    """
    if tolerance <= 0 or len(line) < 3:
        return line
    if not is_closed(line):
        return _with_few_points(line, tolerance)
    # Both halves of a ring: there is no chord from a point to itself.
    far = int(np.linalg.norm(line - line[0], axis=1).argmax())
    halves = [_with_few_points(line[: far + 1], tolerance)]
    halves.append(_with_few_points(line[far:], tolerance)[1:])
    return np.concatenate(halves)


def _with_few_points(line: Line, tolerance: float) -> Float[np.ndarray, "_ 2"]:
    """The first and the last point, and from each stretch the one farthest off, as long as it is.

    The same as in scikit-image, which takes half a second to load.
    """
    kept = np.zeros(len(line), bool)
    kept[[0, -1]] = True
    open_ = [(0, len(line) - 1)]
    while open_:
        start, stop = open_.pop()
        inner = line[start + 1 : stop]
        way = line[stop] - line[start]
        size = max(float(way @ way), 1e-300)
        # The nearest point of the chord, between its ends.
        share = np.clip((inner - line[start]) @ way / size, 0.0, 1.0)
        far = np.linalg.norm(inner - line[start] - share[:, None] * way, axis=1)
        if far.max(initial=0.0) > tolerance:
            middle = start + 1 + int(far.argmax())
            kept[middle] = True
            open_ += [(middle, stop), (start, middle)]
    return line[kept]
