"""Typed elastic graphs from photographs with masks; several for each object, to cover its poses."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from mam.core.resize import scale_to, scaled
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.found import outline_of
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.elastic.springs import elastic_edges
from mam.vision.images.photo_edges import TYPES, as_channels, check_picture, find_edges

_STRENGTH = 0.04  # of an edge that may become a vertex
_POSES = 24  # graphs of an object, at most
_LONGEST = 10_000.0  # px, of an edge of a graph: an object may be as large as the picture
_CELLS = 4  # a pose is told by the directions of edges in 4 x 4 cells of its box
_CLOSE = 1.35  # times the target distance: how far the next point of a walk may be
_FEWEST = 3  # vertices of a graph: fewer have no inside


class Example(NamedTuple):
    """A photograph with the mask of one object."""

    image: Shaped[np.ndarray, "..."]
    mask: Bool[np.ndarray, "rows cols"]
    name: str  # of the object
    depth: Float[np.ndarray, "rows cols"] | None = None  # metres, all of it known
    where: str = "the image"  # what to call it in errors
    picture: str = ""  # equal for examples of one picture; else each array is a picture of its own
    scene: str = ""  # equal for pictures of one scene; else each picture is a scene of its own

    @property
    def key(self) -> str:
        """What tells pictures apart."""
        return self.picture or str(id(self.image))


class Sketch(NamedTuple):
    """The vertices of an example before they are joined."""

    vertices: Int[np.ndarray, "vertices 2"]
    type: Int[np.ndarray, " vertices"]
    pose: Float[np.ndarray, " features"]


def check_example(example: Example) -> None:
    """Refuse a mask that nothing can be learned from."""
    mask = example.mask
    if mask.shape != example.image.shape[:2]:
        raise ValueError(
            f"{example.where}: its mask has {mask.shape[0]} x {mask.shape[1]} px, the picture "
            f"{example.image.shape[0]} x {example.image.shape[1]}; they must be the same"
        )
    if not mask.any():
        raise ValueError(f"{example.where}: its mask is empty; leave it out, or mark the object")


def reduced_example(example: Example, side: int) -> Example:
    """An example whose picture is no larger than ``side``; told apart from others as before."""
    check_picture(example.image, example.where)
    check_example(example)
    scale = scale_to(example.image.shape, side)
    return example._replace(
        image=scaled(example.image, scale),
        mask=scaled(example.mask, scale),
        depth=None if example.depth is None else scaled(example.depth, scale),
        picture=example.key,
    )


def sketch(example: Example, distance: float, seed: int) -> Sketch:
    """Pick vertices, about so many px apart, on the edges inside the mask."""
    check_example(example)
    edges = find_edges(as_channels(example.image, example.depth, example.where))
    strength, type_ = np.asarray(edges.strength), np.asarray(edges.type)
    points = np.argwhere((strength > _STRENGTH) & example.mask)
    chosen = points[pick_points(points, distance, np.random.default_rng(seed))]
    if len(chosen) < _FEWEST:
        raise ValueError(
            f"{example.where}: {len(points)} px of edges inside the mask, too few to know the "
            "object by; leave it out, or take a sharper or larger picture"
        )
    types = type_[tuple(points.T)]
    return Sketch(chosen, type_[tuple(chosen.T)], _pose(points, types, example.mask))


def learn_graphs(
    examples: Sequence[Example], distance: float, seed: int
) -> tuple[ObjectBank, Int[np.ndarray, " graphs"]]:
    """One graph from each chosen example; and the numbers of those examples. No thresholds yet."""
    for example in examples:
        check_example(example)
    if not examples:
        raise ValueError("no examples, so there is nothing to learn from")
    names = tuple(dict.fromkeys(example.name for example in examples))
    number = np.array([names.index(example.name) for example in examples])
    sketches = [sketch(example, distance, seed) for example in examples]
    chosen = np.sort(
        np.concatenate(
            [
                own[spread_out(np.stack([sketches[n].pose for n in own]), _POSES)]
                for own in (np.flatnonzero(number == one) for one in range(len(names)))
            ]
        )
    )
    vertices = [sketches[n].vertices for n in chosen]
    types = [sketches[n].type for n in chosen]
    links = elastic_edges(vertices, _LONGEST)
    point = np.ones((1, 1), bool)
    bank = Bank.of(vertices, links, point, number[chosen].tolist(), types)
    outline = np.stack([outline_of(examples[n].mask) - sketches[n].vertices.min(0) for n in chosen])
    return ObjectBank(bank, outline, names, np.zeros(len(names))), chosen


def spread_out(
    features: Float[np.ndarray, "examples features"], count: int
) -> Int[np.ndarray, " chosen"]:
    """Examples that cover all: each next one is the farthest from those chosen before.

    >>> spread_out(np.array([[0.0], [0.1], [5.0], [9.0]]), 3).tolist()
    [0, 3, 2]
    """
    chosen = [0]
    far = np.linalg.norm(features - features[0], axis=1)
    while len(chosen) < min(count, len(features)):
        chosen.append(int(far.argmax()))
        far = np.minimum(far, np.linalg.norm(features - features[chosen[-1]], axis=1))
    return np.array(chosen)


def _pose(
    points: Int[np.ndarray, "points 2"], types: Int[np.ndarray, " points"], mask: np.ndarray
) -> Float[np.ndarray, " features"]:
    """How much of each direction is in each cell of the object's box, and the box's proportions."""
    spots = np.argwhere(mask)
    low, size = spots.min(0), np.ptp(spots, axis=0) + 1
    cell = np.minimum((points - low) * _CELLS // size, _CELLS - 1)
    counts = np.zeros((_CELLS, _CELLS, TYPES))
    np.add.at(counts, (cell[:, 0], cell[:, 1], types), 1.0)
    root = np.sqrt(counts / max(len(points), 1))  # of length 1
    return np.append(root.ravel(), np.log(size / 100.0))


def pick_points(
    points: Int[np.ndarray, "points 2"], distance: float | int, rng: np.random.Generator
) -> Int[np.ndarray, " chosen"]:
    """Numbers of points, no two closer than ``distance``, in the order in which they were picked.

    The paper's way, "Edge detection and heuristic sparsification". A walk starts at a random point
    and goes on to the point nearest to the target distance that is as far from all picked ones;
    where there is none, another walk starts at a random free point.

    >>> line = np.stack([np.zeros(31, int), np.arange(31)], 1)
    >>> chosen = pick_points(line, 10, np.random.default_rng(0))
    >>> np.diff(np.sort(line[chosen, 1])).min() >= 10
    np.True_
    """
    chosen: list[int] = []
    nearest = np.full(len(points), np.inf)  # to the nearest picked point
    while (free := np.flatnonzero(nearest >= distance)).size:
        here = int(rng.choice(free))
        while True:
            chosen.append(here)
            away = np.hypot(*(points - points[here]).T)
            nearest = np.minimum(nearest, away)
            ahead = np.flatnonzero((nearest >= distance) & (away <= _CLOSE * distance))
            if not ahead.size:
                break
            here = int(ahead[away[ahead].argmin()])
    return np.array(chosen, np.int64)
