"""The strong pruning of ``candidates.py`` in numpy, for a host that has no accelerator.

The same rules and the same answers, without anything to compile and without padding: only places
near ON pixels are looked at, and only those placements are compared with many others that a few
have not ruled out. A window of up to 8 x 8 pixels is one word, so that covering is one AND.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from jaxtyping import Bool, Int, Int8, Shaped, UInt64

from mam.core.boxes import box_sums
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.masks import Parts

_WORD = 64
LARGEST_SIDE = _WORD  # px of a part: a row of it is in one word
_AT_ONCE = 1 << 15  # pairs of a placement and a place beside it that are compared at a time


def prune_on_host(
    states: Sequence[Int8[np.ndarray, "_ _"]], parts: Parts, pruning: str
) -> PartCandidates:
    """List the placements that may be ON in a best explanation of each image.

    ``states`` are 1 (ON), -1 (OFF) or 0 (unknown); a part is placed by its middle. The list is
    sorted by image, row, column and type. ``pruning`` is "strong" or "none".
    """
    found = [_pruned(state, parts, pruning) for state in states]
    image = np.repeat(np.arange(len(found)), [len(row) for row, _, _ in found])
    none = (np.zeros(0, np.int64),) * 3
    return PartCandidates(image, *map(np.concatenate, zip(none, *found, strict=True)))


def _pruned(
    states: Int8[np.ndarray, "rows cols"], parts: Parts, pruning: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Row, column and type of the placements in one image."""
    rim = max(parts.side - 1, 1)  # of unknown pixels, so that nothing lies outside
    pixels = np.pad(states, rim)
    spots = _spots(pixels, rim, parts)
    spot, type_ = _where(_worthy(spots, parts, pruning))
    if pruning == "strong":
        near, all_ = (_around(parts, reach) for reach in (1, rim))
        best, any_ = _Rivals.best(spots, parts), _Rivals.any(spots)
        # The best of a close neighbour dominates most; only the others are compared with all.
        for around, rivals in ((near, best), (near, any_), (all_, any_)):
            for offsets in around.rounds:
                kept = rivals.undominated(spots, spot, type_, around, offsets)
                spot, type_ = spot[kept], type_[kept]
    row, column = np.divmod(spots.place[spot], pixels.shape[1])
    return row - rim, column - rim, type_


@dataclass(frozen=True, eq=False)
class _Around:
    """The parts as words, alone and seen from a neighbour."""

    own: UInt64[np.ndarray, "words types"]
    shifted: UInt64[np.ndarray, "words offsets types"]  # a part moved and cut to the window
    offsets: Int[np.ndarray, "offsets 2"]

    @property
    def rounds(self) -> list[Int[np.ndarray, " some"]]:
        """The offsets that are tried together: the middle and those beside it, or all others."""
        far = np.abs(self.offsets).max(1)
        if far.max() > 1:
            return [np.flatnonzero(far > 1)]
        return [np.flatnonzero(far == distance) for distance in (0, 1)]


@lru_cache(maxsize=16)
def _around(parts: Parts, reach: int) -> _Around:
    moved, offsets = parts.moved(reach)
    return _Around(_packed(parts.masks), _packed(moved), offsets)


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
        moved = [code << np.uint64(place * side) for place, code in enumerate(some)]
        words.append(np.bitwise_or.reduce(moved))
    return np.stack(words)


@dataclass(frozen=True, eq=False)
class _Spots:
    """The places near ON pixels, and what every type of part covers there; the last is none."""

    place: Int[np.ndarray, " spots"]  # number of the pixel, in the image with its rim
    width: int  # of that
    number: Int[np.ndarray, " pixels"]  # of the spot at each pixel
    on: UInt64[np.ndarray, "words spots"]  # pixels around it
    covered: Shaped[np.ndarray, "spots types"]  # number of ON pixels under each part
    spilled: Shaped[np.ndarray, "spots types"]  # number of OFF pixels


def _spots(pixels: Int8[np.ndarray, "rows cols"], rim: int, parts: Parts) -> _Spots:
    """Find the places around which there are enough ON pixels for any placement."""
    least = int(-parts.noise.prior // parts.noise.gain) + 1
    on, width = pixels > 0, pixels.shape[1]
    place = _promising(on, rim, parts.side, least)
    number = np.full(pixels.size, len(place), np.int32)
    number[place] = np.arange(len(place), dtype=np.int32)
    place = np.append(place, 0)  # in the rim, where there are no pixels around
    both = [_windows(some, place, parts.side) for some in (on, pixels < 0)]
    for words in both:
        words[:, -1] = 0
    own = _around(parts, 1).own
    covered, spilled = (_counts(words, own) for words in both)
    return _Spots(place, width, number, both[0], covered, spilled)


def _promising(
    on: Bool[np.ndarray, "rows cols"], rim: int, side: int, least: int
) -> Int[np.ndarray, " places"]:
    """The pixels of the image in its rim that have the ``least`` ON pixels in their windows."""
    first = rim - side // 2  # of the windows of the image's own pixels
    inside = slice(first, -first or None)
    count = box_sums(on[inside, inside], side)
    row, column = _where(count >= least)
    return (row + rim) * on.shape[1] + column + rim


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
    return _words([codes[left + (row - reach) * cols].astype(np.uint64) for row in range(side)])


def _counts(
    words: UInt64[np.ndarray, "words spots"], own: UInt64[np.ndarray, "words types"]
) -> Shaped[np.ndarray, "spots types"]:
    counts = [np.bitwise_count(a[:, None] & b) for a, b in zip(words, own, strict=True)]
    return counts[0] if len(counts) == 1 else np.stack(counts).sum(0, dtype=np.int16)


def _worthy(spots: _Spots, parts: Parts, pruning: str) -> Bool[np.ndarray, "spots types"]:
    """Tell which placements have a positive gain bound."""
    gain, loss, prior = np.array(
        [parts.noise.gain, parts.noise.loss, parts.noise.prior], np.float32
    )
    number = np.arange(int(parts.sizes.max()) + 1, dtype=np.float32)
    table = gain * number[:, None] - (pruning == "strong") * loss * number + prior > 0
    return table[spots.covered, spots.spilled]


def _where(
    which: Bool[np.ndarray, "rows cols"],
) -> tuple[Int[np.ndarray, " found"], Int[np.ndarray, " found"]]:
    """Rows and columns; where few are True, many times as fast as nonzero."""
    row, column = np.divmod(np.flatnonzero(which), max(which.shape[1], 1))
    return row, column


@dataclass(frozen=True, eq=False)
class _Rivals:
    """Who may replace a placement: some types of parts at every spot."""

    type: Int[np.ndarray, "spots rivals"]
    covered: Shaped[np.ndarray, "spots rivals"]
    spilled: Shaped[np.ndarray, "spots rivals"]
    most: Shaped[np.ndarray, " spots"]  # ON pixels that one of them covers
    least: Shaped[np.ndarray, " spots"]  # OFF pixels

    @classmethod
    def any(cls, spots: _Spots) -> "_Rivals":
        """All types."""
        types = np.arange(spots.covered.shape[1])
        # Along the first axis: ten times as fast.
        most = np.ascontiguousarray(spots.covered.T).max(0)
        least = np.ascontiguousarray(spots.spilled.T).min(0)
        every = np.broadcast_to(types, spots.covered.shape)
        return cls(every, spots.covered, spots.spilled, most, least)

    @classmethod
    def best(cls, spots: _Spots, parts: Parts) -> "_Rivals":
        """The type that explains the pixels around a spot best, by itself."""
        noise = parts.noise
        number = np.arange(int(parts.sizes.max()) + 1)
        worth = (noise.gain * number[:, None] - noise.loss * number).astype(np.float32)
        best = worth[spots.covered, spots.spilled].argmax(1)[:, None]
        covered, spilled = (
            np.take_along_axis(each, best, 1) for each in (spots.covered, spots.spilled)
        )
        return cls(best, covered, spilled, covered[:, 0], spilled[:, 0])

    def undominated(
        self,
        spots: _Spots,
        spot: Int[np.ndarray, " some"],
        type_: Int[np.ndarray, " some"],
        around: _Around,
        offsets: Int[np.ndarray, " offsets"],
    ) -> Int[np.ndarray, " kept"]:
        """The numbers of the placements that no rival at some offsets can replace."""
        kept = np.ones(len(spot), bool)
        step = max(_AT_ONCE // len(offsets), 1)
        for start in range(0, len(spot), step):
            some = slice(start, start + step)
            pairs = self._beside_rivals(spots, spot[some], type_[some], around.offsets, offsets)
            won = self._replace(spots, spot[some], type_[some], around, *pairs)
            kept[start + won] = False
        return np.flatnonzero(kept)

    def _replace(
        self,
        spots: _Spots,
        spot: Int[np.ndarray, " some"],
        type_: Int[np.ndarray, " some"],
        around: _Around,
        one: Int[np.ndarray, " pairs"],
        there: Int[np.ndarray, " pairs"],
        offset: Int[np.ndarray, " pairs"],
    ) -> Int[np.ndarray, " won"]:
        """Which of the placements ``one`` some rival ``there`` can replace; some come twice."""
        n, f = (v[spot[one], type_[one]][:, None] for v in (spots.covered, spots.spilled))
        n_there, f_there = self.covered[there], self.spilled[there]
        able = (n_there >= n) & (f_there <= f)
        pair, rival = _where(able)
        one, offset, there = one[pair], offset[pair], there[pair]
        other, middle = self.type[there, rival], len(around.offsets) // 2
        better = (n_there > n)[pair, rival] | (f_there < f)[pair, rival] | (offset < middle)
        better |= (offset == middle) & (other < type_[one])
        mine = spots.on[:, spot[one]] & around.own[:, type_[one]]
        outside = mine & ~around.shifted[:, offset, other]
        return one[better & (outside == 0).all(0)]

    def _beside_rivals(
        self,
        spots: _Spots,
        spot: Int[np.ndarray, " some"],
        type_: Int[np.ndarray, " some"],
        steps: Int[np.ndarray, "steps 2"],
        offsets: Int[np.ndarray, " offsets"],
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Placements, spots beside them where a rival covers enough, and the offsets of these."""
        down, right = steps[offsets].T
        there = spots.number[spots.place[spot, None] + (down * spots.width + right)]
        n, f = spots.covered[spot, type_], spots.spilled[spot, type_]
        one, which = _where((self.most[there] >= n[:, None]) & (self.least[there] <= f[:, None]))
        return one, there[one, which], offsets[which]
