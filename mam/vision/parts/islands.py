"""Islands of images that can be explained apart, and which of them look the same.

Candidates that share no pixel, directly or through others, do not know of each other. Most islands
are short strokes that occur again and again, in one image and in others: one of them is explained
for all. Two islands are equal if they have the same candidates with the same pixels under them, but
for a shift; they are told apart by 128 bits of a hash.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from mam.infer.twins import GOLDEN, mixed
from mam.vision.parts.cover import Cover

_ODD = np.array([GOLDEN, 0xD1342543DE82EF95], np.uint64)


@dataclass(frozen=True, eq=False)
class Islands:
    """The islands of a cover."""

    order: Int[np.ndarray, " candidates"]  # the candidates, island after island
    start: Int[np.ndarray, " islands_plus_one"]  # where each island begins in that order
    like: Int[np.ndarray, " islands"]  # which of the distinct islands each one is
    first: Int[np.ndarray, " distinct"]  # one island of each kind
    codes: tuple[bytes, ...]  # what tells the distinct ones apart

    def members(self, island: int) -> Int[np.ndarray, " candidates"]:
        """The candidates of an island."""
        return self.order[self.start[island] : self.start[island + 1]]


def islands_of(cover: Cover, exclusive: bool) -> Islands:
    """Cut a cover into islands; with ``exclusive`` candidates at one position stay together."""
    count, label = _joined(cover, exclusive)
    order = np.argsort(label, kind="stable")
    mine = label[order]
    start = np.searchsorted(mine, np.arange(count + 1))
    codes = _codes(cover, order, mine, start[:-1])
    kinds, first, like = np.unique(
        codes.view("u8,u8").ravel(), return_index=True, return_inverse=True
    )
    return Islands(order, start, like.ravel(), first, tuple(kind.tobytes() for kind in kinds))


def _joined(cover: Cover, exclusive: bool) -> tuple[int, np.ndarray]:
    """The number of islands, and the island of each candidate."""
    candidate, _ = np.nonzero(cover.states)
    pixel = cover.pixels[cover.states != 0]
    pairs = [(candidate, _first_of(pixel, candidate))]
    if exclusive:
        every = np.arange(len(cover))
        pairs.append((every, _first_of(cover.place, every)))
    one, other = (np.concatenate(side) for side in zip(*pairs, strict=True))
    size = len(cover)
    if not size:
        return 0, np.zeros(0, np.int64)
    # Pixels side by side mostly have the same first candidate.
    new = one != other
    new[1:] &= (one[1:] != one[:-1]) | (other[1:] != other[:-1])
    one, other = one[new], other[new]
    joined = coo_array((np.ones(len(one), np.int8), (one, other)), (size, size))
    count, label = connected_components(joined, directed=False)
    return int(count), label


def _first_of(places: np.ndarray, owners: np.ndarray) -> np.ndarray:
    """The first owner of each place, where it is named."""
    first = np.empty(int(places.max(initial=-1)) + 1, np.int32)  # read only where written
    first[places[::-1]] = owners[::-1]
    return first[places]


def _codes(cover: Cover, order: np.ndarray, mine: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Two numbers an island: the sums of its candidates', seen from its upper left corner."""
    listed = cover.candidates
    if not len(start):
        return np.zeros((0, 2), np.uint64)
    row, column = (
        values[order].astype(np.int64) - np.minimum.reduceat(values[order], start)[mine]
        for values in (listed.row, listed.column)
    )
    where = (row << 40) ^ (column << 20) ^ listed.type[order]
    draw = np.random.default_rng(0).integers(0, 1 << 63, (cover.states.shape[1], 2), np.uint64)
    seen = (cover.states[order] + 1).astype(np.uint64) @ (2 * draw + np.uint64(1))
    return np.add.reduceat(mixed(mixed(where.astype(np.uint64)[:, None] * _ODD) + seen), start)
