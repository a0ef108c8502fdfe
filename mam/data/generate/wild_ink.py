"""Pens for wild pictures: widths that vary, dashes and dots, cuts, and paper in uneven light."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float, UInt8
from PIL import Image, ImageDraw, ImageFilter

from mam.data.generate.wild_lines import STEP, LinePoints

PenWidth = float | int | Float[np.ndarray, " points"]  # px
Coverage = Float[np.ndarray, "rows cols"]  # share of each pixel that is covered

_FINER = 3  # times the size at which lines are drawn
_FINE = 0.4  # px between the discs of a pen
_SOFT = (0.7, 3.0, 9.0)  # px, borders of shadows
_PATTERNS = ((9, 5), (14, 6), (12, 5, 2, 5), (18, 6, 4, 6), (16, 5, 2, 4, 2, 5), (24, 12), (5, 7))
_COLOURS = np.array(
    [(200, 30, 30), (30, 60, 200), (20, 130, 40), (160, 30, 160), (190, 110, 0), (20, 20, 20)]
)


def drawn(line: LinePoints, width: PenWidth, shape: tuple[int, int]) -> Coverage:
    """Lay discs along a line.

    >>> one = drawn(np.array([[5.0, 4.0], [5.0, 16.0]]), 3.0, (11, 21))
    >>> one[:, 10].round(2).tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """
    return all_drawn([line], width, shape)


def all_drawn(
    pieces: Sequence[LinePoints],
    width: PenWidth,
    shape: tuple[int, int],
) -> Coverage:
    """Lay discs along several lines that are one curve."""
    canvas = Image.new("L", (_FINER * shape[1], _FINER * shape[0]))
    pen = ImageDraw.Draw(canvas)
    for line in pieces:
        along = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1)))
        at = np.linspace(0, along[-1], int(along[-1] / _FINE) + 1)
        places = np.stack([np.interp(at, along, axis) for axis in line.T], 1)
        wide = np.interp(at, along, np.broadcast_to(np.asarray(width, float), len(line)))
        middle, half = _FINER * (places + 0.5) - 0.5, (_FINER * wide - 1) / 2
        for (row, col), reach in zip(middle.tolist(), half.tolist(), strict=True):
            pen.ellipse((col - reach, row - reach, col + reach, row + reach), fill=255)
    small = canvas.resize((shape[1], shape[0]), Image.Resampling.BOX)
    return np.asarray(small, np.float32) / 255.0


def roughened(line: LinePoints, spread: float, rng: np.random.Generator) -> LinePoints:
    """The line with noise across it at points one to four px apart."""
    grain = int(rng.integers(1, 5))
    along = STEP * np.arange(len(line))
    at = np.arange(0, along[-1], grain)
    places = np.stack([np.interp(at, along, axis) for axis in line.T], 1)
    ahead = np.gradient(places, axis=0)
    normal = np.stack([ahead[:, 1], -ahead[:, 0]], 1) / np.linalg.norm(ahead, axis=1)[:, None]
    return places + rng.normal(0, spread, len(at))[:, None] * normal


def swelling(
    line: LinePoints, ratio: float, rng: np.random.Generator
) -> Float[np.ndarray, " points"]:
    """Widths along a line that swell and shrink between one and ``ratio`` times the least."""
    along = STEP * np.arange(len(line))
    wave, phase = rng.uniform(60, 200), rng.uniform(0, 2 * np.pi)
    share = (1 + np.sin(2 * np.pi * along / wave + phase)) / 2
    return rng.uniform(1.8, 2.6) * ratio**share


def dashed(line: LinePoints, width: float, rng: np.random.Generator) -> list[LinePoints]:
    """The dashes of a line: of a pattern that repeats, or each of a length of its own."""
    along = STEP * np.arange(len(line))
    pattern = None
    if rng.random() < 0.7:
        pattern = rng.uniform(0.8, 1.4) * np.array(_PATTERNS[int(rng.integers(len(_PATTERNS)))])
    at, number, found = 0.0, 0, []
    while at < along[-1]:
        if pattern is None:
            ink, gap = rng.uniform(2, 24), rng.uniform(4, 11)
        else:
            ink, gap = pattern[2 * number % len(pattern)], pattern[(2 * number + 1) % len(pattern)]
        found.append(_stretch(line, along, at, min(at + ink, along[-1])))
        # Round ends of the pen take its width of the gap away again.
        at, number = at + ink + gap + width, number + 1
    return found


def dotted(line: LinePoints, width: float, rng: np.random.Generator) -> list[LinePoints]:
    """Dots at even distances along a line."""
    along = STEP * np.arange(len(line))
    apart = width + rng.uniform(3.5, 8.0)
    return [_stretch(line, along, at, at) for at in np.arange(0, along[-1], apart)]


def _stretch(line: LinePoints, along: np.ndarray, start: float, stop: float) -> LinePoints:
    at = np.linspace(start, stop, max(int((stop - start) / STEP), 1) + 1)
    return np.stack([np.interp(at, along, axis) for axis in line.T], 1)


def slit(
    line: LinePoints,
    shape: tuple[int, int],
    free: Float[np.ndarray, "_ 2"],
    rng: np.random.Generator,
) -> Bool[np.ndarray, "rows cols"]:
    """Cuts of one pixel through a line, at slants, away from some places."""
    found = np.zeros(shape, bool)
    at = rng.uniform(20, 50)
    while at < STEP * (len(line) - 1) - 20:
        k = int(at / STEP)
        at += rng.uniform(30, 70)
        if len(free) and np.linalg.norm(free - line[k], axis=1).min() < 16:
            continue
        ahead = line[k + 1] - line[k - 1]
        way = np.arctan2(*ahead) + rng.choice([-1, 1]) * rng.uniform(0.45, np.pi / 2)
        along = np.arange(-12, 12.1, 0.2)[:, None] * [np.sin(way), np.cos(way)]
        # Both pixels beside a diagonal step: else ink holds together across the corner.
        places = np.concatenate([line[k] + along, line[k] + along + [0.35, 0.0]])
        rows, cols = np.rint(places).astype(int).T
        there = (rows >= 0) & (cols >= 0) & (rows < shape[0]) & (cols < shape[1])
        found[rows[there], cols[there]] = True
    return found


def printed(
    coverages: list[Coverage], colours: bool, uneven: bool, rng: np.random.Generator
) -> UInt8[np.ndarray, "rows cols 3"]:
    """The picture: dark ink or ink of several colours, on even paper or in uneven light."""
    shape = coverages[0].shape
    paper = np.full((*shape, 3), rng.uniform(225, 255))
    inks = rng.permutation(_COLOURS)
    dark = np.full(3, rng.uniform(10, 70))
    for number, covered in enumerate(coverages):
        ink = inks[number % len(inks)] if colours else dark
        paper = paper + covered[..., None] * (ink - paper)
    if uneven:
        paper = paper * _light(shape, rng)[..., None] + rng.normal(0, 2.0, shape)[..., None]
    return np.clip(np.rint(paper), 0, 255).astype(np.uint8)


def _light(shape: tuple[int, int], rng: np.random.Generator) -> Float[np.ndarray, "rows cols"]:
    """Light that falls off to one side, and a shadow with a sharp or a soft border."""
    rows, cols = np.indices(shape) / np.array(shape)[:, None, None]
    which = int(rng.integers(3))  # a gradient, a shadow, or both
    light = np.ones(shape)
    if which != 1:
        way, fall = rng.uniform(0, 2 * np.pi), rng.uniform(0.3, 0.6)
        along = (rows - 0.5) * np.sin(way) + (cols - 0.5) * np.cos(way)
        light = light * (1 - fall * (along - along.min()) / np.ptp(along))
    if which != 0:
        canvas = Image.new("L", (shape[1], shape[0]))
        corners = _half(shape, rng)
        ImageDraw.Draw(canvas).polygon([(col, row) for row, col in corners.tolist()], fill=255)
        soft = canvas.filter(ImageFilter.GaussianBlur(float(rng.choice(_SOFT))))
        light = light * (1 - rng.uniform(0.3, 0.6) * np.asarray(soft, float) / 255)
    return light


def _half(shape: tuple[int, int], rng: np.random.Generator) -> Float[np.ndarray, "4 2"]:
    """A large quadrilateral over one side of the picture."""
    size = np.array(shape, float)
    way = rng.uniform(0, 2 * np.pi)
    ahead, beside = np.array([np.sin(way), np.cos(way)]), np.array([np.cos(way), -np.sin(way)])
    edge = size * rng.uniform(0.35, 0.65, 2)
    far = 2 * size.max()
    return edge + far * np.stack([-beside, beside, beside + ahead, ahead - beside])
