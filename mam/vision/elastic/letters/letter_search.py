"""From images to candidates: forward pass, matching, and rounds of refitting the best ones."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Bool, Float, Int

from mam.core.devices import batch_size, on_each, spread
from mam.infer.sweeps import Flooding
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_forward import (
    Chunk,
    ForwardConfig,
    forward,
    forward_chunks,
    groups_of,
    part_scores,
)
from mam.vision.elastic.letters.letter_pairs import PairConfig, pair_scores
from mam.vision.elastic.match import Matched, PlacedGraphs, match, place_graphs
from mam.vision.elastic.refit import refitted
from mam.vision.elastic.variants import VariantConfig, with_variants
from mam.vision.images.binary import padded_batches

_PAST = np.int8(-1)  # beyond an image everything is OFF
_ON_DEVICE = 2 << 30  # bytes of graphs that stay on the device; more are sent for every batch
_BYTES = 4  # a coordinate takes on the device
_WEIGHT_SHIFT = 20.0  # a vertex on evidence of minus this has no say in where its graph goes

# Of the places for candidates in the next round, this share goes to those that are part of the best
# pairs, the rest to those that score best alone.
_SHARE_OF_PAIRS = 0.75


class RefitRound(NamedTuple):
    """One more matching, of the best candidates so far, from refitted references."""

    candidates: int
    window: int  # px, in which vertices may move; odd
    sweeps: int  # of messages, there and back


@dataclass(frozen=True)
class LetterSearchConfig:
    """All settings of the search. ``paper()`` gives those of the paper."""

    off: float = 0.89  # evidence of an OFF pixel is minus this, of an ON pixel 1
    window: int = 25  # px, eta of the first matching
    sweeps: int | Flooding = 1  # of messages in it, there and back; or all at once
    rounds: tuple[RefitRound, ...] = (RefitRound(64, 15, 1), RefitRound(48, 13, 1))
    kept: int = 48  # candidates that pairs are made of
    factor: float = 7.0  # a pair of vertices at distance d may shift by d / factor
    forward: ForwardConfig = field(default_factory=ForwardConfig)
    variants: VariantConfig = field(default_factory=VariantConfig)
    pairs: PairConfig = field(default_factory=PairConfig)

    @classmethod
    def paper(cls) -> "LetterSearchConfig":
        """The paper's pipeline: no variants, no refitting, its forward pass and its pair scores."""
        return cls(
            sweeps=Flooding(iterations=60, damping=0.4),  # facts, "cABC model"
            rounds=(),
            kept=140,
            forward=ForwardConfig(by_category=False, each_anchor=3, each_group=140, more=0),
            variants=VariantConfig(count=0),
            pairs=PairConfig(off=0.89, multiple=0.33, shared=0.33),
        )


@dataclass(frozen=True, eq=False)
class LetterLibrary:
    """A bank with its variants, ready to be searched."""

    bank: Bank
    source: Int[np.ndarray, " graphs"]  # the graph of the original bank that each comes from
    kept: Sequence[Chunk] | None  # on the device; None: too many for that
    groups: int
    largest: int
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
        # A fixed extent for all banks of small objects: one compilation serves them all.
        largest = -(-int(full.vertices.max()) // 256) * 256
        return cls(full, source, kept, groups, largest, config)

    @property
    def chunks(self) -> Iterable[Chunk]:
        """The graphs for the forward pass, from the device or, chunk by chunk, from the bank."""
        return forward_chunks(self.bank, self.config.forward) if self.kept is None else self.kept


class LetterCandidates(NamedTuple):
    """Candidates of one image, and the scores of all pairs of them."""

    graph: Int[np.ndarray, " candidates"]  # in the library's bank
    place: Int[np.ndarray, "candidates vertices 2"]
    there: Bool[np.ndarray, "candidates vertices"]
    broken: Int[np.ndarray, " candidates"]
    single: Float[np.ndarray, " candidates"]  # -inf: not a candidate
    pair: Float[np.ndarray, "candidates candidates"]  # -inf on the diagonal


def search(
    states: Sequence[Int[np.ndarray, "_ _"]], library: LetterLibrary
) -> list[LetterCandidates]:
    """Find candidates for images whose pixels are 1 (ON), -1 (OFF) or 0 (unknown)."""
    found: list[LetterCandidates | None] = [None] * len(states)
    for numbers, batch, _ in padded_batches(states, batch_size(), blank=_PAST):
        for number, one in zip(numbers, _search(batch, library), strict=False):
            found[number] = one
    return [one for one in found if one is not None]


class _State(NamedTuple):
    """Candidates of a batch of images, on the way."""

    graph: Int[np.ndarray, "images candidates"]  # -1: none
    graphs: PlacedGraphs
    matched: Matched

    def take(self, chosen: Int[np.ndarray, "images fewer"]) -> "_State":
        """Keep some candidates of each image."""
        images, count = self.graph.shape
        flat = (chosen + np.arange(images)[:, None] * count).ravel()
        graph = np.take_along_axis(self.graph, chosen, 1)
        return _State(graph, self.graphs.take(flat), self.matched.take(flat))


def _search(
    states: Int[np.ndarray, "images rows cols"], library: LetterLibrary
) -> list[LetterCandidates]:
    """Match, and refit fewer and fewer candidates."""
    config = library.config
    values = np.where(states > 0, 1.0, states * config.off).astype(np.float32)
    outside = -config.off * float(library.bank.mask.sum())
    scores = part_scores(spread(values), library.bank.mask, -config.off)
    state = _first(scores, library, outside)
    before = config.window
    on_host = np.asarray(scores) if config.rounds else values
    for size, window, sweeps in config.rounds:
        pair, single = _pairs(state, states, library, stride=2)
        state = state.take(_best(pair, single, size))
        weight = _weights(on_host, state)
        graphs = refitted(state.graphs, state.matched, weight, before, window, config.factor)
        matched = match(scores, graphs, outside, window, sweeps)
        before = window
        state = _State(state.graph, graphs, matched)
    pair, single = _pairs(state, states, library, stride=1)
    chosen = _best(pair, single, config.kept)
    state = state.take(chosen)
    images, kept = chosen.shape
    places = state.matched.place.reshape(images, kept, -1, 2)
    there = state.graphs.there.reshape(images, kept, -1)
    broken = state.matched.broken.reshape(images, kept)
    return [
        LetterCandidates(
            state.graph[i],
            places[i],
            there[i],
            broken[i],
            single[i][chosen[i]],
            pair[i][np.ix_(chosen[i], chosen[i])],
        )
        for i in range(images)
    ]


def _first(scores: Array, library: LetterLibrary, outside: float) -> _State:
    """The candidates of the forward pass, matched where it found them."""
    config = library.config
    ranked = forward(
        scores, library.chunks, library.groups, config.forward, library.largest, outside
    )
    images, count = ranked.graph.shape
    # The matching's window is wider than the forward pass's, by as much on every side.
    corner = ranked.anchor - (config.window - config.forward.window) // 2
    graph = np.where(np.isfinite(ranked.score), ranked.graph, -1)
    graphs = place_graphs(
        library.bank,
        np.repeat(np.arange(images), count),
        np.maximum(graph, 0).ravel(),
        corner.reshape(-1, 2),
    )
    return _State(graph, graphs, match(scores, graphs, outside, config.window, config.sweeps))


def _pairs(
    state: _State, states: np.ndarray, library: LetterLibrary, stride: int
) -> tuple[Float[np.ndarray, "images n n"], Float[np.ndarray, "images n"]]:
    """Scores of pairs and single candidates, -inf for those that are none."""
    shape = state.graph.shape
    place = state.matched.place.reshape(*shape, -1, 2)
    there = state.graphs.there.reshape(*shape, -1)
    pair, single = pair_scores(
        place, there, states, library.bank.mask, library.config.pairs, stride
    )
    none = state.graph < 0
    never = none[:, :, None] | none[:, None] | np.eye(shape[1], dtype=bool)
    return np.where(never, -np.inf, pair), np.where(none, -np.inf, single)


def _best(pair: np.ndarray, single: np.ndarray, size: int) -> Int[np.ndarray, "images size"]:
    """Numbers of the candidates in the best pairs and of the best alone, in ascending order."""
    size = min(size, single.shape[1])
    share = max(1, int(size * _SHARE_OF_PAIRS))
    rank = np.argsort(np.argsort(-pair.max(2), 1, kind="stable"), 1, kind="stable")
    lead = np.where(rank < share, np.inf, single)
    return np.sort(np.argsort(-lead, 1, kind="stable")[:, :size], 1)


def _weights(scores: np.ndarray, state: _State) -> Float[np.ndarray, "candidates vertices"]:
    """How much each vertex has to say in the refitting: more on better evidence."""
    rows, cols = scores.shape[1:]
    place = state.matched.place
    row, col = np.clip(place[..., 0], 0, rows - 1), np.clip(place[..., 1], 0, cols - 1)
    found = scores[state.graphs.image[:, None], row, col].astype(np.float64)
    return np.where(state.graphs.there, np.maximum(found + _WEIGHT_SHIFT, 1.0), 0.0)
