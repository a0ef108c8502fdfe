"""What is seen in a cABC image at the first look, and at a second where the first leaves doubt."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from mam.core.devices import host_threads
from mam.tasks.cabc_pairs import MarkerConfig, Weighed, weigh_pairs
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_rest import look_again
from mam.vision.elastic.letters.letter_search import LetterCandidates


class Looked(NamedTuple):
    """The candidates of an image, and what they say of its markers."""

    found: LetterCandidates
    state: Int[np.ndarray, "side side"]
    markers: np.ndarray  # two places; under the paper's preset two hulls
    weighed: Weighed | None  # None: under the paper's preset


def is_unsure(seen: Looked | ValueError, config: MarkerConfig) -> bool:
    """Whether the image is worth a second look."""
    if isinstance(seen, ValueError) or seen.weighed is None:
        return False
    return abs(seen.weighed.log_odds) < config.sure


def seen_again(finder: ObjectFinder, config: MarkerConfig, seen: Sequence[Looked]) -> list[Looked]:
    """Weigh more candidates: those that fit what the likeliest letters leave of the image.

    Which letters are likely is asked without the markers: they were read by the candidates of the
    first look, which are in doubt.
    """
    chances: list[Float[np.ndarray, " candidates"]] = [
        one.weighed.chances for one in seen if one.weighed is not None
    ]
    images = [one.state for one in seen]
    found = look_again([one.found for one in seen], images, chances, finder.library)
    with ThreadPoolExecutor(host_threads()) as pool:
        return list(
            pool.map(lambda more, one: weighed(more, one.state, one.markers, config), found, seen)
        )


def weighed(
    found: LetterCandidates,
    state: np.ndarray,
    markers: np.ndarray,
    config: MarkerConfig,
    paper: bool = False,
) -> Looked:
    """Weigh all pairs of candidates; the paper does not."""
    if paper:
        return Looked(found, state, markers, None)
    place, there = found.graphs.place, found.graphs.there
    return Looked(found, state, markers, weigh_pairs(found.pair, place, there, markers, config))
