"""Middle lines of curves that cross clearly: smooth lines, zigzags, walks, trees, shared stretches.

A line is kept where it crosses others and itself at a clear angle, away from ends and corners and
from other crossings, and keeps its distance elsewhere: then a person can tell which is which.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

LinePoints = Float[np.ndarray, "_ 2"]  # rows and columns, a step apart

STEP = 2.0  # px between two points of a line
_MARGIN = 14.0  # px to the borders of the picture
_TRIES = 60  # lines drawn before the picture is left with those that it has
_ANGLE = 0.6  # radians: crossings are no shallower
_SHORTEST = 0.6  # of the shorter side of the picture
_WAVES = (160.0, 480.0)  # px, lengths of the waves of a smooth line
_SWING = 0.55  # radians, of each wave
_LEG = (32.0, 100.0)  # px between the corners of a zigzag
_CORNER = (np.pi / 4, 3 * np.pi / 4)  # radians that it turns there


@dataclass(frozen=True)
class Room:
    """What lines leave free of each other, in px."""

    apart: float = 16.0  # between lines that do not cross
    clear: float = 36.0  # of a crossing: no other one, no end and no corner is nearer


def several(
    draw: Callable[[], LinePoints | None], count: int, room: Room, least: float
) -> list[LinePoints]:
    """Draw lines until there are so many that cross clearly, or none more is found."""
    kept: list[LinePoints] = []
    for _ in range(_TRIES):
        line = draw()
        if line is None or len(line) * STEP < least:
            continue
        if is_clear(line, line, room) and _crossings_apart([*kept, line], room):
            kept.append(line)
        if len(kept) == count:
            break
    return kept


def shortest(shape: tuple[int, int]) -> float:
    """The least length of a line, px."""
    return _SHORTEST * min(shape)


def smooth_line(shape: tuple[int, int], rng: np.random.Generator) -> LinePoints | None:
    """A line that swings slowly, from near one border to another or to its end."""
    steps = int(1.4 * np.hypot(*shape) / STEP)
    along = STEP * np.arange(steps)
    heading = np.full(steps, rng.uniform(-np.pi, np.pi))
    for _ in range(3):
        wave, phase = rng.uniform(*_WAVES), rng.uniform(0, 2 * np.pi)
        heading = heading + rng.normal(0, _SWING) * np.sin(2 * np.pi * along / wave + phase)
    return inside(_walked(_start(shape, heading[0], rng), heading), shape)


def zigzag(shape: tuple[int, int], rng: np.random.Generator) -> LinePoints | None:
    """Straight legs that turn at corners, left and right in turn."""
    way, side = rng.uniform(-np.pi, np.pi), rng.choice([-1, 1])
    heading = []
    turn = rng.uniform(*_CORNER)
    way -= side * turn / 2
    while len(heading) < 1.4 * np.hypot(*shape) / STEP:
        heading += [way] * int(rng.uniform(*_LEG) / STEP)
        way, side = way + side * turn, -side
        turn = float(np.clip(turn + rng.normal(0, 0.2), *_CORNER))
    return inside(_walked(_start(shape, way, rng), np.array(heading)), shape)


def random_walk(shape: tuple[int, int], rng: np.random.Generator) -> LinePoints | None:
    """A height that moves up or down at every step along one axis, and is pulled back a little."""
    flat = rng.random() < 0.5
    length, height = (shape[1], shape[0]) if flat else shape
    steps = int((length - 2 * _MARGIN) / STEP)
    spread, middle = rng.uniform(1.0, 3.0), rng.uniform(0.2, 0.8) * height
    moves = rng.normal(0, spread, steps)
    level, pull = np.empty(steps), rng.uniform(0.0, 0.02)
    level[0] = middle
    for k in range(1, steps):
        level[k] = level[k - 1] + moves[k] + pull * (middle - level[k - 1])
    if level.min() < _MARGIN or level.max() > height - _MARGIN:
        return None
    walk = np.stack([level, _MARGIN + STEP * np.arange(steps)], 1)
    return walk if flat else walk[:, ::-1]


def _start(shape: tuple[int, int], way: float, rng: np.random.Generator) -> Float[np.ndarray, "2"]:
    """A place from which a direction leads across the picture."""
    size = np.array(shape, float)
    back = np.array([np.sin(way), np.cos(way)])
    return size / 2 - back * rng.uniform(0.25, 0.45) * size + rng.uniform(-0.25, 0.25, 2) * size


def _walked(start: Float[np.ndarray, "2"], heading: Float[np.ndarray, " steps"]) -> LinePoints:
    steps = STEP * np.stack([np.sin(heading), np.cos(heading)], 1)
    return start + np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def inside(line: LinePoints, shape: tuple[int, int]) -> LinePoints | None:
    """The longest stretch of a line inside the borders' margin."""
    there = ((line >= _MARGIN) & (line <= np.array(shape) - 1 - _MARGIN)).all(1)
    border = np.flatnonzero(np.diff(np.concatenate([[False], there, [False]]).astype(int)))
    if not len(border):
        return None
    begin, end = border[::2], border[1::2]
    longest = int((end - begin).argmax())
    return line[begin[longest] : end[longest]]


def is_clear(line: LinePoints, other: LinePoints, room: Room) -> bool:
    """Whether two lines, or a line and itself, cross clearly and keep their distance elsewhere."""
    at = crossings(line, other)
    if not _at_angles(line, other, at):
        return False
    for own, places in ((line, at[:, 0]), (other, at[:, 1])):
        corner = _corners(own)
        marks = np.concatenate([[0, len(own) - 1], np.flatnonzero(corner)])
        if len(places) and np.abs(marks[:, None] - places).min() * STEP < room.clear / 2:
            return False
        gaps = np.abs(places[:, None] - places)[~np.eye(len(places), dtype=bool)]
        if len(gaps) and gaps.min() * STEP < room.clear:
            return False
    far = np.linalg.norm(line[:, None] - other, axis=2)
    near = far < room.apart
    row, col = np.arange(len(line))[:, None], np.arange(len(other))
    reach = 2.5 * room.apart / STEP
    if line is other:
        near &= np.abs(row - col) > reach
    for first, second in at:
        near &= ~((np.abs(row - first) < reach) & (np.abs(col - second) < reach))
    return not near.any()


def crossings(line: LinePoints, other: LinePoints) -> np.ndarray:
    """The steps of both lines at which they cross; of a line with itself each pair once."""
    p, q, r, s = line[:-1, None], line[1:, None], other[:-1], other[1:]

    def left(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> Bool[np.ndarray, "n m"]:
        ahead, beside = b - a, c - a
        return ahead[..., 0] * beside[..., 1] - ahead[..., 1] * beside[..., 0] >= 0

    met = (left(p, q, r) != left(p, q, s)) & (left(r, s, p) != left(r, s, q))
    if line is other:
        met = np.triu(met, 3)
    return np.argwhere(met)


def _at_angles(line: LinePoints, other: LinePoints, at: np.ndarray) -> bool:
    for first, second in at:
        one, two = line[first + 1] - line[first], other[second + 1] - other[second]
        cosine = abs(one @ two) / (np.linalg.norm(one) * np.linalg.norm(two))
        if np.arccos(min(cosine, 1.0)) < _ANGLE:
            return False
    return True


def _corners(line: LinePoints) -> Bool[np.ndarray, " points"]:
    step = np.diff(line, axis=0)
    turn = step[1:, 0] * step[:-1, 1] - step[1:, 1] * step[:-1, 0]
    found = np.zeros(len(line), bool)
    found[1:-1] = np.abs(turn) > 0.5 * STEP**2
    return found


def _crossings_apart(lines: Sequence[LinePoints], room: Room) -> bool:
    """Whether the last line crosses the others clearly, and no two crossings are near."""
    *others, line = lines
    if not all(is_clear(line, one, room) for one in others):
        return False
    places = [line[crossings(line, one)[:, 0]] for one in others]
    places += [one[crossings(one, two)[:, 0]] for k, one in enumerate(others) for two in others[:k]]
    places += [one[crossings(one, one)[:, 0]] for one in lines]
    whole = np.concatenate(places or [np.zeros((0, 2))])
    far = np.linalg.norm(whole[:, None] - whole, axis=2)[~np.eye(len(whole), dtype=bool)]
    return not len(far) or bool(far.min() >= room.clear)
