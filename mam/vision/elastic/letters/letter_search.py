"""From images to candidates: forward pass, matching, and rounds of refitting the best ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.devices import batch_sizes, on_each, on_one_gpu, spread
from mam.core.either import Values, either, namespace
from mam.infer.wired import Flooding
from mam.vision.elastic.bank import Bank, GraphShapes
from mam.vision.elastic.forward import extent_of
from mam.vision.elastic.letters.letter_coarse import match_coarsely
from mam.vision.elastic.letters.letter_forward import (
    Chunk,
    ForwardConfig,
    Ranked,
    forward,
    forward_chunks,
    groups_of,
    part_scores,
)
from mam.vision.elastic.letters.letter_pairs import PairConfig, pair_scores
from mam.vision.elastic.search import (
    Library,
    MatchedGraphs,
    RefitRound,
    ScoredImages,
    SearchConfig,
)
from mam.vision.elastic.variants import VariantConfig, with_variants
from mam.vision.images.binary import padded_batches

PAST = np.int8(-1)  # beyond an image everything is OFF
_ON_DEVICE = 2 << 30  # bytes of graphs that stay on the device; more are sent for every batch
_BYTES = 4  # a coordinate takes on the device
_EXTENT = 256  # px, rounded up to: one compilation serves all banks of small objects
_WEIGHT_SHIFT = 20.0  # a vertex on evidence of minus this has no say in where its graph goes

# Of the places for candidates in the next round, this share goes to those that are part of the best
# pairs, the rest to those that score best alone.
_SHARE_OF_PAIRS = 0.75


@dataclass(frozen=True)
class LetterSearchConfig(SearchConfig):
    """All settings of the search. ``paper()`` gives those of the paper."""

    # Windows of one size, which is that of the first matching in its coarse steps too: each size
    # takes programs of its own, which compile longer than hundreds of images take.
    rounds: tuple[RefitRound, ...] = (
        RefitRound(160, 13, 1, 0.1),
        RefitRound(96, 13, 1, 0.1),
        RefitRound(96, 13, 1, 0.1),
    )
    off: float = 0.89  # evidence of an OFF pixel is minus this, of an ON pixel 1
    kept: int = 96  # candidates that pairs are made of
    coarse: int = 2  # px between places of the first matching, if rounds follow it
    pull: float = 0.02  # of the first matching, see RefitRound
    thin: int = 4  # every so many rows and columns count in the pairs of the first matching
    forward: ForwardConfig = field(default_factory=ForwardConfig)
    pairs: PairConfig = field(default_factory=PairConfig)

    @classmethod
    def paper(cls) -> "LetterSearchConfig":
        """The paper's pipeline: no variants, no refitting, its forward pass and its pair scores."""
        return cls(
            sweeps=Flooding(iterations=60, damping=0.4),  # facts, "cABC model"
            rounds=(),
            kept=140,
            forward=ForwardConfig(
                every=1, by_category=False, each_anchor=3, each_group=140, more=0
            ),
            variants=VariantConfig(count=0),
            pairs=PairConfig(off=cls.off, multiple=0.33, shared=0.33),
        )


@dataclass(frozen=True, eq=False)
class LetterLibrary(Library):
    """A library for binary images."""

    kept: Sequence[Chunk] | None  # on the device; None: too many for that
    shapes: GraphShapes  # what candidates are placed from; on the device, they are matched there
    groups: int
    config: LetterSearchConfig

    @classmethod
    def of(
        cls, bank: Bank, config: LetterSearchConfig, most_bytes: int = _ON_DEVICE
    ) -> "LetterLibrary":
        """Prepare a bank; one of more bytes is streamed from its file instead."""
        full, source = with_variants(bank, config.variants)
        few = full.vertices.size * _BYTES <= most_bytes
        kept = [on_each(one) for one in forward_chunks(full, config.forward)] if few else None
        shapes = full.shapes
        if few and on_one_gpu() and not isinstance(config.sweeps, Flooding):
            shapes = on_each(shapes)
        groups = int(groups_of(full, config.forward).max()) + 1
        return cls(full, source, extent_of(full, _EXTENT), kept, shapes, groups, config)

    @property
    def chunks(self) -> Iterable[Chunk]:
        """The graphs for the forward pass, from the device or, chunk by chunk, from the bank."""
        return forward_chunks(self.bank, self.config.forward) if self.kept is None else self.kept

    @property
    def on_device(self) -> bool:
        """Whether candidates stay on the device until all is done."""
        return isinstance(self.shapes.vertices, jax.Array)


class LetterCandidates(NamedTuple):
    """Candidates of one image, and the scores of all pairs of them."""

    graphs: MatchedGraphs
    single: Float[np.ndarray, " candidates"]  # -inf: not a candidate
    pair: Float[np.ndarray, "candidates candidates"]  # -inf on the diagonal


def search(
    states: Sequence[Int[np.ndarray, "_ _"]], library: LetterLibrary
) -> list[LetterCandidates]:
    """Find candidates for images whose pixels are 1 (ON), -1 (OFF) or 0 (unknown)."""
    found: list[LetterCandidates | None] = [None] * len(states)
    for numbers, batch in padded_batches(states, batch_sizes(), blank=PAST):
        for number, one in zip(numbers, _search(batch, library), strict=False):
            found[number] = one
    return [one for one in found if one is not None]


def candidates_of(
    graphs: MatchedGraphs, state: Int[np.ndarray, "rows cols"], library: LetterLibrary
) -> LetterCandidates:
    """Graphs placed on one image, with the scores of all pairs of them."""
    pair, single = pairs_of(graphs, state[None], library, stride=1)
    return LetterCandidates(graphs, single[0], pair[0])


def scored(states: Int[np.ndarray, "images rows cols"], library: LetterLibrary) -> ScoredImages:
    """The evidence under the part at every place."""
    off, mask = library.config.off, library.bank.mask
    values = np.where(states > 0, 1.0, states * off).astype(np.float32)
    return ScoredImages(part_scores(spread(values), mask, -off), -off * float(mask.sum()))


def _search(
    states: Int[np.ndarray, "images rows cols"], library: LetterLibrary
) -> list[LetterCandidates]:
    """Match, and refit fewer and fewer candidates."""
    config, images = library.config, scored(states, library)
    found = first_matches(images, library)
    known = spread(states) if library.on_device else states
    for number, again in enumerate(config.rounds):
        pair, single = pairs_of(found, known, library, config.thin if number == 0 else 2)
        found = refit_best(images, found, _best(pair, single, again.candidates), again)
    pair, single = pairs_of(found, known, library, stride=1)
    chosen = _best(pair, single, config.kept)
    kept = found.take(_flat(chosen, single.shape[1])).on_host()
    single, pair = jax.device_get(_scores_of(chosen, single, pair))
    each = single.shape[1]
    return [
        LetterCandidates(kept.take(slice(i * each, (i + 1) * each)).on_image(0), single[i], pair[i])
        for i in range(len(states))
    ]


def refit_best(
    images: ScoredImages,
    found: MatchedGraphs,
    chosen: Int[Values, "images some"],
    again: RefitRound,
) -> MatchedGraphs:
    """Match some candidates of each image again, by their numbers among those of that image."""
    found = found.take(_flat(chosen, len(found.graph) // len(chosen)))
    # On a host numpy weighs what it reads from a copy.
    scores = images.scores if isinstance(found.graph, jax.Array) else np.asarray(images.scores)
    weight = vertex_weights(scores, found.placed.image, found.place, found.there)
    return images.refit(found, weight, again)


@either("count")
def _flat(chosen: Int[Values, "images some"], count: int) -> Int[Values, " all"]:
    """Numbers of candidates of all images together, of which each has so many."""
    return (chosen + namespace(chosen).arange(len(chosen))[:, None] * count).ravel()


@either()
def _scores_of(
    chosen: Int[Values, "images some"],
    single: Float[Values, "images n"],
    pair: Float[Values, "images n n"],
) -> tuple[Float[Values, "images some"], Float[Values, "images some some"]]:
    """The scores of some candidates of each image, and of their pairs."""
    image = namespace(chosen).arange(len(chosen))[:, None]
    return single[image, chosen], pair[image[..., None], chosen[:, :, None], chosen[:, None]]


def first_matches(images: ScoredImages, library: LetterLibrary) -> MatchedGraphs:
    """The candidates of the forward pass, matched where it found them."""
    config, (scores, outside) = library.config, images
    ranked = forward(
        scores, library.chunks, library.groups, config.forward, library.extent, outside
    )
    if not library.on_device:
        ranked = jax.device_get(ranked)
    # The matching's window is wider than the forward pass's, by as much on every side.
    where = _where(ranked, (config.window - config.forward.window) // 2)
    if not config.rounds:
        return images.match(library.shapes, *where, config)
    return match_coarsely(images, library.shapes, *where, config, config.coarse, config.pull)


@either("wider")
def _where(
    ranked: Ranked, wider: int
) -> tuple[Int[Values, " candidates"], Int[Values, " candidates"], Int[Values, "candidates 2"]]:
    """Image and graph of each candidate, or -1, and where its window begins."""
    xp = namespace(ranked.graph)
    graph = xp.where(xp.isfinite(ranked.score), ranked.graph, -1)
    image = xp.repeat(xp.arange(len(graph)), graph.shape[1])
    return image, graph.ravel(), (ranked.anchor - wider).reshape(-1, 2)


def pairs_of(
    found: MatchedGraphs,
    states: Int[Values, "images rows cols"],
    library: LetterLibrary,
    stride: int,
) -> tuple[Float[Values, "images n n"], Float[Values, "images n"]]:
    """Scores of pairs and single candidates, -inf for those that are none."""
    graph = found.graph.reshape(len(states), -1)
    place = found.place.reshape(*graph.shape, -1, 2)
    there = found.there.reshape(*graph.shape, -1)
    pair, single = pair_scores(
        place, there, states, library.bank.mask, library.config.pairs, stride
    )
    return _without_none(graph, pair, single)


@either()
def _without_none(
    graph: Int[Values, "images n"], pair: Float[Values, "images n n"], single: Float[Values, "_ n"]
) -> tuple[Float[Values, "images n n"], Float[Values, "images n"]]:
    xp, none = namespace(graph), graph < 0
    never = none[:, :, None] | none[:, None] | xp.eye(graph.shape[1], dtype=bool)
    return xp.where(never, -xp.inf, pair), xp.where(none, -xp.inf, single)


@either("size")
def _best(
    pair: Float[Values, "images n n"], single: Float[Values, "images n"], size: int
) -> Int[Values, "images some"]:
    """Numbers of the candidates in the best pairs and of the best alone, in ascending order."""
    xp, size = namespace(pair), min(size, single.shape[1])
    share = max(1, int(size * _SHARE_OF_PAIRS))
    by_pairs = xp.argsort(-pair.max(2), axis=1, stable=True)
    rank = xp.argsort(by_pairs, axis=1, stable=True)
    lead = xp.where(rank < share, xp.inf, single)
    return xp.sort(xp.argsort(-lead, axis=1, stable=True)[:, :size], axis=1)


@either()
def vertex_weights(
    scores: Float[Values, "maps rows cols"],
    image: Int[Values, " candidates"],
    place: Int[Values, "candidates vertices 2"],
    there: Bool[Values, "candidates vertices"],
) -> Float[Values, "candidates vertices"]:
    """How much each vertex has to say in the refitting: more on better evidence."""
    xp, (rows, cols) = namespace(place), scores.shape[1:]
    row, col = place[..., 0].clip(0, rows - 1), place[..., 1].clip(0, cols - 1)
    own = scores[image[:, None], row, col].astype(float)
    return xp.where(there, xp.maximum(own + _WEIGHT_SHIFT, 1.0), 0.0)
