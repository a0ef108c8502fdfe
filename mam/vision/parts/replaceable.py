"""Placements of parts that others can replace.

What replaces a placement covers all its ON pixels, and so does what replaces that one. So only
those that are left are compared with each other: most go by one comparison, with the best placement
uphill, more by one with the best at each place nearby, and only the few others meet all.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped, UInt64

from mam.factors import Ragged
from mam.vision.parts.masks import Parts
from mam.vision.parts.window_words import packed

_PLACES = 1 << 17  # beside spots that are looked up at a time
_AT_ONCE = 1 << 20  # pairs of placements that are compared at a time, at most
_NEAR = 2  # px: where one that is best replaces most of what is left
_DOUBLINGS = 2  # of the way uphill: then it leads as far as placements share pixels


def reach_of(parts: Parts) -> int:
    """How far apart placements may be, px, that share pixels; at least 1."""
    return max(parts.side - 1, 1)


@dataclass(frozen=True, eq=False)
class MovedWords:
    """The parts as words, seen from places within reach of their own."""

    reach: int  # px
    offsets: Int[np.ndarray, "offsets 2"]
    shifted: UInt64[np.ndarray, "words offsets types"]  # a part moved and cut to the window

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, parts: Parts) -> "MovedWords":
        """Those of some parts; remembered."""
        reach = reach_of(parts)
        moved, offsets = parts.moved(reach)
        return cls(reach, offsets, packed(moved))

    def within(self, reach: int) -> Int[np.ndarray, " near"]:
        """Which offsets are no farther than that."""
        return np.flatnonzero(np.abs(self.offsets).max(1) <= reach)


@dataclass(frozen=True, eq=False)
class Contenders:
    """Placements in an image, sorted by place and type."""

    width: int  # of the images in their rims
    number: Int[np.ndarray, " pixels"]  # all -1, but while spots are ``numbered``
    place: Int[np.ndarray, " placed"]  # number of the pixel
    type: Int[np.ndarray, " placed"]
    worth: Float[np.ndarray, " placed"]
    covered: Shaped[np.ndarray, " placed"]  # number of ON pixels
    spilled: Shaped[np.ndarray, " placed"]  # number of OFF pixels
    on: UInt64[np.ndarray, "words placed"]  # the ON pixels

    def take(self, kept: Bool[np.ndarray, " placed"]) -> "Contenders":
        """Those that are kept."""
        which = np.flatnonzero(kept)
        return Contenders(
            self.width,
            self.number,
            self.place[which],
            self.type[which],
            self.worth[which],
            self.covered[which],
            self.spilled[which],
            self.on[:, which],
        )

    @cached_property
    def by_spot(self) -> Ragged:
        """The placements at every place that has any."""
        size = len(self.place)
        first = np.append(True, self.place[1:] != self.place[:-1])[:size]
        return Ragged(np.arange(size), np.append(np.flatnonzero(first), size))

    @cached_property
    def best(self) -> Int[np.ndarray, " spots"]:
        """The first of those that are worth most at every spot."""
        first = self.by_spot.offsets[:-1]
        top = np.maximum.reduceat(self.worth, first)
        tops = np.flatnonzero(self.worth == np.repeat(top, self.by_spot.lengths))
        return tops[np.searchsorted(tops, first)]

    @cached_property
    def spots(self) -> Int[np.ndarray, " spots"]:
        """Their places, each once."""
        return self.place[self.by_spot.offsets[:-1]]

    @contextmanager
    def numbered(self) -> Iterator[Int[np.ndarray, " pixels"]]:
        """The number of the spot at each pixel, -1 where there is none."""
        self.number[self.spots] = np.arange(len(self.spots), dtype=np.int32)
        try:
            yield self.number
        finally:
            self.number[self.spots] = -1


class _Pairs(NamedTuple):
    """Placements, others that might replace them, and where these are, seen from them."""

    one: Int[np.ndarray, " pairs"]
    other: Int[np.ndarray, " pairs"]
    offset: Int[np.ndarray, " pairs"]


def undominated(placed: Contenders, moved: MovedWords) -> Contenders:
    """Those placements that no other one can replace."""
    for rivals in (_uphill, _bests, _all):
        kept = np.ones(len(placed.type), bool)
        for pairs in rivals(placed, moved):
            kept[_replaced(placed, pairs, moved)] = False
        placed = placed.take(kept)
    return placed


def _uphill(placed: Contenders, moved: MovedWords) -> Iterator[_Pairs]:
    """Each placement with the best one that is reached by going to the best spot beside."""
    if not len(placed.type):
        return
    steps = moved.offsets[moved.within(1)] @ np.array([placed.width, 1])
    with placed.numbered() as number:
        beside = number.take(placed.spots[:, None] + steps)
    top = np.append(placed.worth[placed.best], -np.inf)
    summit = np.take_along_axis(beside, top[beside].argmax(1)[:, None], 1)[:, 0]
    for _ in range(_DOUBLINGS):
        summit = summit[summit]
    place = np.stack(np.divmod(placed.spots, placed.width), 1)
    step = place[summit] - place
    offset = (step + moved.reach) @ np.array([2 * moved.reach + 1, 1])
    spot = placed.by_spot.row_of_value
    one = np.flatnonzero((np.abs(step).max(1) <= moved.reach)[spot])
    yield _Pairs(one, placed.best[summit][spot[one]], offset[spot[one]])


def _bests(placed: Contenders, moved: MovedWords) -> Iterator[_Pairs]:
    """Each placement with the best one at every spot nearby."""
    if len(placed.by_spot) == len(placed.type):
        return  # all are
    for mine, there, offset in _spots_near(placed, moved, _NEAR):
        pair = mine.row_of_value
        yield _Pairs(mine.values, placed.best[there[pair]], offset[pair])


def _all(placed: Contenders, moved: MovedWords) -> Iterator[_Pairs]:
    """Each placement with all others within reach."""
    for mine, there, offset in _spots_near(placed, moved, moved.reach):
        pair = mine.row_of_value
        others = placed.by_spot.take(there[pair])
        again = others.row_of_value
        yield _Pairs(mine.values[again], others.values, offset[pair[again]])


def _spots_near(
    placed: Contenders, moved: MovedWords, reach: int
) -> Iterator[tuple[Ragged, Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]]:
    """Pairs of spots, some at a time: the placements at one, the other, and its offset."""
    near, most = moved.within(reach), int(placed.by_spot.lengths.max(initial=1))
    size, few = max(_PLACES // len(near), 1), max(_AT_ONCE // most**2, 1)
    steps = moved.offsets[near] @ np.array([placed.width, 1])
    with placed.numbered() as number:
        for begin in range(0, len(placed.spots), size):
            beside = number.take(placed.spots[begin : begin + size, None] + steps)
            spot, offset = np.divmod(np.flatnonzero(beside >= 0), len(near))
            there, offset = beside[spot, offset], near[offset]
            for first in range(0, len(spot), few):
                some = slice(first, first + few)
                yield placed.by_spot.take(spot[some] + begin), there[some], offset[some]


def _replaced(placed: Contenders, pairs: _Pairs, moved: MovedWords) -> Int[np.ndarray, " replaced"]:
    """The placements that their others can replace; some come twice."""
    one, other, offset = pairs
    n, f, n_there, f_there = (
        values[which] for which in (one, other) for values in (placed.covered, placed.spilled)
    )
    able = (n_there >= n) & (f_there <= f)
    able &= (other < one) | (n_there > n) | (f_there < f)
    (some,) = np.nonzero(able)
    one, other, offset = one[some], other[some], offset[some]
    outside = placed.on[:, one] & ~moved.shifted[:, offset, placed.type[other]]
    return one[(outside == 0).all(0)]
