"""A mask as the chain model sees it: strands, their ends, and the pairs that may be joined.

First a mask is cut into strands. Then it must be said how many curves run over each: a strand
between two branchings that several curves share is no part of any chain, but links lead over it;
one with a free end is there as often as curves end on it.
"""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.appearance import Looks, SeenPicture, find_looks, look_terms
from mam.vision.curves.strands.axis import Axis, find_axis
from mam.vision.curves.strands.broken import CORNER, dashes_of
from mam.vision.curves.strands.dots import directed, find_dots
from mam.vision.curves.strands.parted import parted
from mam.vision.curves.strands.pen_lines import find_pen_lines
from mam.vision.curves.strands.pen_profile import PenProfile, is_thin, pen_profile
from mam.vision.curves.strands.roughness import smooth_relief
from mam.vision.curves.strands.routes import find_routes
from mam.vision.curves.strands.side_by_side import side_by_side
from mam.vision.curves.strands.strand_ends import Ends, find_ends
from mam.vision.curves.strands.strand_pairs import EndPairs, find_end_pairs, terms_of
from mam.vision.curves.strands.strands import (
    Strands,
    at_corners,
    find_pieces,
    halved,
    joined_strands,
    through,
)
from mam.vision.curves.strands.width import Relief

_SURE = 0.5  # of an axis from which on curves may share strands
_HALVES = 8  # points of a strand of which either half still has a direction


@dataclass(frozen=True, eq=False)
class StrandSketch:
    """The strands of a mask."""

    strands: Strands
    ground: Relief
    ink: PenProfile
    axis: Axis
    shape: tuple[int, ...]  # of the mask


@dataclass(frozen=True, eq=False)
class StrandDrawing:
    """Strands with a copy for each curve that ends on them, and the pairs that may be joined."""

    strands: Strands
    ends: Ends
    pairs: EndPairs
    shared: Bool[np.ndarray, " strands"]  # by curves that pass: part of no chain
    looks: Looks | None = None  # where the picture is known

    def terms(self) -> Float[np.ndarray, "pairs terms"]:
        """What the log odds of every pair are made of; looks come last, where they are known."""
        terms = terms_of(self.pairs)
        if self.looks is None:
            return terms
        seen = look_terms(self.looks, self.pairs.first // 2, self.pairs.second // 2)
        return np.concatenate([terms, seen], 1)


def sketch(mask: Bool[np.ndarray, "rows cols"], branches: bool = False) -> StrandSketch:
    """Cut a mask into strands. Where curves branch, wide ones are trunks, and not two side by side.

    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> len(sketch(mask).strands)
    4
    """
    ground = smooth_relief(mask)
    found, short = find_pieces(ground)
    strands = at_corners(through(found if branches else side_by_side(found, ground)))
    dots = find_dots(mask, ground, short, strands)
    if len(dots.place):
        strands = joined_strands(strands, directed(dots, strands))
    axis = find_axis(strands)
    if dashes_of(strands).any():
        strands = at_corners(strands, CORNER)
        axis = replace(axis, sure=0.0)  # short pieces never turn back
    return StrandSketch(strands, ground, pen_profile(strands, ground), axis, mask.shape)


def by_pens(drawn: StrandSketch, picture: SeenPicture) -> StrandSketch | None:
    """The same with the lines of pens as strands, where every line of a chart has its own."""
    if drawn.axis.number == 0 or not is_thin(drawn.strands, drawn.ground):
        return None
    lines = find_pen_lines(drawn.ground.radius > 0, drawn.strands, picture)
    return None if lines is None else replace(drawn, strands=lines)


def describe(
    drawn: StrandSketch,
    counts: Int[np.ndarray, " strands"],
    bridging: float = 1.0,
    picture: SeenPicture | None = None,
) -> StrandDrawing:
    """List what may be joined. Gaps are taken to be ``bridging`` times narrower than they are.

    A strand whose ends may continue each other is cut in two, so that no attention variable has
    both ends on one part. Where no axis is sure every strand counts once: there short strands
    between two crossings look like shared ones, and seldom are.
    """
    strands = drawn.strands
    if drawn.axis.sure < _SURE:
        counts = np.ones_like(counts)
    strands, shared, piece = parted(strands, counts, drawn.ink)
    drawing = _paired(strands, shared, piece, drawn, bridging)
    pairs = drawing.pairs
    round_ = pairs.first // 2 == pairs.second // 2
    which = np.zeros(len(strands), bool)
    which[pairs.first[round_] // 2] = True
    which &= np.bincount(strands.strand, minlength=len(strands)) >= _HALVES
    if which.any():
        shared = np.repeat(shared, 1 + which)
        drawing = _paired(halved(strands, which), shared, None, drawn, bridging)
        pairs = drawing.pairs
    looks = None if picture is None else find_looks(drawing.strands, picture)
    pairs = pairs.take(pairs.first // 2 != pairs.second // 2)
    return replace(drawing, pairs=pairs, looks=looks)


def _paired(
    strands: Strands,
    shared: Bool[np.ndarray, " strands"],
    piece: Int[np.ndarray, " ends"] | None,
    drawn: StrandSketch,
    bridging: float,
) -> StrandDrawing:
    ends = find_ends(strands)
    routes = find_routes(strands, shared)
    pairs = find_end_pairs(strands, ends, drawn.ground, routes, drawn.axis, bridging)
    own = ~shared[pairs.first // 2] & ~shared[pairs.second // 2]
    if piece is not None:
        own &= (piece[pairs.first] != piece[pairs.second]) | (pairs.first // 2 == pairs.second // 2)
    return StrandDrawing(strands, ends, pairs.take(own), shared)
