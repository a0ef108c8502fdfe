"""The sparsifier written down as a factor graph: for certificates, exporters and oracles."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.optimize import Bounds, LinearConstraint, milp

from mam.core.growing import GrowingSizes
from mam.factors import Or, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.vision.images.binary import as_states, padded_batches
from mam.vision.parts.candidates import Candidates, find_candidates
from mam.vision.parts.masks import Parts


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
    image: Bool[np.ndarray, "rows cols"],
    parts: Parts,
    pruning: str = "safe",
    unknown: Bool[np.ndarray, "rows cols"] | None = None,
) -> SparsifierModel:
    """Write down the sparsifier of one image; pixels that are ``unknown`` have no evidence.

    >>> model = sparsifier_model(np.ones((1, 5), bool), Parts(np.ones((1, 3, 3), bool)))
    >>> model.graph.states.size  # no placement covers 4 pixels, the least that pays for one
    0
    """
    states = as_states(image, unknown)
    [(_, canvas, sizes)] = padded_batches([states], 1, blank=np.int8(0))
    listed = find_candidates(canvas, sizes, parts, pruning, GrowingSizes())
    count = int(np.sum(np.asarray(listed.image) == 0))
    kind, row, column = (np.asarray(v)[:count] for v in (listed.type, listed.row, listed.column))
    candidates = Candidates(np.zeros(count, np.int32), row, column, kind)
    places, parents = covering(candidates, parts, image.shape)
    builder = GraphBuilder()
    builder.variables("part", count)
    builder.add("explained", Or.of(parents, builder.variables("pixel", len(places))))
    values = np.array([-parts.noise.loss, 0.0, parts.noise.gain])
    evidence = {
        "part": np.full(count, parts.noise.prior),
        "pixel": values[states.ravel()[places] + 1],
    }
    return SparsifierModel(builder.build(), evidence, candidates)


@dataclass(frozen=True, eq=False)
class CoverProgram:
    """The model as a linear program over parts x and pixels z: maximise value, rules (x, z) <= 0.

    An ON pixel is covered only where some part is, z <= sum x; an OFF pixel wherever one is,
    z >= x.
    """

    value: Float[np.ndarray, " variables"]
    rules: Any  # a sparse matrix, (rules, variables)
    parts: int  # the first variables are the parts

    def solve(self, whole: bool = False, seconds: float = 600.0) -> tuple[float, bool]:
        """Return the maximum and whether it is proven; ``whole``: parts are there or not."""
        if self.parts == 0:
            return 0.0, True
        found = milp(
            -self.value,
            constraints=LinearConstraint(self.rules, -np.inf, 0.0),
            bounds=Bounds(0, 1),
            integrality=np.where(np.arange(len(self.value)) < self.parts, int(whole), 0),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        return (-float(found.fun), found.status == 0) if found.x is not None else (np.inf, False)


def cover_program(model: SparsifierModel) -> CoverProgram:
    """Write the model as a linear program; its fractional maximum bounds every explanation."""
    value = np.concatenate([model.evidence["part"], model.evidence["pixel"]])
    parts, pixels = len(model.evidence["part"]), len(model.evidence["pixel"])
    if parts == 0:
        return CoverProgram(value, sp.csr_matrix((0, len(value))), 0)
    [(_, ors)] = model.graph.factors
    assert isinstance(ors, Or)
    pixel, part = ors.parents.row_of_value, ors.parents.values
    lit = model.evidence["pixel"] > 0
    on, off = lit[pixel], ~lit[pixel]
    covers = sp.csr_matrix((np.ones(on.sum()), (pixel[on], part[on])), (pixels, parts))
    needs = sp.hstack([-covers, sp.identity(pixels)]).tocsr()[lit]
    rule = np.tile(np.arange(off.sum()), 2)
    column = np.concatenate([part[off], parts + pixel[off]])
    sign = np.where(np.arange(len(rule)) < off.sum(), 1.0, -1.0)
    forces = sp.csr_matrix((sign, (rule, column)), (int(off.sum()), len(value)))
    return CoverProgram(value, sp.vstack([needs, forces]).tocsr(), parts)


def covering(
    candidates: Candidates, parts: Parts, shape: tuple[int, int]
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
