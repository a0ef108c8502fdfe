"""The pruning of ``candidates.py`` in numpy, on the host.

The same rules and the same answers, without anything to compile and without padding.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Int8, Shaped, UInt64

from mam.core.boxes import box_sums
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.masks import Parts
from mam.vision.parts.replaceable import Contenders, MovedWords, reach_of, undominated
from mam.vision.parts.window_words import counts, packed, windows

_PIXELS = 400_000  # of images that are looked at together: arrays that stay in caches


def prune_on_host(
    states: Sequence[Int8[np.ndarray, "_ _"]], parts: Parts, pruning: str
) -> PartCandidates:
    """List the placements that may be ON in a best explanation of each image.

    ``states`` are 1 (ON), -1 (OFF) or 0 (unknown); a part is placed by its middle. The list is
    sorted by image, row, column and type. ``pruning`` is "strong" or "none".
    """
    rules, found = _Rules.of(parts, pruning), [np.zeros((4, 0), np.int64)]
    for some in _stacks([state.shape for state in states]):
        stack = _Stack.of(states[some], reach_of(parts))
        placed = _worthy(stack, rules)
        if pruning == "strong":
            placed = undominated(placed, MovedWords.of(parts))
        image, *where = stack.places(placed)
        found.append(np.stack([image + some.start, *where]))
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


class _Stack(NamedTuple):
    """Images one below the other.

    Unknown pixels around each of them keep them apart, and then nothing lies outside.
    """

    pixels: Int8[np.ndarray, "rows cols"]
    rim: int  # rows and columns of these
    top: Int[np.ndarray, " images"]  # the first rows of the images
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
        return cls(pixels, rim, top, beyond)

    def places(self, placed: Contenders) -> tuple[np.ndarray, ...]:
        """Image, row, column and type of placements."""
        row, column = np.divmod(placed.place, self.pixels.shape[1])
        image = np.searchsorted(self.top, row, "right") - 1
        return image, row - self.top[image], column - self.rim, placed.type


@dataclass(frozen=True, eq=False)
class _Rules:
    """The parts as words, and which placements are worth it."""

    side: int
    own: UInt64[np.ndarray, "words types"]
    worth: Float[np.ndarray, "sizes sizes"]  # by the number of ON and of OFF pixels covered
    spill: Shaped[np.ndarray, " sizes"]  # by that of ON pixels, the fewest OFF ones that spoil it
    sizes: Shaped[np.ndarray, " types"]  # pixels of each part
    enough: Shaped[np.ndarray, " types"]  # ON pixels that make it worth it where the others are OFF
    least_on: int  # ON pixels that a window needs
    least: int  # that are ON or unknown

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
        least = int(
            np.maximum(worthy, parts.sizes.min() - spill[worthy] + 1).min(initial=len(number))
        )
        own = packed(parts.masks)
        small = np.uint8 if len(own) == 1 else np.int16
        return cls(
            side=parts.side,
            own=own,
            worth=worth,
            spill=spill.astype(small),
            sizes=parts.sizes.astype(small),
            enough=np.where(pays.any(1), pays.argmax(1), len(number)).astype(small),
            least_on=least_on,
            least=least,
        )


def _worthy(stack: _Stack, rules: _Rules) -> Contenders:
    """The placements with a positive gain bound."""
    pixels, (place, whole) = stack.pixels, _promising(stack, rules)
    on = windows(pixels > 0, place, rules.side)
    covered = counts(on, rules.own)
    spilled, worthy = rules.sizes - covered, covered >= rules.enough
    other = np.flatnonzero(~whole)
    if len(other):
        off = windows(pixels < 0, place[other], rules.side)
        spilled[other] = counts(off, rules.own)
        worthy[other] = spilled[other] < rules.spill.take(covered[other])
    which = np.flatnonzero(worthy)
    spot, type_ = np.divmod(which, len(rules.own[0]))
    covered, spilled = covered.ravel().take(which), spilled.ravel().take(which)
    mine = on.take(spot, 1) & rules.own.take(type_, 1)
    worth = rules.worth.ravel().take(covered.astype(np.int64) * len(rules.worth) + spilled)
    number = np.full(pixels.size, -1, np.int32)
    return Contenders(pixels.shape[1], number, place[spot], type_, worth, covered, spilled, mine)


def _promising(
    stack: _Stack, rules: _Rules
) -> tuple[Int[np.ndarray, " places"], Bool[np.ndarray, " places"]]:
    """The pixels of the images with enough in their windows, and whether all of that is known."""
    rim, first = stack.rim, stack.rim - rules.side // 2  # of the windows of the images' own pixels
    seen = stack.pixels[first : -first or None, first : -first or None]
    on, able = box_sums(seen > 0, rules.side), box_sums(seen >= 0, rules.side)
    enough = (on >= rules.least_on) & (able >= rules.least)
    enough[stack.beyond[rim:-rim]] = False
    which = np.flatnonzero(enough)
    row, column = np.divmod(which, enough.shape[1])
    place = (row + rim) * stack.pixels.shape[1] + column + rim
    return place, on.ravel()[which] == able.ravel()[which]
