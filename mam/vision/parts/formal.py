"""The sparsifier written down as a factor graph: for certificates, exporters and oracles."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from jaxtyping import Bool, Float, Int
from scipy.optimize import Bounds, LinearConstraint, milp

from mam.core.growing import GrowingSizes
from mam.factors import Ragged
from mam.graph import FactorGraph
from mam.vision.images.binary import as_states, padded_batches
from mam.vision.parts.candidates import PartCandidates, find_candidates
from mam.vision.parts.cover import cover_graph, cover_of
from mam.vision.parts.masks import Parts


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
    [(_, canvas, sizes)] = padded_batches([states], 1, blank=np.int8(0))
    listed = find_candidates(canvas, sizes, parts, pruning, GrowingSizes())
    count = int(np.sum(np.asarray(listed.image) == 0))
    kind, row, column = (np.asarray(v)[:count] for v in (listed.type, listed.row, listed.column))
    candidates = PartCandidates(np.zeros(count, np.int32), row, column, kind)
    graph, evidence = cover_graph(cover_of(candidates, [states], parts), parts.noise, exclusive)
    return SparsifierModel(graph, evidence, candidates)


@dataclass(frozen=True, eq=False)
class CoverProgram:
    """A linear program over parts x and pixels z: maximise value, where rules (x, z) <= most.

    A pixel that gains is covered only where some part is, z <= sum x; one that loses wherever one
    is, z >= x. At most one part stands at a position.
    """

    value: Float[np.ndarray, " variables"]
    rules: Any  # a sparse matrix, (rules, variables)
    most: Float[np.ndarray, " rules"]
    parts: int  # the first variables are the parts

    def solve(self, whole: bool = False, seconds: float = 600.0) -> tuple[float, bool]:
        """Return the maximum and whether it is proven; ``whole``: parts are there or not."""
        if self.parts == 0:
            return 0.0, True
        found = milp(
            -self.value,
            constraints=LinearConstraint(self.rules, -np.inf, cast(Any, self.most)),
            bounds=Bounds(0, 1),
            integrality=np.where(np.arange(len(self.value)) < self.parts, int(whole), 0),
            options={"time_limit": seconds, "mip_rel_gap": 0.0},
        )
        return (-float(found.fun), found.status == 0) if found.x is not None else (np.inf, False)


def cover_program(model: SparsifierModel) -> CoverProgram:
    """Write the model as a linear program; its fractional maximum bounds every explanation."""
    factors, parts = dict(model.graph.factors), len(model.evidence["part"])
    if "pixel" not in factors:
        return CoverProgram(model.evidence["part"], sp.csr_matrix((0, parts)), np.zeros(0), 0)
    pixels = factors["pixel"]
    weight = pixels.potentials[pixels.row, 1]
    value = np.concatenate([model.evidence["part"], weight])
    members = pixels.scopes()
    pixel, part = members.row_of_value, members.values
    lit = weight > 0
    on, off = lit[pixel], ~lit[pixel]
    covers = sp.csr_matrix((np.ones(on.sum()), (pixel[on], part[on])), (len(pixels), parts))
    needs = sp.hstack([-covers, sp.identity(len(pixels))]).tocsr()[lit]
    rule = np.tile(np.arange(off.sum()), 2)
    column = np.concatenate([part[off], parts + pixel[off]])
    sign = np.where(np.arange(len(rule)) < off.sum(), 1.0, -1.0)
    forces = sp.csr_matrix((sign, (rule, column)), (int(off.sum()), len(value)))
    rules, most = [needs, forces], [np.zeros(needs.shape[0] + int(off.sum()))]
    if "one" in factors:
        some = factors["one"].scopes()
        ones = np.ones(len(some.values))
        rules.append(
            sp.csr_matrix((ones, (some.row_of_value, some.values)), (len(some), len(value)))
        )
        most.append(np.ones(len(some)))
    return CoverProgram(value, sp.vstack(rules).tocsr(), np.concatenate(most), parts)


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
