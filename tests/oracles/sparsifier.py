"""The score and the exact optimum of a sparsifier, apart from the code that is tested."""

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import scipy.sparse as sp
from jaxtyping import Float
from scipy.optimize import Bounds, LinearConstraint, milp

from mam.vision.parts.cover import SparsifierModel, sparsifier_model
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements


def score_of(
    placements: Placements, image: np.ndarray, parts: Parts, unknown: np.ndarray | None = None
) -> float:
    """The definition: gains of what is covered, and a prior for each placement."""
    rows, cols = image.shape
    covered = np.zeros(image.shape, bool)
    for kind, row, col in zip(placements.type, placements.row, placements.column, strict=True):
        for r, c in np.argwhere(parts.masks[kind]) - parts.radius + [row, col]:
            if 0 <= r < rows and 0 <= c < cols:
                covered[r, c] = True
    if unknown is not None:
        covered &= ~unknown
    noise = parts.noise
    score = noise.gain * (covered & image).sum() - noise.loss * (covered & ~image).sum()
    return float(score + noise.prior * len(placements))


def exact_optimum(
    image: np.ndarray,
    parts: Parts,
    pruning: str,
    exclusive: bool = True,
    seconds: float = 60.0,
    unknown: np.ndarray | None = None,
) -> tuple[float, bool]:
    """The best score over all sets of candidates by branch and bound, and whether it is proven."""
    model = sparsifier_model(image, parts, pruning, unknown, exclusive)
    return cover_program(model).solve(whole=True, seconds=seconds)


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
