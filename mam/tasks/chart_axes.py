r"""The axes of a chart: which number a place stands for.

Two ticks give an axis: value :math:`v_k` at pixel :math:`p_k`, and between and beyond them

.. math:: v(p) = v_1 + \frac{p - p_1}{p_2 - p_1} (v_2 - v_1),

or the same of :math:`\log v` on a logarithmic axis.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.core.svg import Line
from mam.vision.curves.line_forms import in_short_steps

_AXIS = re.compile(r"\s*([xy])(\s+log)?\s*:\s*(\S+)@(\S+)\s+(\S+)@(\S+)\s*")
_STEP = 0.25  # px, between the points at which a curve is read


@dataclass(frozen=True)
class ChartAxis:
    """One axis: values of two ticks and their pixels."""

    values: tuple[float, float]
    pixels: tuple[float, float]
    log: bool = False

    def at(self, pixel: Float[np.ndarray, "*places"]) -> Float[np.ndarray, "*places"]:
        """The values at some pixels."""
        first, second = np.log(self.values) if self.log else self.values
        share = (pixel - self.pixels[0]) / (self.pixels[1] - self.pixels[0])
        found = first + share * (second - first)
        return np.exp(found) if self.log else found


@dataclass(frozen=True)
class ChartAxes:
    """Both axes of a chart: x along columns, y along rows."""

    x: ChartAxis
    y: ChartAxis


def parse_axes(text: str) -> ChartAxes:
    """Axes as a person writes them: value@pixel, twice for each; `log` after the letter.

    >>> axes = parse_axes("x: 0@52 100@430; y log: 1@310 1000@20")
    >>> axes.x.at(np.array([52.0, 241.0])).tolist(), axes.y.log
    ([0.0, 50.0], True)
    """
    found: dict[str, ChartAxis] = {}
    for part in filter(str.strip, text.split(";")):
        match = _AXIS.fullmatch(part)
        if match is None or match[1] in found:
            raise _wrong(text)
        found[match[1]] = _axis(match, text)
    if set(found) != {"x", "y"}:
        raise _wrong(text)
    return ChartAxes(found["x"], found["y"])


def _axis(match: re.Match[str], text: str) -> ChartAxis:
    try:
        first, start, second, stop = (float(number) for number in match.groups()[2:])
    except ValueError:
        raise _wrong(text) from None
    log = match[2] is not None
    if not np.isfinite([first, start, second, stop]).all() or first == second or start == stop:
        raise ValueError(f"--axes {text!r}: the two ticks of {match[1]} must differ")
    if log and min(first, second) <= 0:
        raise ValueError(f"--axes {text!r}: a logarithmic axis has values above 0")
    return ChartAxis((first, second), (start, stop), log)


def _wrong(text: str) -> ValueError:
    return ValueError(
        f"--axes {text!r}: give two ticks an axis as VALUE@PIXEL, "
        "such as 'x: 0@52 100@430; y: 0@310 1@20'; 'y log: ...' is logarithmic"
    )


@dataclass(frozen=True, eq=False)
class ChartSeries:
    """The curves of a chart at common x; NaN where a curve is not."""

    x: Float[np.ndarray, " columns"]
    y: Float[np.ndarray, "curves columns"]


def series_of(lines: Sequence[Line], axes: ChartAxes) -> ChartSeries:
    """Read curves at every column of pixels; where one passes twice, the mean of its rows.

    >>> axes = parse_axes("x: 0@0 1@10; y: 0@20 1@0")
    >>> found = series_of([np.array([[20.0, 0], [10, 10]])], axes)
    >>> found.x[[0, -1]].tolist(), found.y[0, [0, -1]].round(6).tolist()
    ([0.0, 1.0], [0.0, 0.5])
    """
    points = [in_short_steps(line, _STEP) for line in lines]
    if not points:
        return ChartSeries(np.zeros(0), np.zeros((0, 0)))
    first = int(np.ceil(min(line[:, 1].min() for line in points)))
    last = int(np.floor(max(line[:, 1].max() for line in points)))
    columns = np.arange(first, last + 1)
    rows = np.stack([_row_at(line, columns) for line in points])
    order = slice(None, None, 1 if axes.x.at(np.array([0.0, 1.0])).argmax() else -1)
    return ChartSeries(axes.x.at(columns.astype(float))[order], axes.y.at(rows)[:, order])


def _row_at(line: Line, columns: np.ndarray) -> Float[np.ndarray, " columns"]:
    """The mean row in which a line passes each column."""
    total, count = np.zeros(len(columns)), np.zeros(len(columns))
    (r0, c0), (r1, c1) = line[:-1].T, line[1:].T
    # Steps are shorter than a pixel, so each passes one whole column at most.
    column = np.ceil(np.minimum(c0, c1))
    passes = (column <= np.maximum(c0, c1)) & (c0 != c1)
    share = (column[passes] - c0[passes]) / (c1 - c0)[passes]
    row = r0[passes] + share * (r1 - r0)[passes]
    at = column[passes].astype(int) - int(columns[0]) if len(columns) else np.zeros(0, int)
    inside = (at >= 0) & (at < len(columns))
    np.add.at(total, at[inside], row[inside])
    np.add.at(count, at[inside], 1)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)
