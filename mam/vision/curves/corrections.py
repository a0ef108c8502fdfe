"""What a person knows of links: which must be ON, which must be OFF. The rest is solved again.

A link is the attention variable between two ends of pieces; end ``2 k + s`` is side s of piece k.
What is known of it is evidence of infinite weight on that variable.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from mam.vision.curves.chain_model import Links

EndPair = tuple[int, int]


@dataclass(frozen=True)
class Corrections:
    """Pairs of ends that must be joined, and pairs that must not be.

    >>> Corrections(demand=[(1, 2), (4, 1)])
    Traceback (most recent call last):
    ...
    ValueError: end 1 of piece 0 is demanded in two links; an end has one at most
    """

    forbid: Sequence[EndPair] = ()
    demand: Sequence[EndPair] = ()

    def __post_init__(self) -> None:
        wanted = set(map(frozenset, self.demand))
        if wanted & set(map(frozenset, self.forbid)):
            raise ValueError("a link is demanded and forbidden at once")
        for end, times in Counter(end for pair in wanted for end in pair).items():
            if times > 1:
                raise ValueError(
                    f"end {end % 2} of piece {end // 2} is demanded in two links; an end has one "
                    "at most"
                )
        if any(first // 2 == second // 2 for first, second in self.demand):
            raise ValueError("both ends of one piece cannot be joined to each other")

    def __bool__(self) -> bool:
        return bool(len(self.forbid) or len(self.demand))


def complete(links: Links, demanded: Sequence[EndPair], least: float) -> Links:
    """Add the links that are demanded and were not among the candidates, with the score ``least``.

    >>> links = Links(np.array([[0, 1]]), np.array([[1, 0]]), np.array([2.0]))
    >>> complete(links, [(2, 1), (3, 0)], -4.8).score.tolist()
    [2.0, -4.8]
    """
    known = set(map(frozenset, (2 * links.stroke + links.side).tolist()))
    fresh = [pair for pair in demanded if frozenset(pair) not in known]
    if not fresh:
        return links
    ends = np.array(fresh, np.int64)
    passage = None if links.passage is None else np.full(len(ends), -1)
    added = Links(ends // 2, ends % 2, np.full(len(ends), least, links.score.dtype), passage)
    return Links.joined([links, added])


def clamped(links: Links, corrections: Corrections) -> Links:
    """Return the links with evidence of infinite weight where something is known."""
    return replace(links, score=links.score + _evidence(links, corrections))


def _evidence(links: Links, corrections: Corrections) -> Float[np.ndarray, " links"]:
    ends = np.sort(2 * links.stroke + links.side, axis=1)
    code = ends @ np.array([2**32, 1])
    known = np.zeros(len(links), links.score.dtype)
    for pairs, weight in ((corrections.forbid, -np.inf), (corrections.demand, np.inf)):
        if len(pairs):
            named = np.sort(np.array(pairs, np.int64), axis=1) @ np.array([2**32, 1])
            known[np.isin(code, named)] = weight
    return known
