"""Pictures of a learned continuation: where contours go on, and which parts follow a part."""

import base64
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.svg import PALETTE
from mam.data.images import encode_png
from mam.show.sheet import Picture, contact_sheet
from mam.vision.curves.strokes.co_occurrences import CoOccurrences
from mam.vision.curves.strokes.continuation import SmoothContinuation
from mam.vision.curves.strokes.poses import Poses, find_poses
from mam.vision.curves.strokes.stroke_pairs import find_pairs
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements

_TURNS = 45  # directions of the other stroke that are tried
_EVERY = 3  # px between the strokes drawn into the field
_DARK = np.array([16, 18, 24])
_WHITE = np.array([235, 235, 235], np.uint8)
_SCALE = 4  # px of a tile a pixel of a part
_STROKE = 5.0  # px, length of a stroke as drawn


class Field(NamedTuple):
    """For every place of another stroke: its best direction, and how well it continues there."""

    steps: Float[np.ndarray, " side"]  # px from the stroke, the same down and to the right
    log_odds: Float[np.ndarray, "side side"]  # -inf out of reach
    angle: Float[np.ndarray, "side side"]  # radians


def continuation_field(continuation: SmoothContinuation, step: float = 1.0) -> Field:
    """Lay a stroke flat, another one everywhere around it, and ask the potential."""
    reach = continuation.reach
    steps = np.arange(-reach, reach + step / 2, step)
    turns = np.arange(_TURNS) * np.pi / _TURNS - np.pi / 2
    down, right, turn = (grid.ravel() for grid in np.meshgrid(steps, steps, turns, indexing="ij"))
    score = _beside(continuation, np.zeros(3), np.stack([down, right, turn], 1))[0]
    score = score.reshape(len(steps), len(steps), _TURNS)
    return Field(steps, score.max(2), turns[score.argmax(2)])


def _beside(
    continuation: SmoothContinuation,
    own: Float[np.ndarray, "3"],
    others: Float[np.ndarray, "others 3"],
) -> tuple[Float[np.ndarray, " others"], Int[np.ndarray, " others"]]:
    """How well each other stroke (row, column, angle) continues one, and at which of its ends."""
    count = len(others)
    both = np.stack([np.broadcast_to(own, others.shape), others], 1).reshape(-1, 3)
    nothing = np.zeros(2 * count, np.int64)
    # Every pair is an image of its own, so that only strokes of one pair meet.
    image = np.repeat(np.arange(count), 2)
    length = np.full(2 * count, _STROKE)
    poses = Poses(image, both[:, :2], both[:, 2], length, nothing, np.zeros((2 * count, 2), int))
    pairs = find_pairs(poses, continuation.reach)
    score, side = np.full(count, -np.inf), np.zeros(count, np.int64)
    number = pairs.pose[:, 0] // 2
    score[number] = continuation.log_odds(pairs)
    side[number] = pairs.side[:, 0]
    return score, side


def field_svg(field: Field) -> str:
    """Draw the field: orange where a continuation is likelier than not, strokes in its direction.

    >>> flat = Field(np.arange(-3.0, 4.0), np.ones((7, 7)), np.zeros((7, 7)))
    >>> field_svg(flat).count("<line")
    9
    """
    reach = field.steps[-1]
    pixels = base64.b64encode(encode_png(_glow(field.log_odds))).decode()
    place = f'x="{-reach - 0.5}" y="{-reach - 0.5}" width="{2 * reach + 1}"'
    strokes = [
        _stroke(row, col, field.angle[i, j], "#fff", 0.45)
        for i, row in enumerate(field.steps)
        for j, col in enumerate(field.steps)
        if _on_lattice(row) and _on_lattice(col) and (row or col) and field.log_odds[i, j] > 0
    ]
    own = _stroke(0.0, 0.0, 0.0, "var(--series-1)", 1.2)
    return (
        f'<svg viewBox="{-reach} {-reach} {2 * reach} {2 * reach}" role="img" '
        'aria-label="the learned continuation">'
        f'<image {place} height="{2 * reach + 1}" href="data:image/png;base64,{pixels}"/>'
        f"{''.join(strokes)}{own}</svg>"
    )


def _on_lattice(value: float) -> bool:
    return float(value) % _EVERY == 0


def _stroke(row: float, col: float, angle: float, colour: str, width: float) -> str:
    down, right = (_STROKE / 4 * turn for turn in (np.sin(angle), np.cos(angle)))
    return (
        f'<line x1="{col - right:.2f}" y1="{row - down:.2f}" x2="{col + right:.2f}" '
        f'y2="{row + down:.2f}" stroke="{colour}" stroke-width="{width}" stroke-linecap="round"/>'
    )


def _glow(log_odds: Float[np.ndarray, "rows cols"]) -> Picture:
    """Dark where nothing continues, the first colour of the palette from even odds on."""
    top = max(float(log_odds.max()), 1.0)
    share = np.clip((log_odds + 4) / 8, 0, 1) ** 2 * np.where(log_odds > 0, 1.0, 0.7)
    bright = np.clip(log_odds / top, 0, 1)[..., None]
    colour = _DARK + share[..., None] * (PALETTE[0] - _DARK)
    return np.rint(colour + 0.3 * bright * (255 - colour)).astype(np.uint8)


def followers(
    parts: Parts, continuation: SmoothContinuation, kind: int, side: int, count: int = 12
) -> list[tuple[float, Picture]]:
    """The part types that best follow a part at one end, each at its best place; best first."""
    poses = _alone(parts)
    steps = np.arange(-int(continuation.reach), int(continuation.reach) + 1)
    other, down, right = (
        grid.ravel() for grid in np.meshgrid(np.arange(len(parts)), steps, steps, indexing="ij")
    )
    offset = np.stack([down, right], 1)
    lying = np.concatenate([poses.middle[other] + offset, poses.angle[other, None]], 1)
    own = np.array([*poses.middle[kind], poses.angle[kind]])
    score, end = _beside(continuation, own, lying)
    score = np.where(end == side, score, -np.inf).reshape(len(parts), -1)
    best = score.argmax(1)
    offsets = offset.reshape(len(parts), -1, 2)
    ranked = np.argsort(-score.max(1), kind="stable")[:count]
    found = [int(one) for one in ranked if np.isfinite(score[one, best[one]])]
    at = {one: offsets[one, best[one]] for one in found}
    room = max((int(np.abs(place).max()) for place in at.values()), default=0)
    return [
        (float(score[one, best[one]]), _tile(parts.masks, (kind, one), at[one], room))
        for one in found
    ]


def seen_followers(
    parts: Parts, seen: CoOccurrences, kind: int, side: int, count: int = 12
) -> list[tuple[int, Picture]]:
    """The placements most often seen on one side of a part, most often first."""
    after, times = seen.following(kind, side)
    after, times = after[:count], times[:count]
    room = int(np.abs(after[:, 1:]).max(initial=0))
    tiles = [_tile(parts.masks, (kind, int(one[0])), one[1:], room) for one in after]
    return list(zip(times.tolist(), tiles, strict=True))


def seen_sheet(found: list[tuple[int, Picture]]) -> Picture:
    """Draw followers side by side under how often they were seen."""
    return contact_sheet([(f"{times}x", [tile]) for times, tile in found], columns=6)


def follower_sheet(found: list[tuple[float, Picture]]) -> Picture:
    """Draw followers side by side under their log odds."""
    return contact_sheet([(f"{score:+.1f}", [tile]) for score, tile in found], columns=6)


def _alone(parts: Parts) -> Poses:
    """The pose of every part type on an image of nothing else; the middle pixel is (0, 0)."""
    here = np.full(1, parts.radius)
    size = (parts.side, parts.side)
    there = [
        Placements(np.full(1, kind), here, here, np.ones(1), size, 0.0)
        for kind in range(len(parts))
    ]
    poses = find_poses([mask.astype(float) for mask in parts.masks], there, parts)
    return Poses(
        poses.image,
        poses.middle - parts.radius,
        poses.angle,
        poses.length,
        poses.type,
        poses.place,
    )


def _tile(
    masks: Bool[np.ndarray, "types side side"],
    kinds: tuple[int, int],
    offset: Int[np.ndarray, "2"],
    room: int,
) -> Picture:
    """Two parts, the first in the middle and in white, the second beside it in colour."""
    side = masks.shape[1]
    wide = side + 2 * room
    tile = np.broadcast_to(_DARK.astype(np.uint8), (wide, wide, 3)).copy()
    places = (np.zeros(2, int), offset)
    for kind, at, colour in zip(kinds, places, (_WHITE, PALETTE[0]), strict=True):
        top, left = room + at
        tile[top : top + side, left : left + side][masks[kind]] = colour
    return np.repeat(np.repeat(tile, _SCALE, 0), _SCALE, 1)
