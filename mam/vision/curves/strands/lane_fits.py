r"""How lanes end: the longest straight stretch at either end.

Lines of charts are straight from point to point of their data. So the direction of an end is that
of the longest stretch from it on which all points lie nearly on one line; the standard error of the
direction is that of a line fitted to points with rounded places,
:math:`\sigma = \sqrt{12} \, \sigma_0 / (n \sqrt{1 + n})` for a length of n px.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.vision.curves.strands.ink_runs import middle_line
from mam.vision.curves.strands.lanes import Lane, Lanes

_STRETCHES = (5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0, 56.0)  # px that may be straight
_OFF, _OFF_MEAN = 1.0, 0.45  # px that points of a straight line are off at most, and on average
_ROUNDED = 0.5  # px, sigma_0
_LEAST = 3  # points
_TINY = 0.4  # px on either side of a lane of one column


@dataclass(frozen=True, eq=False)
class LaneFits:
    """The straight stretch at both ends of every lane, first the left one."""

    place: Float[np.ndarray, "lanes 2 2"]  # row and column of the end itself
    centre: Float[np.ndarray, "lanes 2 2"]  # of the stretch
    inward: Float[np.ndarray, "lanes 2 2"]  # its direction, away from the end
    reach: Float[np.ndarray, "lanes 2"]  # px, its length

    @property
    def error(self) -> Float[np.ndarray, "lanes 2"]:
        """The standard error of each direction, radians."""
        return _ROUNDED * np.sqrt(12 / (1 + self.reach)) / self.reach


def find_fits(lanes: Lanes) -> LaneFits:
    """Fit both ends of all lanes.

    >>> run = np.arange(20)
    >>> lane = Lane(run, run, 5.0 + run, 7.0 + run, 1)
    >>> from mam.vision.curves.strands.run_widths import RunWidths
    >>> widths = RunWidths(np.zeros(20), np.full(20, 3.0), np.full(20, 3.0), 3.0)
    >>> fits = find_fits(Lanes([lane], np.array([[-1, -1]]), widths))
    >>> fits.inward.round(1).tolist()
    [[[0.7, 0.7], [-0.7, -0.7]]]
    """
    fits = []
    for lane in lanes.each:
        points = lane_points(lane, lanes.widths.pen)
        fits.append((_straight(points), _straight(points[::-1])))
    parts = [np.array([[side[k] for side in both] for both in fits]) for k in range(4)]
    shapes = [(len(fits), 2, 2)] * 3 + [(len(fits), 2)]
    return LaneFits(*(part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)))


def lane_points(lane: Lane, pen: float) -> Float[np.ndarray, "points 2"]:
    """The middle line of a lane, three points or more."""
    points = middle_line(lane.col, lane.top, lane.bottom, pen)
    if len(points) < 2 or np.abs(np.diff(points, axis=0)).sum() < 2 * _TINY:
        middle = points[:1]
        points = middle + np.array([[0.0, -_TINY], [0.0, _TINY]])
    if len(points) > _LEAST:
        return points
    at = np.linspace(0, len(points) - 1, 2 * _LEAST - 1)
    return np.stack([np.interp(at, np.arange(len(points)), axis) for axis in points.T], 1)


def _straight(
    points: Float[np.ndarray, "points 2"],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """The place of the first point; centre, direction and length of the straight stretch there."""
    along = np.append(0.0, np.cumsum(np.hypot(*np.diff(points, axis=0).T)))
    ahead = points[-1] - points[0]
    far = max(float(np.hypot(*ahead)), 1e-9)
    found = points[0], points.mean(0), ahead / far, max(float(along[-1]), _TINY)
    for number, most in enumerate(_STRETCHES):
        some = points[along <= most]
        if len(some) < _LEAST:
            continue
        centre = some.mean(0)
        way = np.linalg.svd(some - centre, full_matrices=False)[2][0]
        off = (some - centre) @ [-way[1], way[0]]
        if number and (np.abs(off).max() > _OFF or off.std() > _OFF_MEAN):
            break
        way = -way if way @ (some[-1] - some[0]) < 0 else way
        found = points[0], centre, way, max(float(along[len(some) - 1]), 1.0)
        if along[-1] <= most:
            break
    return found
