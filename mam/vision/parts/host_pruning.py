"""The pruning of ``candidates.py`` in numpy, on the host.

The same rules and the same answers, without anything to compile and without padding. A window of up
to 8 x 8 pixels is one word, so that covering is one AND.

What replaces a placement covers all its ON pixels, and so does what replaces that one. So only
those that are left are compared with each other: most go by one comparison, with the best placement
uphill, more by one with the best at each place nearby, and only the few others meet all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int8, Shaped, UInt64
from numpy.lib.stride_tricks import sliding_window_view

from mam.core.boxes import box_sums
from mam.factors import Ragged
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.masks import Parts

_WORD = 64
LARGEST_SIDE = _WORD  # px of a part: a row of it is in one word
_PIXELS = 400_000  # of images that are looked at together: arrays that stay in caches
_AT_ONCE = 1 << 20  # pairs of placements that are compared at a time
_NEAR = 2  # px: where one that is best replaces most of what is left
_DOUBLINGS = 2  # of the way uphill: then it leads as far as placements share pixels


def prune_on_host(
    states: Sequence[Int8[np.ndarray, "_ _"]], parts: Parts, pruning: str
) -> PartCandidates:
    """List the placements that may be ON in a best explanation of each image.

    ``states`` are 1 (ON), -1 (OFF) or 0 (unknown); a part is placed by its middle. The list is
    sorted by image, row, column and type. ``pruning`` is "strong" or "none".
    """
    rules = _Rules.of(parts, pruning)
    found = [np.zeros((4, 0), np.int64)]
    found += [_pruned(states, some, rules) for some in _stacks([state.shape for state in states])]
    return PartCandidates(*np.concatenate(found, 1))


def _stacks(shapes: Sequence[tuple[int, ...]]) -> Iterator[slice]:
    """Images that follow each other and fit in a column of not too many pixels."""
    first, pixels = 0, 0
    for number, (rows, cols) in enumerate(shapes):
        pixels += rows * cols
        if number > first and (cols != shapes[first][1] or pixels > _PIXELS):
            yield slice(first, number)
            first, pixels = number, rows * cols
    if len(shapes):
        yield slice(first, len(shapes))


def _pruned(
    states: Sequence[Int8[np.ndarray, "_ _"]], some: slice, rules: "_Rules"
) -> Int[np.ndarray, "4 placed"]:
    """Image, row, column and type of the placements in some images of one width."""
    stack = _Stack.of(states[some], rules.rim)
    placed = _worthy(stack, rules)
    for rivals in (_uphill, _bests, _all) if rules.strong else ():
        kept = np.ones(len(placed.type), bool)
        for pairs in rivals(placed, rules):
            kept[_replaced(placed, pairs, rules)] = False
        placed = placed.take(kept)
    row, column = np.divmod(placed.place, stack.pixels.shape[1])
    image = np.searchsorted(stack.top, row, "right") - 1
    return np.stack([image + some.start, row - stack.top[image], column - rules.rim, placed.type])


class _Stack(NamedTuple):
    """Images one below the other.

    Unknown pixels around each of them keep them apart, and then nothing lies outside.
    """

    pixels: Int8[np.ndarray, "rows cols"]
    top: Int[np.ndarray, " images"]  # their first rows
    beyond: Bool[np.ndarray, " rows"]  # the rows that are of none

    @classmethod
    def of(cls, states: Sequence[Int8[np.ndarray, "_ cols"]], rim: int) -> "_Stack":
        rows = np.array([len(state) for state in states])
        top = np.cumsum(rows + rim) - rows
        size = int(rows.sum()) + rim * (len(rows) + 1)
        pixels = np.zeros((size, states[0].shape[1] + 2 * rim), np.int8)
        beyond = np.ones(size, bool)
        for state, first in zip(states, top.tolist(), strict=True):
            pixels[first : first + len(state), rim:-rim] = state
            beyond[first : first + len(state)] = False
        return cls(pixels, top, beyond)


@dataclass(frozen=True, eq=False)
class _Rules:
    """The parts as words, alone and seen from a neighbour, and which placements are worth it."""

    side: int
    strong: bool
    own: UInt64[np.ndarray, "words types"]
    shifted: UInt64[np.ndarray, "words offsets types"]  # a part moved and cut to the window
    offsets: Int[np.ndarray, "offsets 2"]
    worth: Float[np.ndarray, "sizes sizes"]  # by the number of ON and of OFF pixels covered
    spill: Shaped[np.ndarray, " sizes"]  # by that of ON pixels, the fewest OFF ones that spoil it
    sizes: Shaped[np.ndarray, " types"]  # pixels of each part
    enough: Shaped[np.ndarray, " types"]  # ON pixels that make it worth it where the others are OFF
    least_on: int  # ON pixels that a window needs
    least: int  # that are ON or unknown

    @property
    def rim(self) -> int:
        return max(self.side - 1, 1)

    def within(self, reach: int) -> Int[np.ndarray, " near"]:
        """Which offsets are no farther than that."""
        return np.flatnonzero(np.abs(self.offsets).max(1) <= reach)

    @classmethod
    @lru_cache(maxsize=16)
    def of(cls, parts: Parts, pruning: str) -> "_Rules":
        strong, noise = pruning == "strong", parts.noise
        gain, loss, prior = np.array([noise.gain, noise.loss, noise.prior], np.float32)
        number = np.arange(int(parts.sizes.max()) + 1)
        amount = number.astype(np.float32)
        worth = gain * amount[:, None] - strong * loss * amount + prior
        spill = (worth > 0).sum(1)
        pays = parts.sizes[:, None] - number < spill
        worthy = np.flatnonzero(spill)
        least_on = int(worthy.min(initial=len(number)))
        # With so many ON, a part must have no more OFF than that; all others are not OFF.
        least = int(np.maximum(worthy, parts.sizes.min() - spill[worthy] + 1).min(initial=least_on))
        moved, offsets = parts.moved(max(parts.side - 1, 1))
        own = _packed(parts.masks)
        small = np.uint8 if len(own) == 1 else np.int16
        return cls(
            side=parts.side,
            strong=strong,
            own=own,
            shifted=_packed(moved),
            offsets=offsets,
            worth=worth,
            spill=spill.astype(small),
            sizes=parts.sizes.astype(small),
            enough=np.where(pays.any(1), pays.argmax(1), len(number)).astype(small),
            least_on=least_on,
            least=least,
        )


def _packed(masks: Bool[np.ndarray, "*batch side side"]) -> UInt64[np.ndarray, "words *batch"]:
    """Masks as words of whole rows."""
    side = masks.shape[-1]
    codes = (masks.astype(np.uint64) << np.arange(side, dtype=np.uint64)).sum(-1, dtype=np.uint64)
    return _words([codes[..., row] for row in range(side)])


def _words(rows: Sequence[UInt64[np.ndarray, "*batch"]]) -> UInt64[np.ndarray, "words *batch"]:
    """Codes of rows, as many in a word as fit."""
    side, each = len(rows), _WORD // len(rows)
    words = []
    for first in range(0, side, each):
        some = rows[first : first + each]
        word = some[0]
        for place, code in enumerate(some[1:], 1):
            word = word | code << np.uint64(place * side)
        words.append(word)
    return np.stack(words)


@dataclass(frozen=True, eq=False)
class _Placed:
    """Placements in an image, sorted by place and type."""

    width: int  # of the images in their rims
    number: Int[np.ndarray, " pixels"]  # all -1, but while ``beside`` looks up places in it
    place: Int[np.ndarray, " placed"]  # number of the pixel
    type: Int[np.ndarray, " placed"]
    worth: Float[np.ndarray, " placed"]
    covered: Shaped[np.ndarray, " placed"]  # number of ON pixels
    spilled: Shaped[np.ndarray, " placed"]  # number of OFF pixels
    on: UInt64[np.ndarray, "words placed"]  # the ON pixels

    def take(self, kept: Bool[np.ndarray, " placed"]) -> "_Placed":
        which = np.flatnonzero(kept)
        return _Placed(
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

    def beside(
        self, offsets: Int[np.ndarray, "offsets 2"], some: slice = slice(None)
    ) -> Int[np.ndarray, "spots offsets"]:
        """The spot at each offset from some of the spots; -1: there is none."""
        place = self.place[self.by_spot.offsets[:-1]]
        self.number[place] = np.arange(len(place), dtype=np.int32)
        found = self.number.take(place[some, None] + offsets @ np.array([self.width, 1]))
        self.number[place] = -1
        return found


class _Pairs(NamedTuple):
    """Placements, others that might replace them, and where these are, seen from them."""

    one: Int[np.ndarray, " pairs"]
    other: Int[np.ndarray, " pairs"]
    offset: Int[np.ndarray, " pairs"]


def _worthy(stack: _Stack, rules: _Rules) -> _Placed:
    """The placements with a positive gain bound."""
    pixels, (place, whole) = stack.pixels, _promising(stack, rules)
    on = _windows(pixels > 0, place, rules.side)
    covered = _counts(on, rules.own)
    spilled, worthy = rules.sizes - covered, covered >= rules.enough
    other = np.flatnonzero(~whole)
    off = _packed(_cut_out(pixels < 0, place[other], rules.side))
    spilled[other] = _counts(off, rules.own)
    worthy[other] = spilled[other] < rules.spill.take(covered[other])
    which = np.flatnonzero(worthy)
    spot, type_ = np.divmod(which, len(rules.own[0]))
    covered, spilled = covered.ravel().take(which), spilled.ravel().take(which)
    mine = on.take(spot, 1) & rules.own.take(type_, 1)
    worth = rules.worth.ravel().take(covered.astype(np.int64) * len(rules.worth) + spilled)
    number = np.full(pixels.size, -1, np.int32)
    return _Placed(pixels.shape[1], number, place[spot], type_, worth, covered, spilled, mine)


def _promising(
    stack: _Stack, rules: _Rules
) -> tuple[Int[np.ndarray, " places"], Bool[np.ndarray, " places"]]:
    """The pixels of the images with enough in their windows, and whether all of that is known."""
    rim, first = rules.rim, rules.rim - rules.side // 2  # of the windows of the images' own pixels
    seen = stack.pixels[first : -first or None, first : -first or None]
    on, able = box_sums(seen > 0, rules.side), box_sums(seen >= 0, rules.side)
    enough = (on >= rules.least_on) & (able >= rules.least)
    enough[stack.beyond[rim:-rim]] = False
    which = np.flatnonzero(enough)
    row, column = np.divmod(which, enough.shape[1])
    place = (row + rim) * stack.pixels.shape[1] + column + rim
    return place, on.ravel()[which] == able.ravel()[which]


def _windows(
    pixels: Bool[np.ndarray, "rows cols"], places: Int[np.ndarray, " places"], side: int
) -> UInt64[np.ndarray, "words places"]:
    """Pack the windows around some pixels into words."""
    cols, reach = pixels.shape[1], side // 2
    word = next(k for k in (np.uint8, np.uint16, np.uint32, np.uint64) if k(0).itemsize * 8 >= side)
    codes, known = pixels.ravel().astype(word), 1  # bits of this pixel and of those to its right
    while known < side:
        more = min(known, side - known)
        codes[:-more] |= codes[more:] << word(more)
        known += more
    left = places - reach
    rows = [codes.take(left + (row - reach) * cols) for row in range(side)]
    return _words([row.astype(np.uint64) for row in rows])


def _cut_out(
    pixels: Bool[np.ndarray, "rows cols"], places: Int[np.ndarray, " places"], side: int
) -> Bool[np.ndarray, "places side side"]:
    """The windows around a few pixels."""
    corner = np.stack(np.divmod(places, pixels.shape[1])) - side // 2
    return sliding_window_view(pixels, (side, side))[*corner]


def _counts(
    words: UInt64[np.ndarray, "words spots"], own: UInt64[np.ndarray, "words types"]
) -> Shaped[np.ndarray, "spots types"]:
    counts = [np.bitwise_count(a[:, None] & b) for a, b in zip(words, own, strict=True)]
    return counts[0] if len(counts) == 1 else np.stack(counts).sum(0, dtype=np.int16)


def _where(
    which: Bool[np.ndarray, "rows cols"],
) -> tuple[Int[np.ndarray, " found"], Int[np.ndarray, " found"]]:
    """Rows and columns; where few are True, many times as fast as nonzero."""
    row, column = np.divmod(np.flatnonzero(which), max(which.shape[1], 1))
    return row, column


def _uphill(placed: _Placed, rules: _Rules) -> Iterator[_Pairs]:
    """Each placement with the best one that is reached by going to the best spot beside."""
    if not len(placed.type):
        return
    beside = placed.beside(rules.offsets[rules.within(1)])
    top = np.append(placed.worth[placed.best], -np.inf)
    summit = np.take_along_axis(beside, top[beside].argmax(1)[:, None], 1)[:, 0]
    for _ in range(_DOUBLINGS):
        summit = summit[summit]
    place = np.stack(np.divmod(placed.place[placed.by_spot.offsets[:-1]], placed.width), 1)
    step = place[summit] - place
    offset = (step + rules.rim) @ np.array([2 * rules.rim + 1, 1])
    spot = placed.by_spot.row_of_value
    one = np.flatnonzero((np.abs(step).max(1) <= rules.rim)[spot])
    yield _Pairs(one, placed.best[summit][spot[one]], offset[spot[one]])


def _bests(placed: _Placed, rules: _Rules) -> Iterator[_Pairs]:
    """Each placement with the best one at every spot nearby."""
    if len(placed.by_spot) == len(placed.type):
        return  # all are
    for mine, there, offset in _spots_near(placed, rules, _NEAR):
        pair = mine.row_of_value
        yield _Pairs(mine.values, placed.best[there[pair]], offset[pair])


def _all(placed: _Placed, rules: _Rules) -> Iterator[_Pairs]:
    """Each placement with all others within reach."""
    for mine, there, offset in _spots_near(placed, rules, rules.rim):
        pair = mine.row_of_value
        others = placed.by_spot.take(there[pair])
        again = others.row_of_value
        yield _Pairs(mine.values[again], others.values, offset[pair[again]])


def _spots_near(
    placed: _Placed, rules: _Rules, reach: int
) -> Iterator[tuple[Ragged, Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]]:
    """Pairs of spots, some at a time: the placements at one, the other, and its offset."""
    near, most = rules.within(reach), int(placed.by_spot.lengths.max(initial=1))
    step, few = max(_AT_ONCE // len(near), 1), max(_AT_ONCE // most**2, 1)
    for begin in range(0, len(placed.by_spot), step):
        beside = placed.beside(rules.offsets[near], slice(begin, begin + step))
        spot, offset = _where(beside >= 0)
        there, offset = beside[spot, offset], near[offset]
        for first in range(0, len(spot), few):
            some = slice(first, first + few)
            yield placed.by_spot.take(spot[some] + begin), there[some], offset[some]


def _replaced(placed: _Placed, pairs: _Pairs, rules: _Rules) -> Int[np.ndarray, " replaced"]:
    """The placements that their others can replace; some come twice."""
    one, other, offset = pairs
    n, f, n_there, f_there = (
        values[which] for which in (one, other) for values in (placed.covered, placed.spilled)
    )
    able = (n_there >= n) & (f_there <= f)
    able &= (other < one) | (n_there > n) | (f_there < f)
    (some,) = np.nonzero(able)
    one, other, offset = one[some], other[some], offset[some]
    outside = placed.on[:, one] & ~rules.shifted[:, offset, placed.type[other]]
    return one[(outside == 0).all(0)]
