"""From a picture to candidates of every object: forward pass, then max-product on the best."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from mam.core.defaults import OBJECT_GRAPHS
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.forward import Tiles, extent_of
from mam.vision.elastic.photographs.edge_evidence import EvidenceConfig, ScoreMaps
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.elastic.photographs.object_forward import (
    LatticeConfig,
    Tried,
    all_tiles,
    try_all,
)
from mam.vision.elastic.search import Library, MatchedGraphs, ScoredImages, SearchConfig
from mam.vision.elastic.variants import VariantConfig, with_variants

# Narrower than for letters: learned poses are closer to each other.
_VARIANTS = VariantConfig(scale=0.15, rotation=6.0, shear=0.06, largest=30_000)
_EXTENT = 64  # px, to which the extent of graphs is rounded up
_APART = 0.3  # overlap of two boxes (IoU) below which they are different places


@dataclass(frozen=True)
class ObjectSearchConfig(SearchConfig):
    """All settings of the search."""

    window: int = 15
    variants: VariantConfig = _VARIANTS
    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)
    lattice: LatticeConfig = field(default_factory=LatticeConfig)
    graphs: int = OBJECT_GRAPHS  # of each object, with variants
    best: int = 8  # candidates of an object that are matched
    elsewhere: int = 4  # more of them, each in another place


@dataclass(frozen=True, eq=False)
class ObjectLibrary(Library):
    """A library for photographs."""

    model: ObjectBank
    tiles: Tiles
    config: ObjectSearchConfig

    @classmethod
    def of(cls, model: ObjectBank, config: ObjectSearchConfig, seed: int = 0) -> "ObjectLibrary":
        """Add variants, as many as every object may have."""
        bank, source = _with_variants(model, config, seed)
        tiles = all_tiles(bank, config.lattice)
        return cls(bank, source, extent_of(bank, _EXTENT), model, tiles, config)


class ObjectCandidates(NamedTuple):
    """Candidates of one object in one picture, best first."""

    graphs: MatchedGraphs
    score: Float[np.ndarray, " candidates"]


def _with_variants(
    model: ObjectBank, config: ObjectSearchConfig, seed: int
) -> tuple[Bank, Int[np.ndarray, " graphs"]]:
    counts = np.bincount(model.graphs.category, minlength=len(model.names))
    copies = int((config.graphs // np.maximum(counts, 1)).max()) - 1
    drawn = replace(config.variants, count=max(0, copies), seed=seed)
    bank, source = with_variants(model.graphs, drawn)
    # The first graphs of every object: all its own, then variants in turn.
    most = np.maximum(config.graphs, counts)
    kept = [np.flatnonzero(bank.category == one)[:count] for one, count in enumerate(most)]
    chosen = np.sort(np.concatenate(kept))
    return bank.take(chosen), source[chosen]


def search(
    evidence: ScoreMaps, library: ObjectLibrary, without: Int[np.ndarray, " left_out"] | None = None
) -> list[ObjectCandidates]:
    """The candidates of every object; graphs of the model that are named in ``without`` sit out."""
    config, bank = library.config, library.bank
    images = scored(evidence, library)
    tried = try_all(
        evidence.pooled, library.tiles, len(bank), library.extent, images.outside, config.lattice
    )
    if without is not None:
        out = np.isin(library.source, without)
        tried = Tried(np.where(out[:, None], -np.inf, tried.score), tried.anchor)
    chosen = [_chosen(tried, library, number) for number in range(len(library.model.names))]
    graph, turn = np.concatenate(chosen).T
    corner = tried.anchor[graph, turn] - config.window // 2
    none = np.zeros(len(graph), np.int32)
    found = images.match(bank.shapes, none, graph, corner, config)
    score = found.matched.score / bank.vertex_count[graph] ** config.lattice.power
    borders = np.cumsum([len(own) for own in chosen])[:-1]
    members = np.split(np.arange(len(graph)), borders)
    ordered = [own[np.argsort(-score[own], kind="stable")] for own in members]
    return [ObjectCandidates(found.take(own), score[own]) for own in ordered]


def scored(evidence: ScoreMaps, library: ObjectLibrary) -> ScoredImages:
    """The maps of the types, one after another; vertices name theirs."""
    return ScoredImages(evidence.parts, library.config.evidence.outside)


def _chosen(tried: Tried, library: ObjectLibrary, number: int) -> Int[np.ndarray, "candidates 2"]:
    """Graph and turn (which of its anchors) of an object's candidates."""
    config = library.config
    own = np.flatnonzero(library.bank.category == number)
    score = tried.score[own]
    order = np.argsort(-score.ravel(), kind="stable")
    order = order[np.isfinite(score.ravel()[order])]
    pairs = np.stack([own[order // score.shape[1]], order % score.shape[1]], 1)
    if not len(pairs):
        return pairs
    corner = tried.anchor[pairs[:, 0], pairs[:, 1]].astype(np.float64)
    box = np.concatenate([corner, corner + library.bank.vertices[pairs[:, 0]].max(1)], 1)
    kept = list(range(min(config.best, len(pairs))))
    return pairs[np.union1d(kept, places_apart(box, config.elsewhere + 1))]


def places_apart(box: Float[np.ndarray, "boxes 4"], most: int | None = None) -> list[int]:
    """The first box of each place: first row and column, last row and column of each.

    >>> places_apart(np.array([[0.0, 0, 9, 9], [1, 1, 9, 9], [5, 5, 20, 20]]))
    [0, 2]
    """
    places, left = list[int](), np.arange(len(box))
    while len(left) and len(places) != most:
        places.append(int(left[0]))
        left = left[_overlap(box[left[0]], box[left]) < _APART]
    return places


def _overlap(
    box: Float[np.ndarray, "4"], others: Float[np.ndarray, "others 4"]
) -> Float[np.ndarray, " others"]:
    """IoU of a box with others."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.clip(high - low + 1, 0, None).prod(1)
    area = (others[:, 2:] - others[:, :2] + 1).prod(1)
    return common / ((box[2:] - box[:2] + 1).prod() + area - common)
