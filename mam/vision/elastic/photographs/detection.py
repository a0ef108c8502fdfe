"""What is known of an object that was looked for in a photograph."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int

from mam.infer.certificate import Certificate
from mam.vision.elastic.found import FoundGraph
from mam.vision.elastic.search import ScoredImages


@dataclass(frozen=True, eq=False)
class Detection(FoundGraph):
    """The best place for an object, and whether it is there."""

    name: str
    there: bool  # the score reaches the object's threshold
    score: float
    threshold: float
    margin: float  # to the best candidate in another place
    mask: Bool[np.ndarray, "rows cols"]
    hull: Bool[np.ndarray, "rows cols"]  # of the placed parts: the paper's mask
    vertices: Int[np.ndarray, "vertices 2"]  # (row, column) of each part
    types: Int[np.ndarray, " vertices"]  # directions of their edges, in 16ths of a turn
    edges: Int[np.ndarray, "edges 2"]
    graph: int  # number of the graph in the model
    cut: bool  # parts lie beyond the picture: its border cuts the object
    certificate: Certificate
    scale: float = 1.0  # how much larger it is than what its graph was learned from, about

    @property
    def area(self) -> Bool[np.ndarray, "rows cols"]:
        """Its mask."""
        return self.mask

    def __repr__(self) -> str:
        where = f"at {self.vertices.min(0).tolist()}" if self.there else "not there"
        score = f"score {self.score:.3g} (there from {self.threshold:.3g} on)"
        return f"<Detection: {self.name} {where}, {score}, {int(self.mask.sum())} px>"


class Frame(NamedTuple):
    """A picture's own pixels, the scale at which it was searched, and its score maps."""

    shape: tuple[int, int]
    scale: float
    size: float  # of the objects looked for, 1 being that of those learned from
    images: ScoredImages | None  # to spend time on bounds; None: none is spent
