"""Line charts: polylines over a common axis that cross, touch and run on top of each other."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image, ImageDraw
from scipy.interpolate import PchipInterpolator

from mam.data.schema import CurvesRow

_COUNTS, _OFTEN = np.arange(2, 7), (0.28, 0.31, 0.26, 0.1, 0.05)  # lines of a chart
_FINE = 40  # points of a smooth line
_FINER = 2  # times the size at which the picture is printed
_INKS = np.array(
    [
        (0, 0, 0),
        (220, 20, 20),
        (20, 40, 220),
        (20, 150, 40),
        (240, 0, 240),
        (0, 180, 200),
        (240, 140, 0),
        (120, 60, 160),
        (140, 90, 40),
    ]
)


@dataclass(frozen=True)
class ChartsConfig:
    """How charts are made; values are ours, after charts in scientific papers."""

    rows: tuple[int, int] = (240, 599)  # px, least and most
    cols: tuple[int, int] = (360, 799)  # px
    curves: tuple[int, int] = (2, 6)
    points: tuple[int, int] = (4, 25)  # of each line
    width: tuple[int, int] = (2, 4)  # px, of all lines of a chart
    apart: tuple[float, float] = (0.03, 0.6)  # of the height: how far lines differ
    noise: tuple[float, float] = (0.005, 0.3)  # of that


def make_chart(
    config: ChartsConfig, seed: int, row: int
) -> tuple[CurvesRow, list[Float[np.ndarray, "_ 2"]]]:
    """Row `row` of the endless data set of charts, and the points of each of its lines.

    >>> one, courses = make_chart(ChartsConfig(), seed=0, row=1)
    >>> len(courses) == len(one.masks), bool(one.masks.any(0).sum() == one.mask.sum())
    (True, True)
    """
    rng = np.random.default_rng([seed, row])
    rows, cols, width = (
        int(rng.integers(least, most + 1))
        for least, most in (config.rows, config.cols, config.width)
    )
    shape = (rows, cols)
    courses = _lines(config, shape, rng)
    masks = np.stack([_drawn(line, width, shape) for line in courses])
    number = np.arange(1, len(masks) + 1)[:, None, None]
    labels = np.where(masks.sum(0) == 1, (masks * number).sum(0), 0).astype(np.uint8)
    image = _printed(courses, shape, rng)
    return CurvesRow(np.asarray(masks.any(0)), labels, masks=masks, image=image), courses


def _drawn(
    line: Float[np.ndarray, "points 2"], width: int, shape: tuple[int, int]
) -> Bool[np.ndarray, "rows cols"]:
    """A line as drawing programs draw it, without smoothing: thinner where it is steep."""
    picture = Image.new("L", (shape[1], shape[0]))
    places = [(int(col), int(row)) for row, col in np.rint(line)]
    ImageDraw.Draw(picture).line(places, fill=1, width=width)
    return np.asarray(picture) > 0


def _printed(
    courses: list[Float[np.ndarray, "_ 2"]], shape: tuple[int, int], rng: np.random.Generator
) -> UInt8[np.ndarray, "rows cols 3"]:
    """The chart on white paper: lines in colours, in greys or all black, some of them dashed."""
    size = (_FINER * shape[1], _FINER * shape[0])
    picture = Image.new("RGB", size, (255, 255, 255))
    draw = ImageDraw.Draw(picture)
    kind = rng.choice(["colours", "greys", "black"], p=[0.6, 0.15, 0.25])
    inks = rng.permutation(_INKS)
    thick = int(rng.integers(2, 6))
    for number, line in enumerate(courses):
        grey = int(rng.integers(0, 180))
        ink = {"colours": inks[number % len(inks)], "greys": (grey,) * 3, "black": (0, 0, 0)}
        fill = tuple(int(value) for value in ink[str(kind)])
        dash = 0 if rng.random() < 0.7 else int(rng.integers(8, 30))
        for part in _dashed(_FINER * line, dash):
            places = [(float(col), float(row)) for row, col in part]
            draw.line(places, fill=fill, width=thick, joint="curve")
    return np.asarray(picture.resize((shape[1], shape[0]), Image.Resampling.BOX))


def _dashed(line: Float[np.ndarray, "points 2"], dash: int) -> list[Float[np.ndarray, "_ 2"]]:
    """The dashes of a line, as long as the gaps between them; the whole line for 0."""
    if not dash:
        return [line]
    along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
    starts = np.arange(0.0, along[-1], 2 * dash)
    at = starts[:, None] + np.linspace(0, dash, 4)
    return list(np.stack([np.interp(at, along, axis) for axis in line.T], -1))


def _lines(
    config: ChartsConfig, shape: tuple[int, int], rng: np.random.Generator
) -> list[Float[np.ndarray, "_ 2"]]:
    """Lines that have a trend in common and differ from it by offset, amplitude and noise."""
    count = int(rng.choice(_COUNTS.clip(*config.curves), p=_OFTEN))
    at = _places(int(np.exp(rng.uniform(*np.log(config.points)))), rng)
    apart = np.exp(rng.uniform(*np.log(config.apart)))
    noise = apart * np.exp(rng.uniform(*np.log(config.noise)))
    if rng.random() < 0.7:  # measured without noise: smooth lines
        noise = 0.03 * noise
    trend = _trend(at, rng)
    # Values that stop at a limit, or are rounded, make lines run exactly on top of each other.
    low, high = -0.5 if rng.random() < 0.15 else -9.0, 0.4 if rng.random() < 0.15 else 9.0
    grain = rng.choice([1e-4, 0.02, 0.05], p=[0.85, 0.1, 0.05])
    fading = str(rng.choice(["none", "start", "end", "both"], p=[0.5, 0.25, 0.15, 0.1]))
    alike = rng.random() < 0.75  # all are measured at the same places
    lines = []
    for _ in range(count):
        own = at if alike else np.sort(np.append([0.0, 1.0], rng.random(len(at) - 2)))
        height = apart * (rng.normal() + rng.normal() * _trend(own, rng))
        height = (height + noise * rng.normal(size=len(own))) * _faded(own, fading)
        height = np.clip(np.interp(own, at, trend) + height, low, high)
        lines.append(np.stack([np.round(height / grain) * grain, own], 1))
    if alike and rng.random() < 0.1:  # lines that keep their order: they touch, but never cross
        heights = np.sort([line[:, 0] for line in lines], axis=0)
        lines = [np.stack([height, at], 1) for height in heights]
    lines = [_part(line, rng) for line in lines]
    if rng.random() < 0.35:
        lines = [_smooth(line) for line in lines]
    return _fitted(lines, shape)


def _places(count: int, rng: np.random.Generator) -> Float[np.ndarray, " points"]:
    """Where lines are measured: evenly, closer at the start as on a logarithmic axis, or anyhow."""
    at = np.linspace(0, 1, count)
    kind = rng.random()
    if kind < 0.3:
        return at ** rng.uniform(1.2, 3.0)
    return at if kind > 0.5 else np.sort(np.append([0.0, 1.0], rng.random(count - 2)))


def _faded(at: Float[np.ndarray, " points"], fading: str) -> Float[np.ndarray, " points"]:
    """How much lines differ along their way: they may begin or end in one point."""
    near = {"none": np.ones_like(at), "start": 3 * at, "end": 3 * (1 - at)}
    return np.minimum(near.get(fading, 4 * np.minimum(at, 1 - at)), 1.0)


def _part(
    line: Float[np.ndarray, "points 2"], rng: np.random.Generator
) -> Float[np.ndarray, "_ 2"]:
    """Some lines begin later, or end before the others."""
    most = len(line) // 4 + 1
    start, stop = (int(rng.integers(0, most)) * (rng.random() < 0.15) for _ in range(2))
    kept = line[start : len(line) - stop]
    return kept if len(kept) > 1 else line


def _smooth(line: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "_ 2"]:
    """The same points joined by a smooth curve that does not overshoot them."""
    places, first = np.unique(line[:, 1], return_index=True)
    at = np.linspace(places[0], places[-1], _FINE)
    return np.stack([PchipInterpolator(places, line[first, 0])(at), at], 1)


def _trend(
    at: Float[np.ndarray, " points"], rng: np.random.Generator
) -> Float[np.ndarray, " points"]:
    """A rise, a saturation, a peak or waves, between about -0.5 and 0.5."""
    place, scale = rng.uniform(0, 1), np.exp(rng.uniform(np.log(0.04), np.log(0.6)))
    sign = rng.choice([-1, 1])
    shapes = [
        at - 0.5,
        0.5 - np.exp(-at / scale),
        np.exp(-(((at - place) / scale) ** 2)) - 0.5,
        np.tanh((at - place) / scale) / 2,
        np.sin((at + place) * rng.uniform(3, 16)) / 2,
        np.zeros_like(at),
    ]
    return sign * shapes[int(rng.integers(len(shapes)))]


def _fitted(
    lines: list[Float[np.ndarray, "_ 2"]], shape: tuple[int, int]
) -> list[Float[np.ndarray, "_ 2"]]:
    """Move and stretch all lines together so that they fill the canvas up to a margin."""
    low = np.min([line.min(0) for line in lines], 0)
    span = np.max([line.max(0) for line in lines], 0) - low
    margin = 10.0
    scale = (np.array(shape) - 2 * margin) / np.maximum(span, 1e-3)
    return [margin + (line - low) * scale for line in lines]
