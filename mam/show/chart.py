"""Line charts with error bars as inline SVG, for a page with the colours of ``mam.show.page``."""

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import numpy as np

_WIDTH, _HEIGHT = 460, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 10, 42  # px around the plot
_STEPS = (1.0, 2.0, 5.0, 10.0, 20.0, 25.0)  # between two ticks of the upright axis
_MOST_TICKS = 7


class Series(NamedTuple):
    """Points of a chart; several of one name and look form a line."""

    name: str
    x: Sequence[float | int]
    y: Sequence[float | int]
    spread: Sequence[float | int] = ()  # half the length of the error bars
    published: bool = False  # single points of others, not joined
    colour: int | None = None  # number of the series whose colour it has; None: its own


def line_chart(series: Sequence[Series], across: str, up: str) -> str:
    """Draw percentages over counts, which get a logarithmic axis.

    >>> text = line_chart([Series("ours", [10, 100], [80, 90], [2, 1])], "images", "% right")
    >>> text.count("<circle"), text.count("<polyline"), "ours: 90 ± 1 % at 100" in text
    (3, 1, True)
    """
    shown = [one for one in series if len(one.x)]
    if not shown:
        raise ValueError("a chart needs at least one point")
    every_x = np.concatenate([np.asarray(one.x, float) for one in shown])
    lowest = min(float((np.asarray(one.y, float) - _spread(one)).min()) for one in shown)
    axis = _Axis(every_x.min(), every_x.max(), *_span(lowest))
    marks = "".join(_marks(one, number, axis) for number, one in enumerate(shown))
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(up)}">'
        f'<g fill="var(--soft)">{_upright(axis)}{_level(sorted(set(every_x)), axis)}'
        f'<text x="{(_WIDTH + _LEFT) / 2}" y="{_HEIGHT - 6}" text-anchor="middle">'
        f"{escape(across)}</text></g>{marks}</svg>"
        f'<div class="key">{"".join(_key(one, n) for n, one in enumerate(shown))}</div>'
    )


class _Axis(NamedTuple):
    least: float
    most: float
    low: float
    step: float

    def x(self, value: float | int) -> float:
        width = np.log(self.most / self.least) or 1.0
        share = np.log(value / self.least) / width if self.most > self.least else 0.5
        inner = _WIDTH - _LEFT - _RIGHT - 24
        return round(_LEFT + 12 + inner * float(share), 1)

    def y(self, value: float | int) -> float:
        share = (100 - value) / (100 - self.low)
        return round(_TOP + 6 + (_HEIGHT - _TOP - _BOTTOM - 6) * share, 1)


def _span(lowest: float) -> tuple[float, float]:
    """The lower end of the axis of percentages and the step of its ticks."""
    room = max(100 - max(lowest, 0.0), 1.0)
    step = next(step for step in _STEPS if room / step <= _MOST_TICKS)
    return 100 - step * float(np.ceil(room / step)), step


def _spread(one: Series) -> np.ndarray:
    return np.asarray(one.spread, float) if len(one.spread) else np.zeros(len(one.y))


def _upright(axis: _Axis) -> str:
    ticks = np.arange(axis.low, 100 + axis.step / 2, axis.step)
    return "".join(
        f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{axis.y(t)}" y2="{axis.y(t)}" '
        f'stroke="var(--rule)"/><text x="{_LEFT - 6}" y="{axis.y(t) + 4}" text-anchor="end">'
        f"{t:g}</text>"
        for t in ticks
    )


def _level(values: Sequence[float], axis: _Axis) -> str:
    """The counts, but for those that would stand in another's place."""
    shown, last = [], -np.inf
    for value in values:
        if axis.x(value) - last >= 44:
            last = axis.x(value)
            at = f'x="{last}" y="{_HEIGHT - _BOTTOM + 16}"'
            shown.append(f'<text {at} text-anchor="middle">{value:,.0f}</text>')
    return "".join(shown)


def _marks(one: Series, number: int, axis: _Axis) -> str:
    colour = _colour(one, number)
    parts = []
    points = [(axis.x(x), axis.y(y)) for x, y in zip(one.x, one.y, strict=True)]
    if not one.published and len(points) > 1:
        path = " ".join(f"{x},{y}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for (x, y), at, value, spread in zip(points, one.x, one.y, _spread(one), strict=True):
        if spread > 0:
            high, low = axis.y(min(value + spread, 100)), axis.y(max(value - spread, 0))
            bar = f"M{x} {high}V{low}M{x - 4} {high}h8M{x - 4} {low}h8"
            parts.append(f'<path d="{bar}" stroke="{colour}" fill="none"/>')
        about = f"{value:.4g}" + (f" ± {spread:.2g}" if len(one.spread) else "")
        title = f"<title>{escape(one.name)}: {about} % at {at:,}</title>"
        parts.append(_dot(x, y, colour, one.published, title))
    return "".join(parts)


def _colour(one: Series, number: int) -> str:
    return f"var(--series-{(number if one.colour is None else one.colour) % 8})"


def _dot(x: float, y: float, colour: str, hollow: bool, inner: str = "") -> str:
    if hollow:
        shape = f"M{x} {y - 6}l6 6l-6 6l-6 -6z"
        look = f'fill="var(--card)" stroke="{colour}" stroke-width="2"'
        return f'<path d="{shape}" {look}>{inner}</path>'
    return f'<circle cx="{x}" cy="{y}" r="4" fill="{colour}">{inner}</circle>'


def _key(one: Series, number: int) -> str:
    colour = _colour(one, number)
    line = "" if one.published else f'<path d="M0 8h32" stroke="{colour}" stroke-width="2"/>'
    dot = _dot(16.0, 8.0, colour, one.published)
    return f'<span><svg viewBox="0 0 32 16">{line}{dot}</svg> {escape(one.name)}</span>'
