"""The score and the exact optimum of a sparsifier, apart from the code that is tested."""

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from mam.vision.parts.formal import CoverProgram, cover_program, sparsifier_model
from mam.vision.parts.masks import Parts
from mam.vision.parts.sparsifier import Placements


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
    model = sparsifier_model(image, parts, pruning, unknown)
    program = cover_program(model)
    if exclusive and program.parts:
        program = _one_a_place(
            program, np.stack([model.candidates.row, model.candidates.column], 1)
        )
    return program.solve(whole=True, seconds=seconds)


def _one_a_place(program: CoverProgram, place: np.ndarray) -> CoverProgram:
    """At most one part a position: x_1 + ... + x_n - z <= 0 with one more variable z <= 1 each."""
    _, where = np.unique(place, axis=0, return_inverse=True)
    groups = int(where.max()) + 1
    parts = np.arange(program.parts)
    one = sp.csr_matrix(
        (np.ones(program.parts), (where.ravel(), parts)), (groups, len(program.value))
    )
    more = sp.hstack([program.rules, sp.csr_matrix((program.rules.shape[0], groups))])
    rules = sp.vstack([more, sp.hstack([one, -sp.identity(groups)])]).tocsr()
    return replace(program, value=np.append(program.value, np.zeros(groups)), rules=rules)
