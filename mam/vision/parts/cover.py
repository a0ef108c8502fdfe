"""Candidates and the pixels that they cover, for many images at once, as a factor graph.

A pixel is an ``AnyOf`` of its candidates: it gains or loses once, however many of them are chosen.
Pixels with the same candidates are one factor with the sum of their weights. A position at which
several types of parts might stand is a ``Choice`` of at most one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int, Int8

from mam.core.columns import Columns
from mam.core.growing import GrowingSizes
from mam.factors import AnyOf, Choice, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.infer.twins import GOLDEN, mixed
from mam.vision.images.binary import as_states
from mam.vision.parts.candidates import PartCandidates
from mam.vision.parts.masks import Noise, Parts
from mam.vision.parts.tiles import list_candidates


@dataclass(frozen=True, eq=False)
class Cover(Columns):
    """Candidates on the host, sorted by image, row, column and type, and their pixels."""

    candidates: PartCandidates
    pixels: Int[np.ndarray, "candidates size"]  # numbered over all images; any where state is 0
    states: Int8[np.ndarray, "candidates size"]  # 1 ON, -1 OFF, 0 unknown, outside, or no pixel
    place: Int[np.ndarray, " candidates"]  # number of the position, over all images


def cover_of(
    candidates: PartCandidates, states: Sequence[Int8[np.ndarray, "_ _"]], parts: Parts
) -> Cover:
    """Look up the pixels under the candidates of some images."""
    reach = _border(parts)
    wide = [np.pad(state, reach) for state in states]
    shape = np.array([state.shape for state in wide], np.int64).reshape(-1, 2)
    base = np.cumsum(shape.prod(1)) - shape.prod(1)
    width = shape[candidates.image, 1]
    row, column = candidates.row + reach, candidates.column + reach
    place = base[candidates.image] + row * width + column
    down, right, missing = (values[candidates.type] for values in _pixel_lists(parts))
    pixels = place[:, None] + down * width[:, None] + right
    pixels[missing] = 0  # in the border
    flat = np.concatenate([np.zeros(0, np.int8), *(state.ravel() for state in wide)])
    return Cover(candidates, pixels, flat[pixels], place)


def _border(parts: Parts) -> int:
    """Rows and columns of unknown pixels around every image: then nothing lies outside."""
    return parts.radius + 1


@lru_cache(maxsize=16)
def _pixel_lists(parts: Parts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of each part's pixels, from its middle, and where short lists have none."""
    lists = np.zeros((len(parts), int(parts.sizes.max()), 2), np.int64)
    missing = np.arange(lists.shape[1]) >= parts.sizes[:, None]
    for type_, mask in enumerate(parts.masks):
        found = np.argwhere(mask) - parts.radius
        lists[type_, : len(found)] = found
    return lists[..., 0], lists[..., 1], missing


def cover_graph(
    cover: Cover, noise: Noise, exclusive: bool, by_pixel: bool = False
) -> tuple[FactorGraph, dict[str, np.ndarray]]:
    """Write the candidates of a cover as a graph with the variables "part", and its evidence.

    The score is 0 where no candidate is chosen. With ``by_pixel`` every pixel is a factor of its
    own: the same scores, but other messages.
    """
    builder = GraphBuilder()
    builder.variables("part", len(cover))
    members, weights = _weighed_pixels(cover, noise, by_pixel)
    if len(members):
        builder.add("pixel", AnyOf.of(members, weights))
    if exclusive:
        many = _same_place(cover)
        if len(many):
            builder.add("one", Choice.of(many, optional=True))
    return builder.build(), {"part": np.full(len(cover), noise.prior)}


class CoveredPixels(NamedTuple):
    """The known pixels that candidates cover, in order."""

    pixel: Int[np.ndarray, " covered"]  # numbered as by the cover
    state: Int8[np.ndarray, " covered"]
    parents: Ragged  # the candidates over each of them


def in_image(
    pixel: Int[np.ndarray, " pixels"], parts: Parts, shape: tuple[int, int]
) -> Int[np.ndarray, " pixels"]:
    """Numbers of pixels of a cover, counted without its border: those of a single image."""
    row, column = np.divmod(pixel, shape[1] + 2 * _border(parts))
    return (row - _border(parts)) * shape[1] + column - _border(parts)


def covered_pixels(cover: Cover) -> CoveredPixels:
    """List the candidates of a cover by the pixels under them."""
    candidate, _ = np.nonzero(cover.states)
    known = cover.states != 0
    pixel, state = cover.pixels[known], cover.states[known]
    order = np.argsort(pixel, kind="stable")
    pixel, candidate, state = pixel[order], candidate[order], state[order]
    start = np.flatnonzero(np.append(True, pixel[1:] != pixel[:-1])[: len(pixel)])
    parents = Ragged(candidate, np.append(start, len(pixel)))
    return CoveredPixels(pixel[start], state[start], parents)


def _weighed_pixels(cover: Cover, noise: Noise, by_pixel: bool) -> tuple[Ragged, np.ndarray]:
    """Lists of candidates with all pixels (or each) that they alone share, and their weight.

    In the order of their first pixels, so that it does not depend on other images.
    """
    _, state, parents = covered_pixels(cover)
    if by_pixel or not len(parents):
        return parents, np.where(state > 0, noise.gain, -noise.loss)
    code = mixed(np.arange(1, len(cover) + 1, dtype=np.uint64) * GOLDEN)
    whose = np.add.reduceat(code[parents.values], parents.offsets[:-1])
    _, first, which = np.unique(whose, return_index=True, return_inverse=True)
    counts = [np.bincount(which.ravel()[state == sign], minlength=len(first)) for sign in (1, -1)]
    weights = noise.gain * counts[0] - noise.loss * counts[1]
    turn = np.argsort(first)
    return parents.take(first[turn]), weights[turn]


def _same_place(cover: Cover) -> Ragged:
    """The candidates at each position that has several."""
    start = np.flatnonzero(np.append(True, cover.place[1:] != cover.place[:-1])[: len(cover)])
    runs = Ragged(np.arange(len(cover)), np.append(start, len(cover)))
    return runs.take(np.flatnonzero(runs.lengths > 1))


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
