"""The sparsifier written down as a factor graph: for certificates, exporters and oracles."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Int

from mam.core.growing import GrowingSizes
from mam.factors import Ragged
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


def covering(
    candidates: PartCandidates, parts: Parts, shape: tuple[int, int]
) -> tuple[Int[np.ndarray, " covered"], Ragged]:
    """Numbers of the pixels that some candidate covers, and the candidates over each of them."""
    pixels, parents = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for kind, mask in enumerate(parts.masks):
        mine = np.flatnonzero(np.asarray(candidates.type) == kind)
        offsets = np.argwhere(mask) - parts.radius
        row = np.asarray(candidates.row)[mine, None] + offsets[:, 0]
        col = np.asarray(candidates.column)[mine, None] + offsets[:, 1]
        inside = (row >= 0) & (row < shape[0]) & (col >= 0) & (col < shape[1])
        pixels.append((row * shape[1] + col)[inside])
        parents.append(np.broadcast_to(mine[:, None], row.shape)[inside])
    pixel, parent = np.concatenate(pixels), np.concatenate(parents)
    order = np.argsort(pixel, kind="stable")
    places, starts = np.unique(pixel[order], return_index=True)
    return places, Ragged(parent[order], np.append(starts, len(order)))
