"""The best set of so many candidates, and how much better it is than its rivals.

A candidate added to a set scores as it does alone, less what it shares with the pixels of the set:
the pair scores of ``mam.vision.elastic.letters.letter_pairs``, for sets of any size.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.factors import AnyOf, Count, Ragged
from mam.graph import FactorGraph, GraphBuilder
from mam.infer import solve
from mam.vision.elastic.letters.letter_pairs import PairConfig, cover_counts, offsets_of
from mam.vision.elastic.letters.letter_search import LetterCandidates
from mam.vision.images.binary import canvas_sides


@dataclass(frozen=True, eq=False)
class DrawnCandidates:
    """Candidates of one image with their pixels."""

    covered: Bool[np.ndarray, "candidates pixels"]
    single: Float[np.ndarray, " candidates"]
    lost: Float[np.ndarray, " pixels"]  # by a candidate for a pixel that others cover already
    category: Int[np.ndarray, " candidates"]

    @classmethod
    def of(
        cls,
        found: LetterCandidates,
        state: Int[np.ndarray, "rows cols"],
        mask: Bool[np.ndarray, "side side"],
        category: Int[np.ndarray, " candidates"],
        config: PairConfig,
    ) -> "DrawnCandidates":
        """Draw the candidates."""
        offsets, graphs = offsets_of(mask), found.graphs
        # On a canvas of one of few sizes: programs are compiled for each.
        [side] = canvas_sides(np.array([max(state.shape)])).tolist()
        counts = np.asarray(cover_counts(graphs.place, graphs.there, offsets, (side, side)))
        rows, cols = state.shape
        counts = counts.reshape(-1, side, side)[:, :rows, :cols].reshape(len(counts), -1)
        flat = state.ravel()
        value = np.where(flat > 0, config.on, np.where(flat < 0, -config.off, 0.0))
        return cls(counts > 0, found.single, value + config.shared, category)

    def added(self, chosen: list[int]) -> Float[np.ndarray, " candidates"]:
        """What each candidate would add to the score of a set; -inf for its members."""
        union = self.covered[chosen].any(0)
        gain = self.single - (self.covered & union) @ self.lost
        gain[chosen] = -np.inf
        return gain


class BestSet(NamedTuple):
    """Numbers of candidates, and how they are known to be the best of so many, or None."""

    chosen: list[int]
    proof: str | None


def best_set(candidates: DrawnCandidates, pair: Float[np.ndarray, "n n"], copies: int) -> BestSet:
    """The best candidates: read off the scores of pairs up to two, else solved for."""
    if copies == 1:
        return BestSet([int(candidates.single.argmax())], "exact")
    if copies == 2:
        first, second = np.unravel_index(int(pair.argmax()), pair.shape)
        return BestSet([int(first), int(second)], "exact")
    graph, evidence = set_model(candidates, copies)
    found = solve(graph, evidence, method="quick")
    return BestSet(np.flatnonzero(found["chosen"]).tolist(), found.proof)


def set_model(
    candidates: DrawnCandidates, copies: int
) -> tuple[FactorGraph, dict[str, Float[np.ndarray, " candidates"]]]:
    """The model of so many candidates: a ``Count`` of them, and what they share pixel by pixel.

    A set scores what its members do, less what is lost where several cover a pixel; that is each
    member less all that it might lose, and an ``AnyOf`` that gives it back once.
    """
    shared = np.flatnonzero(candidates.covered.sum(0) > 1)
    alike = np.packbits(candidates.covered[:, shared], axis=0).T
    _, first, which = np.unique(alike, axis=0, return_index=True, return_inverse=True)
    back = np.bincount(which.ravel(), candidates.lost[shared], len(first))
    covering = candidates.covered[:, shared[first]].T
    members = Ragged(np.nonzero(covering)[1], np.append(0, np.cumsum(covering.sum(1))))
    builder = GraphBuilder()
    chosen = builder.variables("chosen", len(candidates.single))
    builder.add("pixels", AnyOf.of(members, some=back))
    builder.add("copies", Count.between([chosen], copies))
    own = candidates.single - candidates.covered[:, shared] @ candidates.lost[shared]
    return builder.build(), {"chosen": own}


def margins(candidates: DrawnCandidates, chosen: list[int]) -> list[float]:
    """By how much the set is better than with the best graph of another category in each place.

    Where all graphs have one category: than with any other graph.
    """
    found = []
    for one in chosen:
        rest = [other for other in chosen if other != one]
        gain = candidates.added(rest)
        same = candidates.category == candidates.category[one]
        rivals = np.where(np.arange(len(gain)) == one if same.all() else same, -np.inf, gain)
        found.append(float(gain[one] - rivals.max()))
    return found
