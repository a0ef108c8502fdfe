"""From images to candidates: forward pass, matching, and rounds of refitting the best ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from mam.core.devices import batch_size, on_each, spread
from mam.infer.wired import Flooding
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.forward import extent_of
from mam.vision.elastic.letters.letter_coarse import match_coarsely
from mam.vision.elastic.letters.letter_forward import (
    Chunk,
    ForwardConfig,
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
    groups: int
    config: LetterSearchConfig

    @classmethod
    def of(
        cls, bank: Bank, config: LetterSearchConfig, most_bytes: int = _ON_DEVICE
    ) -> "LetterLibrary":
        """Prepare a bank; one of more bytes is streamed from its file instead."""
        full, source = with_variants(bank, config.variants)
        kept = None
        if full.vertices.size * _BYTES <= most_bytes:
            kept = [on_each(chunk) for chunk in forward_chunks(full, config.forward)]
        groups = int(groups_of(full, config.forward).max()) + 1
        return cls(full, source, extent_of(full, _EXTENT), kept, groups, config)

    @property
    def chunks(self) -> Iterable[Chunk]:
        """The graphs for the forward pass, from the device or, chunk by chunk, from the bank."""
        return forward_chunks(self.bank, self.config.forward) if self.kept is None else self.kept


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
    for numbers, batch in padded_batches(states, batch_size(), blank=PAST):
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
    on_host = np.asarray(images.scores) if config.rounds else states
    for number, again in enumerate(config.rounds):
        pair, single = pairs_of(found, states, library, config.thin if number == 0 else 2)
        found = found.take(_flat(_best(pair, single, again.candidates), single.shape[1]))
        found = images.refit(found, vertex_weights(on_host, found), again)
    pair, single = pairs_of(found, states, library, stride=1)
    chosen = _best(pair, single, config.kept)
    number = _flat(chosen, single.shape[1]).reshape(chosen.shape)
    return [
        LetterCandidates(
            found.take(number[i]).on_image(0), single[i][own], pair[i][np.ix_(own, own)]
        )
        for i, own in enumerate(chosen)
    ]


def _flat(chosen: Int[np.ndarray, "images some"], count: int) -> Int[np.ndarray, " all"]:
    """Numbers of candidates of all images together, of which each has so many."""
    return (chosen + np.arange(len(chosen))[:, None] * count).ravel()


def first_matches(images: ScoredImages, library: LetterLibrary) -> MatchedGraphs:
    """The candidates of the forward pass, matched where it found them."""
    config, (scores, outside) = library.config, images
    ranked = forward(
        scores, library.chunks, library.groups, config.forward, library.extent, outside
    )
    # The matching's window is wider than the forward pass's, by as much on every side.
    corner = ranked.anchor - (config.window - config.forward.window) // 2
    graph = np.where(np.isfinite(ranked.score), ranked.graph, -1)
    image = np.repeat(np.arange(len(graph)), graph.shape[1])
    if not config.rounds:
        return images.match(library.bank, image, graph.ravel(), corner.reshape(-1, 2), config)
    where, step = corner.reshape(-1, 2), config.coarse
    return match_coarsely(
        images, library.bank, image, graph.ravel(), where, config, step, config.pull
    )


def pairs_of(
    found: MatchedGraphs, states: np.ndarray, library: LetterLibrary, stride: int
) -> tuple[Float[np.ndarray, "images n n"], Float[np.ndarray, "images n"]]:
    """Scores of pairs and single candidates, -inf for those that are none."""
    graph = found.graph.reshape(len(states), -1)
    place = found.place.reshape(*graph.shape, -1, 2)
    there = found.there.reshape(*graph.shape, -1)
    pair, single = pair_scores(
        place, there, states, library.bank.mask, library.config.pairs, stride
    )
    none = graph < 0
    never = none[:, :, None] | none[:, None] | np.eye(graph.shape[1], dtype=bool)
    return np.where(never, -np.inf, pair), np.where(none, -np.inf, single)


def _best(pair: np.ndarray, single: np.ndarray, size: int) -> Int[np.ndarray, "images size"]:
    """Numbers of the candidates in the best pairs and of the best alone, in ascending order."""
    size = min(size, single.shape[1])
    share = max(1, int(size * _SHARE_OF_PAIRS))
    rank = np.argsort(np.argsort(-pair.max(2), 1, kind="stable"), 1, kind="stable")
    lead = np.where(rank < share, np.inf, single)
    return np.sort(np.argsort(-lead, 1, kind="stable")[:, :size], 1)


def vertex_weights(
    scores: np.ndarray, found: MatchedGraphs
) -> Float[np.ndarray, "candidates vertices"]:
    """How much each vertex has to say in the refitting: more on better evidence."""
    rows, cols = scores.shape[1:]
    row, col = np.clip(found.place, 0, [rows - 1, cols - 1]).transpose(2, 0, 1)
    own = scores[found.placed.image[:, None], row, col].astype(np.float64)
    return np.where(found.there, np.maximum(own + _WEIGHT_SHIFT, 1.0), 0.0)
