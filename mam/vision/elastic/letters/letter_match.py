"""A letter, or another shape, that was found in a binary image; and whether it is there."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Int
from scipy import ndimage

from mam.core.resize import resized
from mam.infer.certificate import Certificate
from mam.vision.elastic.found import FoundGraph, in_own_pixels

# All of 120 generated letters of the three levels have a contrast above this, and 4 of 48 pictures
# of dashes, curves, noise, blobs, stripes and checks.
THERE = 0.45
_OWN = 0.5  # share of its pixels beyond which a match is where a better one is
_NEAR, _BESIDE = 1, 6  # px from a match where what is beside it begins, and ends


@dataclass(frozen=True, eq=False)
class Match(FoundGraph):
    """The best place for an object, and whether it is there.

    ``contrast`` is the share of ON pixels among those it covers, less that beside it: near 1 for a
    clean shape, near 0 where nothing, or everything around, is ON.
    """

    graph: int  # number of the graph in the bank
    category: int  # of that graph; -1: none
    vertices: Int[np.ndarray, "vertices 2"]  # (row, column) of each vertex's part
    edges: Int[np.ndarray, "edges 2"]
    pixels: Bool[np.ndarray, "rows cols"]  # covered by the parts
    score: float  # what it adds to the score of the set it was found in
    margin: float  # how much worse the set is with the best graph of another category instead
    certificate: Certificate
    contrast: float
    shared: float = 0.0  # share of its pixels that better matches of the same image cover
    scale: float = 1.0  # how much larger it is than what its graph was learned from, about
    set_proof: str | None = None  # how its set is known to be the best of the candidates, or None

    @property
    def there(self) -> bool:
        """Whether the contrast is that of a shape, and no better match is in its place."""
        return self.contrast >= THERE and self.shared <= _OWN

    @property
    def area(self) -> Bool[np.ndarray, "rows cols"]:
        """The pixels that its parts cover."""
        return self.pixels

    def __repr__(self) -> str:
        where = f"at {self.vertices.min(0).tolist()}" if self.there else "not there"
        what = f"graph {self.graph} of category {self.category} {where}"
        return f"<Match: {what}, score {self.score:.4g}, margin {self.margin:.4g}>"

    def on(self, shape: tuple[int, int], scale: float, size: float) -> "Match":
        """The match in the pixels of a picture that was searched at another scale."""
        own = np.rint(in_own_pixels(self.vertices, scale)).astype(np.int64)
        return replace(self, vertices=own, pixels=resized(self.pixels, shape), scale=size)


def in_turn(matches: Sequence[Match]) -> list[Match]:
    """Matches of one image, best first, each with what it shares with those before it."""
    found: list[Match] = []
    for one in sorted(matches, key=lambda match: -match.score):
        taken = np.any([np.zeros_like(one.pixels), *(better.pixels for better in found)], axis=0)
        share = float((one.pixels & taken).sum() / max(int(one.pixels.sum()), 1))
        found.append(replace(one, shared=share))
    return found


def contrast_of(
    pixels: Bool[np.ndarray, "rows cols"],
    others: Bool[np.ndarray, "rows cols"],
    state: Int[np.ndarray, "rows cols"],
) -> float:
    """The contrast of covered pixels; what ``others`` cover, and what is unknown, does not count.

    >>> bar = np.zeros((20, 20), bool)
    >>> bar[8:12] = True
    >>> contrast_of(bar, bar, np.where(bar, 1, -1)), contrast_of(bar, bar, np.ones((20, 20), int))
    (1.0, 0.0)
    """
    beside = _within(pixels, _BESIDE) & ~_within(pixels | others, _NEAR)
    shares = [
        float((state[where] > 0).mean()) if where.any() else 0.0
        for where in (pixels & (state != 0), beside & (state != 0))
    ]
    return shares[0] - shares[1]


def _within(pixels: Bool[np.ndarray, "rows cols"], away: int) -> Bool[np.ndarray, "rows cols"]:
    """The pixels at most so many rows and columns away."""
    found = pixels.view(np.uint8)
    for axis in (0, 1):
        found = ndimage.maximum_filter1d(found, 2 * away + 1, axis)
    return found > 0
