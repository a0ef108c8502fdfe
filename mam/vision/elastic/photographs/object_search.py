"""From a picture to candidates of every object: forward pass, then max-product on the best."""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.vision.elastic.match import match, place_graphs
from mam.vision.elastic.photographs.edge_evidence import EvidenceConfig, ScoreMaps
from mam.vision.elastic.photographs.object_bank import ObjectBank
from mam.vision.elastic.photographs.object_forward import (
    LatticeConfig,
    Tiles,
    Tried,
    tiles_of,
    try_all,
)
from mam.vision.elastic.variants import VariantConfig, with_variants

# Narrower than for letters: learned poses are closer to each other.
_VARIANTS = VariantConfig(scale=0.15, rotation=6.0, shear=0.06, largest=30_000)
APART = 0.3  # overlap of two boxes (IoU) below which they are different places


@dataclass(frozen=True)
class ObjectSearchConfig:
    """All settings of the search."""

    evidence: EvidenceConfig = field(default_factory=EvidenceConfig)
    lattice: LatticeConfig = field(default_factory=LatticeConfig)
    graphs: int = 200  # of each object, with variants
    variants: VariantConfig = _VARIANTS
    best: int = 8  # candidates of an object that are matched
    elsewhere: int = 4  # more of them, each in another place
    window: int = 15  # px, in which vertices may move; odd
    sweeps: int = 1  # of messages, there and back


@dataclass(frozen=True, eq=False)
class ObjectLibrary:
    """A model, prepared for the search."""

    model: ObjectBank
    full: ObjectBank  # with variants
    source: Int[np.ndarray, " graphs"]  # which graph of the model each comes from
    tiles: Tiles
    largest: int
    config: ObjectSearchConfig

    @classmethod
    def of(cls, model: ObjectBank, config: ObjectSearchConfig, seed: int = 0) -> "ObjectLibrary":
        """Add variants, as many as every object has room for."""
        full, source = _with_variants(model, config, seed)
        tiles, largest = tiles_of(full.graphs, config.lattice)
        return cls(model, full, source, tiles, largest, config)


class ObjectCandidates(NamedTuple):
    """Candidates of one object in one picture, best first."""

    graph: Int[np.ndarray, " candidates"]  # of the model
    place: Int[np.ndarray, "candidates vertices 2"]
    there: Bool[np.ndarray, "candidates vertices"]
    score: Float[np.ndarray, " candidates"]


def _with_variants(
    model: ObjectBank, config: ObjectSearchConfig, seed: int
) -> tuple[ObjectBank, Int[np.ndarray, " graphs"]]:
    counts = np.bincount(model.graphs.category, minlength=len(model.names))
    most = int((config.graphs // np.maximum(counts, 1)).max()) - 1
    drawn = replace(config.variants, count=max(0, most), seed=seed)
    bank, source = with_variants(model.graphs, drawn)
    # The first graphs of every object: all its own, then variants in turn.
    rooms = np.maximum(config.graphs, counts)
    kept = [np.flatnonzero(bank.category == one)[:room] for one, room in enumerate(rooms)]
    chosen = np.sort(np.concatenate(kept))
    bank, source = bank.take(chosen), source[chosen]
    return replace(model, graphs=bank, outline=model.outline[source]), source


def search(
    evidence: ScoreMaps, library: ObjectLibrary, without: Int[np.ndarray, " left_out"] | None = None
) -> list[ObjectCandidates]:
    """The candidates of every object; graphs of the model that are named in ``without`` sit out."""
    config, full = library.config, library.full
    tried = try_all(
        evidence.pooled,
        library.tiles,
        len(full),
        library.largest,
        config.evidence.outside,
        config.lattice,
    )
    if without is not None:
        out = np.isin(library.source, without)
        tried = Tried(np.where(out[:, None], -np.inf, tried.score), tried.anchor)
    chosen = [_chosen(tried, library, number) for number in range(len(full.names))]
    flat = np.concatenate(chosen)
    graph, turn = flat.T
    corner = tried.anchor[graph, turn] - config.window // 2
    placed = place_graphs(full.graphs, np.zeros(len(graph), np.int32), graph, corner)
    # The maps of an image's types stand one after another; vertices name theirs.
    matched = match(evidence.parts, placed, config.evidence.outside, config.window, config.sweeps)
    score = matched.score / full.graphs.vertex_count[graph] ** config.lattice.power
    found, start = [], 0
    for own in chosen:
        members = np.arange(start, start + len(own))
        order = members[np.argsort(-score[members], kind="stable")]
        found.append(
            ObjectCandidates(
                library.source[graph[order]],
                matched.place[order],
                placed.there[order],
                score[order],
            )
        )
        start += len(own)
    return found


def _chosen(tried: Tried, library: ObjectLibrary, number: int) -> Int[np.ndarray, "candidates 2"]:
    """Graph and turn (which of its anchors) of an object's candidates."""
    config = library.config
    own = np.flatnonzero(library.full.graphs.category == number)
    score = tried.score[own]
    order = np.argsort(-score.ravel(), kind="stable")
    order = order[np.isfinite(score.ravel()[order])]
    pairs = np.stack([own[order // score.shape[1]], order % score.shape[1]], 1)
    if not len(pairs):
        return pairs
    corner = tried.anchor[pairs[:, 0], pairs[:, 1]].astype(np.float64)
    box = np.concatenate([corner, corner + library.full.graphs.vertices[pairs[:, 0]].max(1)], 1)
    kept = list(range(min(config.best, len(pairs))))
    places = [0]
    for one in range(1, len(pairs)):
        if len(places) > config.elsewhere:
            break
        if (box_overlap(box[one], box[places]) < APART).all():
            places.append(one)
    return pairs[np.union1d(kept, places)]


def box_overlap(
    box: Float[np.ndarray, "4"], others: Float[np.ndarray, "others 4"]
) -> Float[np.ndarray, " others"]:
    """IoU of a box (first row and column, last row and column) with others."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    common = np.clip(high - low + 1, 0, None).prod(1)
    area = (others[:, 2:] - others[:, :2] + 1).prod(1)
    return common / ((box[2:] - box[:2] + 1).prod() + area - common)
