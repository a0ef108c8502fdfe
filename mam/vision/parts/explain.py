"""Which candidates explain the pixels best: every distinct island of the images is solved once."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from mam.core.columns import Columns
from mam.core.growing import GrowingSizes
from mam.infer import Options, solve
from mam.vision.parts.cover import Cover, cover_graph
from mam.vision.parts.islands import Islands
from mam.vision.parts.masks import Noise

# Islands up to 16 candidates are solved exactly, in about a millisecond.
LARGEST_TABLE = 1 << 16
# Islands that are remembered: some 20 MB. Images of one kind have far fewer, 256 hard ones 400.
_MOST_KNOWN = 20_000


@dataclass(frozen=True, eq=False)
class Explanation(Columns):
    """The chosen candidates, what leaving each one out costs, and whether that is proved."""

    chosen: Bool[np.ndarray, " candidates"]
    # With the best of the others or, in islands beyond the reach of listing, with all as they are.
    margin: Float[np.ndarray, " candidates"]
    proved: Bool[np.ndarray, " candidates"]


_NONE = Explanation(np.zeros(0, bool), np.zeros(0), np.zeros(0, bool))


class Explainer:
    """Explain one batch of images after another; islands that were seen before are known.

    ``sizes`` are those of arrays so far, ``by_pixel`` is that of ``cover_graph``. Several threads
    may ask at once.
    """

    def __init__(
        self, noise: Noise, options: Options, exclusive: bool, by_pixel: bool, sizes: GrowingSizes
    ) -> None:
        self._model = noise, exclusive, by_pixel
        self._solver = options, sizes
        # Answers by island; they have no part in any other answer.
        self._known: dict[bytes, Explanation] = {}

    def explain(self, cover: Cover, islands: Islands) -> Explanation:
        """Choose candidates; ``islands`` are those of the cover."""
        known = self._learn(cover, islands)
        found = [known[code] for code in islands.codes]
        start = np.cumsum([0, *(len(one) for one in found)])
        length = np.diff(islands.start)
        within = np.arange(len(cover)) - np.repeat(islands.start[:-1], length)
        place = np.repeat(start[islands.like], length) + within
        back = np.empty(len(cover), np.int64)
        back[islands.order] = place
        return Explanation.joined([_NONE, *found]).take(back)

    def _learn(self, cover: Cover, islands: Islands) -> dict[bytes, Explanation]:
        """Solve the islands that are new; return the answers to all, and others."""
        known = self._known  # another thread may start it afresh meanwhile
        new = [
            (code, islands.members(int(island)))
            for code, island in zip(islands.codes, islands.first, strict=True)
            if code not in known
        ]
        if not new:
            return known
        if len(known) + len(new) > _MOST_KNOWN:
            self._known = known = {code: known[code] for code in islands.codes if code in known}
        some = cover.take(np.concatenate([members for _, members in new]))
        graph, evidence = cover_graph(some, *self._model)
        options, sizes = self._solver
        solution = solve(graph, evidence, options, sizes=sizes)
        ends = np.cumsum([len(members) for _, members in new])[:-1]
        chosen, margin = solution["part"] == 1, solution.margin("part")
        # What was found by search has no margins: others would have to change as well.
        margin = np.where(np.isnan(margin), _worth(some, chosen, self._model[0]), margin)
        values = chosen, margin, solution.proved
        for (code, _), *parts in zip(new, *(np.split(v, ends) for v in values), strict=True):
            known[code] = Explanation(*parts)
        return known


def _worth(cover: Cover, chosen: np.ndarray, noise: Noise) -> Float[np.ndarray, " candidates"]:
    """What each candidate adds, or would add, to the score of the chosen ones; without its sign."""
    known = cover.states != 0
    pixel = np.unique(cover.pixels[known], return_inverse=True)[1].ravel()
    candidate = np.nonzero(known)[0]
    times = np.bincount(pixel, chosen[candidate], minlength=int(pixel.max(initial=-1)) + 1)
    alone = times[pixel] == chosen[candidate]
    value = np.where(cover.states[known] > 0, noise.gain, -noise.loss)
    own = np.bincount(candidate[alone], value[alone], minlength=len(cover))
    return np.abs(own + noise.prior)
