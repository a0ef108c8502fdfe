r"""A second look: what one letter leaves of an image, and the other letter in it.

Of two letters the search finds each for itself, in an image that shows both: a letter that runs
into the other is drawn over its strokes, or falls behind graphs that cover parts of both. In the
formal model (``merged_model``) a pixel is the OR of the parts over it and counts once. So when one
letter :math:`L` is known, what its parts cover says nothing of the other, whose evidence is

.. math::
    s'(x) = \begin{cases} 0 & x \in L \\ s(x) & \text{else.} \end{cases}

A few letters of the first look, each held for known in turn, give such a rest each. It is searched
as an image is, for one letter, with fewer candidates.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from jaxtyping import Bool, Float, Int

from mam.core.devices import batch_sizes, spread
from mam.core.either import Values, either, namespace
from mam.vision.elastic.letters.letter_pairs import cover_counts, offsets_of
from mam.vision.elastic.letters.letter_search import (
    PAST,
    LetterCandidates,
    LetterLibrary,
    LetterSearchConfig,
    candidates_of,
    first_matches,
    pairs_of,
    refit_best,
    scored,
)
from mam.vision.elastic.search import MatchedGraphs
from mam.vision.images.binary import padded_batches

_STRIDE = 4  # px, of the rows and columns on which letters are compared


@dataclass(frozen=True)
class RestConfig:
    """Settings of the search for one letter in what another leaves."""

    letters: int = 4  # of the first look that are held for known, each in turn
    alike: float = 0.6  # IoU with one of these beyond which a letter is not held for known as well
    each_group: int = 6  # candidates of the forward pass, see ForwardConfig
    more: int = 60
    share: float = 0.4  # of the candidates of each round of refitting

    def of(self, config: LetterSearchConfig) -> LetterSearchConfig:
        """The settings of a search, with no more candidates than are wanted for a rest."""
        forward = config.forward
        few = replace(
            forward,
            each_group=min(forward.each_group, self.each_group),
            more=min(forward.more, self.more),
        )
        rounds = tuple(
            again._replace(candidates=math.ceil(self.share * again.candidates))
            for again in config.rounds
        )
        return replace(config, forward=few, rounds=rounds)


REST = RestConfig()


def look_again(
    found: Sequence[LetterCandidates],
    states: Sequence[Int[np.ndarray, "_ _"]],
    chances: Sequence[Float[np.ndarray, " _"]],
    library: LetterLibrary,
    config: RestConfig = REST,
) -> list[LetterCandidates]:
    """The candidates of images with those that fit what the likeliest of them leave.

    ``chances`` say how likely each candidate is.
    """
    known = [
        known_letters(one, state.shape, chance, library, config)
        for one, state, chance in zip(found, states, chances, strict=True)
    ]
    rests = [
        np.where(pixels, 0, state).astype(state.dtype)
        for state, letters in zip(states, known, strict=True)
        for pixels in letters
    ]
    new = iter(_search_rests(rests, library, config))
    answers = []
    for one, state, letters in zip(found, states, known, strict=True):
        whole = scored(state[None], library)
        more = [whole.rescored(rest) for rest in islice(new, len(letters))]
        graphs = MatchedGraphs.joined([one.graphs, *more])
        answers.append(candidates_of(graphs, state, library))
    return answers


def known_letters(
    found: LetterCandidates,
    shape: tuple[int, ...],
    chance: Float[np.ndarray, " candidates"],
    library: LetterLibrary,
    config: RestConfig,
) -> Bool[np.ndarray, "letters rows cols"]:
    """The pixels of the likeliest candidates, of which no two are alike while there are others."""
    graphs, offsets = found.graphs, offsets_of(library.bank.mask)
    covered = np.asarray(cover_counts(graphs.place, graphs.there, offsets, shape, _STRIDE)) > 0
    flat = covered.astype(np.float32)
    both, size = flat @ flat.T, flat.sum(1)
    alike = both > config.alike * (size[:, None] + size - both)
    rank = np.argsort(-chance, kind="stable")
    chosen: list[int] = []
    for one in rank:
        if len(chosen) < config.letters and not alike[one, chosen].any():
            chosen.append(int(one))
    chosen += [int(one) for one in rank if one not in chosen][: config.letters - len(chosen)]
    pixels = cover_counts(graphs.place[chosen], graphs.there[chosen], offsets, shape)
    return np.asarray(pixels).reshape(-1, *shape) > 0


def _search_rests(
    rests: Sequence[np.ndarray], library: LetterLibrary, config: RestConfig
) -> list[MatchedGraphs]:
    """Candidates for one letter in each rest."""
    library = replace(library, config=config.of(library.config))
    found: dict[int, MatchedGraphs] = {}
    # All rests of an image at once: the forward pass takes a third of the time on four.
    sizes = [max(size, config.letters) for size in batch_sizes()]
    for numbers, batch in padded_batches(rests, sizes, blank=PAST):
        images = scored(batch, library)
        matched = first_matches(images, library)
        known = spread(batch) if library.on_device else batch
        for again in library.config.rounds:
            _, single = pairs_of(matched, known, library, library.config.thin)
            matched = refit_best(images, matched, _best(single, again.candidates), again)
        each, matched = len(matched.graph) // len(batch), matched.on_host()
        for place, number in enumerate(numbers.tolist()):
            own = slice(place * each, (place + 1) * each)
            found[number] = matched.take(own).on_image(0)
    return [found[number] for number in range(len(rests))]


@either("size")
def _best(single: Float[Values, "images n"], size: int) -> Int[Values, "images some"]:
    """Numbers of the best candidates of each image."""
    xp = namespace(single)
    return xp.sort(xp.argsort(-single, axis=1, stable=True)[:, :size], axis=1)
