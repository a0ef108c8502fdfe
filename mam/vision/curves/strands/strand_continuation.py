"""What is learned of curves: weights of terms."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.core.schema import ArraySpec, Schema, Setting
from mam.vision.curves.chain_model import POTENTIALS
from mam.vision.curves.strands.appearance import LOOKS
from mam.vision.curves.strands.lane_drawing import LANE_LOOKS, LaneDrawing, LaneSketch
from mam.vision.curves.strands.lane_pairs import LANE_TERMS
from mam.vision.curves.strands.line_counts import LINE_TERMS
from mam.vision.curves.strands.strand_drawing import StrandDrawing
from mam.vision.curves.strands.strand_pairs import TERMS

SCHEMA = Schema(
    "curves",
    {
        "weights": ArraySpec(("float64",), (len(TERMS),), -1e6, 1e6),
        "appearance": ArraySpec(("float64",), (len(LOOKS),), -1e6, 1e6),
        "lanes": ArraySpec(("float64",), (len(LANE_TERMS),), -1e6, 1e6),
        "lane_looks": ArraySpec(("float64",), (len(LANE_LOOKS),), -1e6, 1e6),
        "lines": ArraySpec(("float64",), (len(LINE_TERMS),), -1e6, 1e6),
    },
    {
        "potentials": POTENTIALS,
        "terms": Setting(list, one_of=(list(TERMS),)),
        "looks": Setting(list, one_of=(list(LOOKS),)),
        "lane_terms": Setting(list, one_of=(list(LANE_TERMS),)),
        "lane_looks": Setting(list, one_of=(list(LANE_LOOKS),)),
        "line_terms": Setting(list, one_of=(list(LINE_TERMS),)),
        "threshold": Setting(float, none=True),
    },
    "mam learn curves",
)

_SOME = 15.0  # log odds that a lane which ends at a pinch goes on at all: how much only ranks pairs


@dataclass(frozen=True, eq=False)
class StrandContinuation:
    """Learned weights of the terms of pairs of ends, of pairs of lanes, and of arcs."""

    weights: Float[np.ndarray, " terms"]
    appearance: Float[np.ndarray, " looks"]  # of the looks, where the picture is known
    lanes: Float[np.ndarray, " lane_terms"]
    lane_looks: Float[np.ndarray, " lane_looks"]
    lines: Float[np.ndarray, " line_terms"]

    def log_odds(self, drawing: StrandDrawing) -> Float[np.ndarray, " pairs"]:
        """Score every pair of ends."""
        terms = drawing.terms()
        return terms @ np.append(self.weights, self.appearance)[: terms.shape[1]]

    def lane_odds(self, drawing: LaneDrawing) -> Float[np.ndarray, " pairs"]:
        """Score every pair of lanes."""
        weights = np.append(self.lanes, self.lane_looks)[: drawing.terms.shape[1]]
        return _SOME + drawing.terms @ weights

    def single(self, drawn: LaneSketch) -> Float[np.ndarray, " arcs"]:
        """The log odds that one line alone runs through an arc."""
        return drawn.terms @ self.lines
