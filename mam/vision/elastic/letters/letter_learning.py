"""Elastic graphs from masks of single objects."""

from collections.abc import Callable, Sequence

import numpy as np
from jaxtyping import Bool, Int
from skimage import measure

from mam.data.raster import disc
from mam.vision.curves.chains import group_numbers
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.springs import LONGEST, Edges, elastic_edges
from mam.vision.parts.greedy import greedy_cover
from mam.vision.parts.masks import CABC, Noise

# Masks, a part and the noise -> where the part is placed in each mask.
PartPlacer = Callable[[Sequence[np.ndarray], np.ndarray, Noise], list[np.ndarray]]
PART_RADIUS = 4  # px (paper, "Efficient inference with the object-specific MAM")


def learn_bank(
    masks: Sequence[Bool[np.ndarray, "_ _"]],
    categories: Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    *,
    cover: PartPlacer = greedy_cover,
) -> Bank:
    """Learn one elastic graph from each mask; errors name it by ``names``.

    ``cover`` places the parts: ``greedy_cover``, or the paper's ``message_cover``.

    >>> stroke = np.zeros((40, 60), bool)
    >>> stroke[16:25, 5:50] = True
    >>> learn_bank([stroke]).vertex_count.tolist()
    [11]
    """
    mask = disc(PART_RADIUS)
    names = names or [f"mask {number}" for number in range(len(masks))]
    vertices = cover(masks, mask, CABC)
    for name, own, found in zip(names, masks, vertices, strict=True):
        if not len(found):
            raise ValueError(_why_nothing(own, name))
    links = elastic_edges(vertices)
    torn = np.flatnonzero(_pieces(vertices, links) > 1)
    if len(torn):
        raise ValueError(
            f"{names[torn[0]]} falls into pieces more than {LONGEST:g} px apart, which no "
            "edge joins; give one object a mask"
        )
    return Bank.of(vertices, links, mask, categories)


def _pieces(vertices: Sequence[np.ndarray], links: Sequence[Edges]) -> Int[np.ndarray, " graphs"]:
    """How many pieces each graph has."""
    counts = np.array([len(places) for places in vertices])
    first = np.cumsum(counts) - counts
    ends = np.concatenate([own.ends + at for own, at in zip(links, first, strict=True)])
    piece = group_numbers(ends, np.ones(len(ends), bool), int(counts.sum()))
    _, a_vertex = np.unique(piece, return_index=True)
    return np.bincount(np.repeat(np.arange(len(counts)), counts)[a_vertex], minlength=len(counts))


def _why_nothing(mask: np.ndarray, name: str) -> str:
    if not mask.any():
        return f"{name} has no pixels; leave it out"
    pieces = int(np.asarray(measure.label(mask, connectivity=2)).max())
    return (
        f"{name} has {int(mask.sum())} pixels in {pieces} pieces, too few together for a "
        "single part; leave it out, or enlarge it"
    )
