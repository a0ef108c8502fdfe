"""What is learned of strands: weights of terms."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from mam.vision.curves.strands.sharing import sharing_terms
from mam.vision.curves.strands.strand_drawing import StrandDrawing
from mam.vision.curves.strands.strands import Strands


@dataclass(frozen=True, eq=False)
class StrandContinuation:
    """Learned weights of the terms of pairs of ends, and of those of strands that may be shared."""

    weights: Float[np.ndarray, " terms"]
    sharing: Float[np.ndarray, " features"]
    appearance: Float[np.ndarray, " looks"]  # of the looks, where the picture is known

    def log_odds(self, drawing: StrandDrawing) -> Float[np.ndarray, " pairs"]:
        """Score every pair of ends."""
        terms = drawing.terms()
        return terms @ np.append(self.weights, self.appearance)[: terms.shape[1]]

    def single(self, strands: Strands) -> Float[np.ndarray, " strands"]:
        """The log odds that one curve alone has a strand between two branchings."""
        return sharing_terms(strands) @ self.sharing
