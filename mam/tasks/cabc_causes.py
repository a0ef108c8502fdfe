"""Why wrong answers about cABC images are wrong: at which stage of the search the pair was lost.

The true letters say what the stages should have found. A candidate is *good* for a letter when the
pixels under it and those of the letter have an IoU of at least ``GOOD``; a pair is good when one
of its candidates is good for either letter. The cause is the first stage without a good pair:

- ``forward``: none among the candidates of the forward pass, each matched and refitted to the true
  letter alone, so that nothing but the choice of candidates is judged;
- ``matching``: those candidates had one, but matched to the image none was left at the end;
- ``pair``: there was one at the end, but the answer stands on other candidates;
- ``markers``: the answer stands on a good pair, and puts the markers on the wrong letters of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.progress import Advance
from mam.data import CabcRow
from mam.tasks.cabc import CabcAnswer, predict, read_image
from mam.tasks.rows import rows_of_kind
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_pairs import cover_counts, offsets_of
from mam.vision.elastic.letters.letter_search import scored, search
from mam.vision.elastic.search import MatchedGraphs
from mam.vision.parts.training import letter_masks

# Letters are broken into blocks and parts are round: even the graph learned from a letter covers it
# with an IoU of .71 to .80 only. Of 48 letters of the hard set 43 had a candidate of their category
# with .43 to .65, five had none above .35; so the border lies between. The category itself is not
# asked for: an E that lies on an F well answers where the markers are.
GOOD = 0.4

_ALL = 1 << 30  # candidates to keep: as many as there are


class Cause(StrEnum):
    """The first stage without a good pair."""

    forward = "forward"
    matching = "matching"
    pair = "pair"
    markers = "markers"


@dataclass(frozen=True, eq=False)
class Overlaps:
    """The IoU of candidates (rows) with each of the two letters (columns), by stage."""

    forward: Float[np.ndarray, "first 2"]
    kept: Float[np.ndarray, "last 2"]
    chosen: Float[np.ndarray, "2 2"]


def cause_of(overlaps: Overlaps, good: float = GOOD) -> Cause:
    """Name the stage that lost the pair; a later stage that has one excuses the earlier ones.

    >>> both, none = np.eye(2), np.zeros((2, 2))
    >>> str(cause_of(Overlaps(forward=both, kept=both, chosen=none)))
    'pair'
    """
    if _has_pair(overlaps.chosen >= good):
        return Cause.markers
    if _has_pair(overlaps.kept >= good):
        return Cause.pair
    return Cause.matching if _has_pair(overlaps.forward >= good) else Cause.forward


def _has_pair(fits: Bool[np.ndarray, "candidates 2"]) -> bool:
    """Whether two different candidates fit one letter each."""
    both = fits.all(1).sum()
    first, second = fits.sum(0)
    return bool(first * second > both)


def causes_of(
    source: str, rows: Sequence[int], finder: ObjectFinder, advance: Advance | None = None
) -> dict[str, tuple[int, ...]]:
    """Answer some rows of a data set again; return the rows of each cause."""
    found: dict[str, tuple[int, ...]] = {str(cause): () for cause in Cause}
    wanted = set(rows)
    for number, row in enumerate(rows_of_kind(source, CabcRow, "row of cABC")):
        if not wanted:
            break
        if number in wanted:
            wanted.remove(number)
            cause = cause_of(overlaps_of(row, finder, f"row {number}"))
            found[cause] = (*found[cause], number)
            if advance is not None:
                advance(1)
    return found


def overlaps_of(row: CabcRow, finder: ObjectFinder, name: str) -> Overlaps:
    """Compare the candidates of every stage with the true letters."""
    letters = np.stack(letter_masks(row))
    [answer] = predict([row.image], finder, [name])
    if not isinstance(answer, CabcAnswer):
        raise answer
    state, _ = read_image(row.image, name)
    kept = answer.candidates
    real = kept.graphs.take(np.isfinite(kept.single))
    return Overlaps(
        _forward_overlaps(state, letters, finder),
        _overlap(_covered(real, finder, state.shape), letters),
        _overlap(np.stack([match.pixels.ravel() for match in answer.letters]), letters),
    )


def _forward_overlaps(
    state: Int[np.ndarray, "rows cols"],
    letters: Bool[np.ndarray, "2 rows cols"],
    finder: ObjectFinder,
) -> Float[np.ndarray, "candidates 2"]:
    """Match the candidates of the forward pass to each letter alone, as the search does."""
    library = finder.library
    config, bank = library.config, library.bank
    # In a window of 1 px nothing moves: what is found are the anchors.
    still = replace(config, window=1, rounds=(), kept=_ALL)
    [found] = search([state], replace(library, config=still))
    anchored = found.graphs.take(np.isfinite(found.single))
    middle = anchored.place[:, 0] - bank.vertices[anchored.graph, 0]
    images = scored(np.where(letters, 1, -1), library)
    own = images.match(
        bank.shapes,
        np.repeat([0, 1], len(middle)),
        np.tile(anchored.graph, 2),
        np.tile(middle - config.window // 2, (2, 1)),
        config,
    )
    for again in config.rounds:
        own = images.refit(own, own.there.astype(np.float64), again)
    covered = _covered(own, finder, state.shape)
    halves = np.split(covered, 2)
    own = [_overlap(half, letters)[:, letter] for letter, half in enumerate(halves)]
    return np.stack(own, 1)


def _covered(
    found: MatchedGraphs, finder: ObjectFinder, shape: tuple[int, ...]
) -> Bool[np.ndarray, "candidates pixels"]:
    """The pixels under the parts of each candidate."""
    offsets = offsets_of(finder.library.bank.mask)
    return np.asarray(cover_counts(found.place, found.there, offsets, shape)) > 0


def _overlap(
    covered: Bool[np.ndarray, "candidates pixels"], letters: Bool[np.ndarray, "2 rows cols"]
) -> Float[np.ndarray, "candidates 2"]:
    """Intersection over union."""
    truth = letters.reshape(2, -1)
    both = covered.astype(np.float64) @ truth.T
    return both / (covered.sum(1)[:, None] + truth.sum(1) - both)
