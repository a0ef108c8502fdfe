"""The sparsifier written down as a factor graph: for certificates, exporters and oracles."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from mam.core.growing import GrowingSizes
from mam.graph import FactorGraph
from mam.vision.images.binary import as_states
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.cover import cover_graph, cover_of
from mam.vision.parts.masks import Parts
from mam.vision.parts.tiles import list_candidates


@dataclass(frozen=True, eq=False)
class SparsifierModel:
    """A graph with the variables "part", its evidence, and what each of them is.

    It is the graph that ``Sparsifier`` solves island by island: 0 is the score of no explanation.
    """

    graph: FactorGraph
    evidence: dict[str, np.ndarray]
    candidates: PartCandidates


def sparsifier_model(
    image: Bool[np.ndarray, "rows cols"],
    parts: Parts,
    pruning: str = "safe",
    unknown: Bool[np.ndarray, "rows cols"] | None = None,
    exclusive: bool = True,
) -> SparsifierModel:
    """Write down the sparsifier of one image; pixels that are ``unknown`` count nothing.

    >>> model = sparsifier_model(np.ones((1, 5), bool), Parts(np.ones((1, 3, 3), bool)))
    >>> model.graph.states.size  # no placement covers 4 pixels, the least that pays for one
    0
    """
    states = as_states(image, unknown)
    candidates = list_candidates([states], parts, pruning, GrowingSizes())
    graph, evidence = cover_graph(cover_of(candidates, [states], parts), parts.noise, exclusive)
    return SparsifierModel(graph, evidence, candidates)
