"""A mask as the chain model sees it: strands, their ends, and the pairs that may be joined."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float

from mam.vision.curves.strands.along_strands import THICK
from mam.vision.curves.strands.appearance import Looks, SeenPicture, find_looks, look_terms
from mam.vision.curves.strands.axis import Axis, find_axis
from mam.vision.curves.strands.broken import CORNER, dashes_of
from mam.vision.curves.strands.dots import directed, find_dots
from mam.vision.curves.strands.lane_drawing import LaneDrawing, LaneSketch, sketch_lanes
from mam.vision.curves.strands.pens import find_pens
from mam.vision.curves.strands.roughness import smooth_relief
from mam.vision.curves.strands.side_by_side import side_by_side
from mam.vision.curves.strands.strand_ends import Ends, find_ends
from mam.vision.curves.strands.strand_pairs import EndPairs, find_end_pairs, terms_of
from mam.vision.curves.strands.strands import (
    Strands,
    at_corners,
    at_frame,
    chosen,
    find_pieces,
    halved,
    joined_strands,
    through,
)
from mam.vision.curves.strands.width import Relief

_HALVES = 8  # points of a strand of which either half still has a direction


@dataclass(frozen=True, eq=False)
class StrandSketch:
    """The strands of a mask."""

    strands: Strands
    ground: Relief
    axis: Axis
    shape: tuple[int, ...]  # of the mask
    lanes: LaneSketch | None = None  # of a chart: this tells more
    proof: str | None = "exact"  # how the directions of dots are known to be the best

    def chart(self, picture: SeenPicture | None) -> LaneSketch | None:
        """Its lanes, if it is a chart; of lines that are hardly ever alone pens must tell that."""
        if self.lanes is None or not self.lanes.bundled:
            return self.lanes
        several = picture is not None and len(find_pens(self.strands, picture)) > 1
        return self.lanes if several else None


@dataclass(frozen=True, eq=False)
class StrandDrawing:
    """Strands, and the pairs of their ends that may be joined."""

    strands: Strands
    ends: Ends
    pairs: EndPairs
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
    strands = at_frame(strands, mask.shape)
    dots, proof = find_dots(mask, ground, short, strands), "exact"
    if len(dots.place):
        more, proof = directed(dots, strands)
        strands = joined_strands(strands, more)
    axis = find_axis(strands)
    if dashes_of(strands).any():
        strands = at_corners(strands, CORNER)
        axis = replace(axis, sure=0.0)  # short pieces never turn back
    lanes = None
    thin = ground.scale == 1 and len(strands) > 0 and float(np.mean(strands.width)) <= THICK
    if thin and not branches:
        lanes = sketch_lanes(ground.radius > 0, axis)
    return StrandSketch(strands, ground, axis, mask.shape, lanes, proof)


def describe(
    drawn: StrandSketch, bridging: float = 1.0, picture: SeenPicture | None = None
) -> StrandDrawing:
    """List what may be joined. Gaps are taken to be ``bridging`` times narrower than they are.

    A strand whose ends may continue each other is cut in two, so that no attention variable has
    both ends on one part.
    """
    strands = drawn.strands
    drawing = _paired(strands, drawn, bridging)
    round_ = drawing.pairs.first // 2 == drawing.pairs.second // 2
    which = np.zeros(len(strands), bool)
    which[drawing.pairs.first[round_] // 2] = True
    which &= np.bincount(strands.strand, minlength=len(strands)) >= _HALVES
    if which.any():
        drawing = _paired(halved(strands, which), drawn, bridging)
    pairs = drawing.pairs
    looks = None if picture is None else find_looks(drawing.strands, picture)
    return replace(drawing, pairs=pairs.take(pairs.first // 2 != pairs.second // 2), looks=looks)


def describe_gaps(drawn: StrandSketch, lanes: LaneDrawing, bridging: float) -> StrandDrawing:
    """List the gaps between lanes: from one that ends nowhere to one that begins beyond.

    A line of a chart does not turn sharply in a gap: at a corner it would have been drawn on.
    """
    own = chosen(lanes.strands, np.arange(lanes.lanes))
    drawing = _paired(own, drawn, bridging)
    ends, pairs = drawing.ends, drawing.pairs
    both = np.stack([pairs.first, pairs.second])
    free = (ends.node[both] < 0).all(0) & (pairs.first % 2 != pairs.second % 2)
    before, after = np.where(pairs.first % 2 == 1, both, both[::-1])
    along = ends.place[:, drawn.axis.number]
    onward = along[after] - along[before] > -pairs.width
    apart = pairs.first // 2 != pairs.second // 2
    sharp = (ends.heading[pairs.first] * ends.heading[pairs.second]).sum(1) > 0
    return replace(drawing, pairs=pairs.take(free & onward & apart & ~sharp))


def _paired(strands: Strands, drawn: StrandSketch, bridging: float) -> StrandDrawing:
    ends = find_ends(strands)
    pairs = find_end_pairs(strands, ends, drawn.ground, drawn.axis, bridging)
    return StrandDrawing(strands, ends, pairs)
