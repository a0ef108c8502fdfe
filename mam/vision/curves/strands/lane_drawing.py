"""A chart as the chain model sees it: lanes, and the pairs of them that may be one line.

Lines of a chart do not turn back along one axis of the picture and are drawn with one thin pen.
Then all they do can be told column by column: how many lines run through each arc of ink, and in
which pinches two of them may change places.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.curves.strands.appearance import SeenPicture, find_looks, look_terms
from mam.vision.curves.strands.axis import Axis
from mam.vision.curves.strands.ink_runs import InkRuns, find_runs
from mam.vision.curves.strands.lane_fits import find_fits
from mam.vision.curves.strands.lane_pairs import find_lane_pairs, lane_terms
from mam.vision.curves.strands.lane_passages import laid_out
from mam.vision.curves.strands.lanes import Lanes, find_lanes, without_small_holes
from mam.vision.curves.strands.line_counts import line_terms
from mam.vision.curves.strands.pens import Beside, PenFit, pen_fit
from mam.vision.curves.strands.run_arcs import RunArcs, find_arcs, has_spikes
from mam.vision.curves.strands.run_widths import RunWidths, run_widths
from mam.vision.curves.strands.strands import Strands, chosen

_SURE = 0.5  # of an axis from which on lines do not turn back
LANE_LOOKS = ("hue", "same hue", "solidity")
_TOGETHER = 6  # columns for which lanes are side by side: fewer may be those of a crossing


@dataclass(frozen=True, eq=False)
class LaneSketch:
    """The ink of a chart in columns, or in rows if its lines run along these."""

    runs: InkRuns
    arcs: RunArcs
    widths: RunWidths
    turned: bool
    bundled: bool  # hardly a line is ever alone: it may be a brush

    @cached_property
    def terms(self) -> Float[np.ndarray, "arcs terms"]:
        """What the log odds are made of that one line alone has an arc."""
        return line_terms(self.arcs, self.widths)


@dataclass(frozen=True, eq=False)
class LaneDrawing:
    """Lanes, the pairs of them that may be one line, and the passage of each pair between them."""

    strands: Strands  # the lanes, then the passages
    pair: Int[np.ndarray, "pairs 2"]  # strands: the second one begins where the first one ends
    passage: Int[np.ndarray, " pairs"]
    terms: Float[np.ndarray, "pairs terms"]  # looks come last, where the picture is known
    beside: Beside

    @property
    def lanes(self) -> int:
        """How many of the strands are lanes."""
        return len(self.strands) - len(self.passage)

    def pens(self, picture: SeenPicture | None) -> PenFit | None:
        """Which pens the strands may be of, if the picture is known and tells several."""
        if picture is None:
            return None
        found = pen_fit(chosen(self.strands, np.arange(self.lanes)), picture, self.beside)
        if found is None:
            return None
        return found._replace(each=np.pad(found.each, ((0, len(self.passage)), (0, 0))))


def sketch_lanes(ink: Bool[np.ndarray, "rows cols"], axis: Axis) -> LaneSketch | None:
    """Look at ink in columns; None unless it is that of a chart."""
    if axis.sure < _SURE:
        return None
    turned = axis.number == 0
    runs = find_runs(without_small_holes(ink.T if turned else ink))
    if not len(runs):
        return None
    arcs = find_arcs(runs)
    widths = run_widths(runs, arcs)
    alone = widths.by_pen(arcs)
    if not (alone or widths.in_bundles(arcs)) or has_spikes(runs, arcs, widths.pen):
        return None
    return LaneSketch(runs, arcs, widths, turned, not alone)


def describe_lanes(
    drawn: LaneSketch, counts: Int[np.ndarray, " arcs"], picture: SeenPicture | None = None
) -> LaneDrawing:
    """List the lanes and what may be joined; ``counts`` are the lines in each arc."""
    lanes = find_lanes(drawn.runs, drawn.arcs, drawn.widths, counts)
    pairs = find_lane_pairs(lanes)
    terms = lane_terms(lanes, find_fits(lanes), pairs)
    strands, number, passage = laid_out(lanes, pairs)
    if drawn.turned:
        strands = replace(strands, points=strands.points[:, ::-1])
    pair = np.stack([number[pairs.left], number[pairs.right]], 1)
    if picture is not None:
        own = chosen(strands, np.arange(len(strands) - len(passage)))
        looks = look_terms(find_looks(own, picture), pair[:, 0], pair[:, 1])
        terms = np.concatenate([terms, looks[:, : len(LANE_LOOKS)]], 1)
    return LaneDrawing(strands, pair, passage, terms, _side_by_side(lanes))


def _side_by_side(lanes: Lanes) -> Beside:
    """Pairs of lanes, without pinches, that are in the same columns."""
    own = [lane.col[[0, -1]] for lane in lanes.each if lane.lines == 1]
    start, stop = np.array(own, np.int64).reshape(-1, 2).T
    pair = np.stack(np.triu_indices(len(own), 1), 1)
    length = stop[pair].min(1) - start[pair].max(1)
    return Beside(pair[length >= _TOGETHER], length[length >= _TOGETHER])
