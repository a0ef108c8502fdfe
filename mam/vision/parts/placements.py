"""The answer of the sparsifier: the parts that explain an image, and the pixels they cover."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.words import counted
from mam.infer.solution import gap_between
from mam.vision.parts.cover import Cover
from mam.vision.parts.explain import Explanation
from mam.vision.parts.masks import Noise, Parts


@dataclass(frozen=True, eq=False)
class Placements:
    """The parts that explain one image, sorted by row, column and type."""

    type: Int[np.ndarray, " placements"]
    row: Int[np.ndarray, " placements"]  # of the middle pixel
    column: Int[np.ndarray, " placements"]
    margin: Float[np.ndarray, " placements"]  # what leaving it out costs, see ``Explanation``
    shape: tuple[int, int]  # of the image
    score: float  # log likelihood with the prior, against no placements
    bound: float | None = None  # no choice among the candidates scores higher
    proof: str | None = None  # "exact": this one is the best of them; "bound": so says the bound

    def __len__(self) -> int:
        return len(self.type)

    def __repr__(self) -> str:
        sure = "proved optimal" if self.proof else "not proved optimal"
        return f"<Placements: {counted(len(self), 'part')}, score {self.score:.4g}, {sure}>"

    @property
    def gap(self) -> float | None:
        """Bound minus score: 0 proves the explanation optimal."""
        return gap_between(self.score, self.bound)


def placements_of(
    cover: Cover, answer: Explanation, states: list[np.ndarray], noise: Noise
) -> list[Placements]:
    """Cut the answer into images."""
    listed = cover.candidates
    chosen = np.flatnonzero(answer.chosen)
    borders = np.searchsorted(listed.image[chosen], np.arange(len(states) + 1))
    lit, dark = _covered(cover.take(chosen), len(states))
    parts = np.diff(borders)
    score = noise.gain * lit - noise.loss * dark + noise.prior * parts
    proved = np.bincount(listed.image[~answer.proved], minlength=len(states)) == 0
    found = []
    for image, state in enumerate(states):
        own = chosen[borders[image] : borders[image + 1]]
        where = listed.type[own], listed.row[own], listed.column[own]
        total = float(score[image])
        proof = {"bound": total, "proof": "exact"} if proved[image] else {}
        found.append(Placements(*where, answer.margin[own], state.shape, total, **proof))
    return found


def _covered(cover: Cover, images: int) -> tuple[np.ndarray, np.ndarray]:
    """How many ON and OFF pixels of each image the candidates cover."""
    known = cover.states != 0
    image = np.broadcast_to(cover.candidates.image[:, None], known.shape)[known]
    _, first = np.unique(cover.pixels[known], return_index=True)
    state = cover.states[known][first]
    lit, dark = (np.bincount(image[first][state == sign], minlength=images) for sign in (1, -1))
    return lit, dark


def draw_placements(placements: Placements, parts: Parts) -> Bool[np.ndarray, "rows cols"]:
    """Return the pixels that some placement covers."""
    rows, cols = placements.shape
    reach = parts.radius
    canvas = np.zeros((rows + 2 * reach, cols + 2 * reach), bool)
    where = placements.row, placements.column, placements.type
    for row, col, type_ in zip(*where, strict=True):
        canvas[row : row + parts.side, col : col + parts.side] |= parts.masks[type_]
    return canvas[reach : reach + rows, reach : reach + cols]
