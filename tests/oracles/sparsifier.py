"""The score and the exact optimum of a sparsifier, apart from the code that is tested."""

import numpy as np

from mam.vision.parts.formal import cover_program, sparsifier_model
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
