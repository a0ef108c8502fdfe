"""The sparsifier written down as a factor graph: for certificates, exporters and oracles."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool

from mam.factors import Or, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.vision.candidates import Candidates, Room, find_candidates
from mam.vision.parts import Parts


@dataclass(frozen=True, eq=False)
class SparsifierModel:
    """A graph with the variables "part" and "pixel", its evidence, and what each part variable is.

    Pixels are observed: their OR is hard, and the noise is the evidence of the pixel. So the score
    is that of ``Sparsifier``, 0 for the empty explanation.
    """

    graph: FactorGraph
    evidence: dict[str, np.ndarray]
    candidates: Candidates


def sparsifier_model(
    image: Bool[np.ndarray, "rows cols"], parts: Parts, pruning: str = "safe"
) -> SparsifierModel:
    """Write down the sparsifier of one image.

    >>> model = sparsifier_model(np.ones((1, 5), bool), Parts(np.ones((1, 3, 3), bool)))
    >>> model.graph.states.size  # no placement covers 4 pixels, the least that pays for one
    0
    """
    sizes = np.array([image.shape], np.int32)
    listed = find_candidates(image[None], sizes, parts, pruning, Room())
    count = int(np.sum(np.asarray(listed.image) == 0))
    kind, row, column = (np.asarray(v)[:count] for v in (listed.type, listed.row, listed.column))
    candidates = Candidates(np.zeros(count, np.int32), row, column, kind)
    pixel, parent = _covered(candidates, parts, image.shape)
    order = np.argsort(pixel, kind="stable")
    places, starts = np.unique(pixel[order], return_index=True)
    builder = GraphBuilder()
    builder.variables("part", count)
    pixels = builder.variables("pixel", len(places))
    offsets = np.append(starts, len(order))
    builder.add("explained", Or.of(Ragged(parent[order], offsets), pixels))
    lit = image.ravel()[places]
    evidence = {
        "part": np.full(count, parts.noise.prior),
        "pixel": np.where(lit, parts.noise.gain, -parts.noise.loss),
    }
    return SparsifierModel(builder.build(), evidence, candidates)


def _covered(
    candidates: Candidates, parts: Parts, shape: tuple[int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of a covered pixel and the candidate that covers it."""
    pixels, parents = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for kind, mask in enumerate(parts.masks):
        mine = np.flatnonzero(np.asarray(candidates.type) == kind)
        offsets = np.argwhere(mask) - parts.radius
        row = np.asarray(candidates.row)[mine, None] + offsets[:, 0]
        col = np.asarray(candidates.column)[mine, None] + offsets[:, 1]
        inside = (row >= 0) & (row < shape[0]) & (col >= 0) & (col < shape[1])
        pixels.append((row * shape[1] + col)[inside])
        parents.append(np.broadcast_to(mine[:, None], row.shape)[inside])
    return np.concatenate(pixels), np.concatenate(parents)
