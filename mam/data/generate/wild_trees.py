"""Trees of lines, and lines that run on top of each other for a while."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from mam.data.generate.wild_lines import (
    STEP,
    LinePoints,
    Room,
    crossings,
    inside,
    is_clear,
    shortest,
    smooth_line,
)

_TRIES = 40  # branches drawn before a tree is left with those that it has
_FORK = (0.5, 1.1)  # radians between a branch and the limb that it leaves
_SHARE = (40.0, 140.0)  # px that lines have in common
_PART = (0.25, 0.6)  # slope at which they come and part


class Limb(NamedTuple):
    """A line of a tree, and how often it has branched before."""

    line: LinePoints
    depth: int


def tree(shape: tuple[int, int], others: list[LinePoints], rng: np.random.Generator) -> list[Limb]:
    """A trunk with branches on branches, which cross other lines clearly; empty if it has none."""
    room = Room()
    trunk = smooth_line(shape, rng)
    if trunk is None or len(trunk) * STEP < shortest(shape):
        return []
    limbs = [Limb(trunk, 0)]
    if not is_clear(trunk, trunk, room) or len(crossings(trunk, trunk)):
        return []
    forks: list[np.ndarray] = []
    wanted = int(rng.integers(2, 6))
    for _ in range(_TRIES):
        grown = _branch(limbs, forks, shape, rng)
        if grown is not None:
            limb, fork = grown
            limbs.append(limb)
            forks.append(fork)
        if len(forks) == wanted:
            break
    lines = [limb.line for limb in limbs]
    return limbs if forks and _crosses_clearly(lines, others, forks, room) else []


def _branch(
    limbs: list[Limb],
    forks: list[np.ndarray],
    shape: tuple[int, int],
    rng: np.random.Generator,
) -> tuple[Limb, Float[np.ndarray, "2"]] | None:
    """A new limb and its fork, if it stays away from all others."""
    limb, depth = limbs[int(rng.integers(len(limbs)))]
    room = Room()
    away = int(room.clear / STEP)
    if depth > 1 or len(limb) <= 2 * away + 1:
        return None
    at = int(rng.integers(away, len(limb) - away))
    fork = limb[at]
    if any(np.linalg.norm(fork - one) < room.clear for one in forks):
        return None
    way = np.arctan2(*(limb[at + 2] - limb[at - 2])) + rng.choice([-1, 1]) * rng.uniform(*_FORK)
    steps = int(rng.uniform(0.4, 0.8) * len(limb))
    bend = rng.normal(0, 0.004) * STEP * np.arange(steps)
    step = STEP * np.stack([np.sin(way + bend), np.cos(way + bend)], 1)
    line = fork + np.concatenate([np.zeros((1, 2)), np.cumsum(step, axis=0)])
    whole = inside(line, shape)
    if whole is None or len(whole) < away or (whole[0] != fork).any():
        return None
    # Near its own fork a branch is near to its limb.
    outer = whole[int(2 * room.apart / STEP) :]
    for one, _ in limbs:
        if len(outer) and np.linalg.norm(outer[:, None] - one, axis=2).min() < room.apart:
            return None
    return Limb(whole, depth + 1), fork


def _crosses_clearly(
    lines: list[LinePoints], others: list[LinePoints], forks: list[np.ndarray], room: Room
) -> bool:
    if not all(is_clear(line, other, room) for line in lines for other in others):
        return False
    met = [line[crossings(line, other)[:, 0]] for line in lines for other in others]
    places = np.concatenate([*met, np.zeros((0, 2))])
    marks = np.concatenate([places, np.array(forks)])
    far = np.linalg.norm(places[:, None] - marks, axis=2)
    far[np.arange(len(places)), np.arange(len(places))] = np.inf
    return not len(places) or bool(far.min() >= room.clear)


def sharing_lines(shape: tuple[int, int], rng: np.random.Generator) -> list[LinePoints]:
    """Two lines across the picture that have a stretch in common, on either side of which each may
    lie above or below the other.
    """
    rows, cols = shape
    at = np.arange(14.0, cols - 14.0, STEP)
    middle = rows * (0.5 + rng.uniform(-0.05, 0.05))
    for _ in range(2):
        wave, phase = rng.uniform(0.6, 1.6) * cols, rng.uniform(0, 2 * np.pi)
        middle = middle + rng.uniform(0.02, 0.07) * rows * np.sin(2 * np.pi * at / wave + phase)
    length = rng.uniform(*_SHARE)
    begin = rng.uniform(0.25, 0.6) * cols - length / 2
    before, after = np.maximum(begin - at, 0), np.maximum(at - begin - length, 0)
    start, stop = rng.permutation([-1, 1]), rng.permutation([-1, 1])
    ramp = rng.uniform(20.0, 50.0)
    lines = []
    for own in range(2):
        slopes = rng.uniform(*_PART, 2)
        aside = start[own] * _parted(before, slopes[0], ramp, 0.3 * rows)
        aside = aside + stop[own] * _parted(after, slopes[1], ramp, 0.3 * rows)
        lines.append(np.stack([middle + aside, at], 1))
    return lines


def _parted(
    away: Float[np.ndarray, " points"], slope: float, ramp: float, most: float
) -> Float[np.ndarray, " points"]:
    """How far a line is from what it shares, so far away from there: smooth, then straight."""
    far = slope * (np.hypot(away, ramp) - ramp)
    return most * np.tanh(far / most)
