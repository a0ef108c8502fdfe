"""Find objects in binary images by elastic graphs learned from masks of them."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Int

from mam.core.estimator import Estimator
from mam.core.programs import forget_old_programs
from mam.core.resize import scale_to, scaled
from mam.data.images import PictureSource
from mam.infer.certificate import Certificate
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.letter_learning import learn_bank
from mam.vision.elastic.letters.letter_match import Match, contrast_of, in_turn
from mam.vision.elastic.letters.letter_search import (
    LetterCandidates,
    LetterLibrary,
    LetterSearchConfig,
    scored,
    search,
)
from mam.vision.elastic.letters.letter_sets import BestSet, DrawnCandidates, best_set, margins
from mam.vision.elastic.search import certify, sizes_between
from mam.vision.images.binary import Images, as_binary, as_states, one_channel

# Refitting makes up for small differences in size, so that objects of the size learned from score
# as much at other sizes: these have to explain a little more.
_OTHER_SIZE = 0.95
PRESETS = {"best": LetterSearchConfig, "paper": LetterSearchConfig.paper}


class ObjectFinder(Estimator):
    """Learn one elastic graph from each mask; match them to images.

    ``bank_`` are the graphs: of ``fit``, of a file (``load``) or given (``of``). ``preset`` is
    "best" or "paper". ``variants`` says how many turned and scaled copies of every graph are
    searched for, beside itself (by default as the preset says, more of a small bank and fewer of a
    large one), ``seed`` draws them.
    ``threshold`` says above which value a pixel is ON, for images that are not binary. ``scales``
    are the least and the greatest size of objects that are looked for, 1 being that of those
    learned from. ``bound`` spends time on a bound for the places of every match. Images are
    arrays, or whatever else ``mam.data.read_picture`` reads.

    >>> bar, corner = np.zeros((64, 64), bool), np.zeros((64, 64), bool)
    >>> bar[20:28, 10:50] = True
    >>> corner[20:28, 10:50] = corner[20:60, 10:18] = True
    >>> finder = ObjectFinder(variants=0).fit([bar, corner], [0, 1])
    >>> [found] = finder.find(corner)
    >>> found.category, found.margin > 0
    (1, True)
    """

    bank_: Bank

    def __init__(
        self,
        *,
        preset: str = "best",
        variants: int | None = None,
        threshold: float | int | None = None,
        scales: tuple[float | int, float | int] = (1, 1),
        bound: bool = False,
        seed: int = 0,
    ) -> None:
        self.preset = preset
        self.variants = variants
        self.threshold = threshold
        self.scales = scales
        self.bound = bound
        self.seed = seed

    def fit(self, images: Images, y: Sequence[int] | None = None) -> "ObjectFinder":
        """Learn a graph from each mask of a single object; ``y`` are their categories."""
        binary = [as_binary(mask, None, f"mask {number}") for number, mask in enumerate(images)]
        self.bank_ = learn_bank(binary, y)
        return self

    def find(self, image: PictureSource, copies: int = 1) -> list[Match]:
        """Find the best ``copies`` objects that together explain an image, all of one size."""
        [found] = self._found([("the image", image)], copies)
        return found

    def predict(self, images: Images, copies: int = 1) -> list[list[Match]]:
        """What ``find`` finds in each image."""
        return self._found([(f"image {n}", image) for n, image in enumerate(images)], copies)

    def _found(self, named: Sequence[tuple[str, PictureSource]], copies: int) -> list[list[Match]]:
        sizes = list(sizes_between(*self.scales))
        pixels = [one_channel(image, name) for name, image in named]
        side = self._bank().config.get("side")
        scales = [[scale_to(one.shape, side) / size for size in sizes] for one in pixels]
        states = [
            as_states(self._binary(one, name, scale))
            for (name, _), one, own in zip(named, pixels, scales, strict=True)
            for scale in own
        ]
        searched = iter(zip(self.search(states), states, strict=True))
        answers = []
        for one, own in zip(pixels, scales, strict=True):
            sets = [self.matches(*next(searched), copies) for _ in sizes]
            # Scores count pixels, of which a picture has more when it is enlarged.
            worth = [
                sum(match.score for match in found) / scale**2 * (1.0 if size == 1 else _OTHER_SIZE)
                for found, scale, size in zip(sets, own, sizes, strict=True)
            ]
            best, shape = int(np.argmax(worth)), (one.shape[0], one.shape[1])
            answers.append([match.on(shape, own[best], sizes[best]) for match in sets[best]])
        return answers

    def _binary(self, pixels: np.ndarray, name: str, scale: float) -> Bool[np.ndarray, "_ _"]:
        """Which pixels are ON in a picture at another scale."""
        if self.threshold is None:
            return scaled(as_binary(pixels, None, name), scale)
        return as_binary(scaled(pixels, scale), self.threshold, name)

    def score(self, images: Images, y: Sequence[int]) -> float:
        """The share of the images whose best match has the right category."""
        self._check_beside(images, y)
        found = zip(self.predict(images), y, strict=True)
        return float(np.mean([best.category == category for [best], category in found]))

    def search(self, states: Sequence[Int[np.ndarray, "_ _"]]) -> list[LetterCandidates]:
        """Find candidates in images whose pixels are 1 (ON), -1 (OFF) or 0 (unknown)."""
        forget_old_programs()
        return search(states, self.library)

    def matches(
        self,
        found: LetterCandidates,
        state: Int[np.ndarray, "rows cols"],
        copies: int,
        chosen: list[int] | None = None,
    ) -> list[Match]:
        """The best set of candidates, or a chosen one, best first."""
        there = int(np.isfinite(found.single).sum())
        if not 1 <= copies <= there:
            raise ValueError(f"copies must lie between 1 and {there}, the candidates; not {copies}")
        library = self.library
        category = library.bank.category[found.graphs.graph]
        mask, weights = library.bank.mask, library.config.pairs
        candidates = DrawnCandidates.of(found, state, mask, category, weights)
        best = best_set(candidates, found.pair, copies) if chosen is None else BestSet(chosen, None)
        chosen, proof = best
        known = zip(margins(candidates, chosen), self.certify(found, state, chosen), strict=True)
        made = [
            self._match(found, candidates, one, chosen, margin, certificate, state)
            for one, (margin, certificate) in zip(chosen, known, strict=True)
        ]
        return in_turn([replace(one, set_proof=proof) for one in made])

    def certify(
        self, found: LetterCandidates, state: Int[np.ndarray, "rows cols"], chosen: list[int]
    ) -> list[Certificate]:
        """What is known of the places of some candidates."""
        images = scored(state[None], self.library) if self.bound else None
        return certify(found.graphs.take(np.array(chosen)), images)

    def _match(
        self,
        found: LetterCandidates,
        candidates: DrawnCandidates,
        one: int,
        chosen: list[int],
        margin: float,
        certificate: Certificate,
        state: Int[np.ndarray, "rows cols"],
    ) -> Match:
        library, graphs = self.library, found.graphs
        graph = int(graphs.graph[one])
        edges = library.bank.ends[graph, : library.bank.edge_count[graph]]
        rest = [other for other in chosen if other != one]
        pixels = candidates.covered[one].reshape(state.shape)
        others = np.asarray(candidates.covered[rest].any(0)).reshape(state.shape)
        return Match(
            int(library.source[graph]),
            int(library.bank.category[graph]),
            graphs.place[one][graphs.there[one]],
            edges.astype(np.int64),
            pixels,
            float(candidates.added(rest)[one]),
            margin,
            certificate,
            contrast_of(pixels, others, state),
        )

    @property
    def config(self) -> LetterSearchConfig:
        """The settings that the parameters amount to."""
        if self.preset not in PRESETS:
            raise ValueError(f"preset is one of {', '.join(PRESETS)}, not {self.preset!r}")
        config = PRESETS[self.preset]()
        variants = replace(config.variants, seed=self.seed)
        if self.variants is None:
            return replace(config, variants=variants.for_bank(max(len(self._bank()), 1)))
        if self.variants < 0:
            raise ValueError(f"variants must be 0 or more, not {self.variants}")
        return replace(config, variants=replace(variants, count=self.variants))

    @property
    def library(self) -> LetterLibrary:
        """The bank, prepared for the search; prepared again only when a parameter changed."""
        key = (self._bank(), self.preset, self.variants, self.seed)
        kept: tuple[object, LetterLibrary] | None = vars(self).get("_prepared")
        if kept is None or kept[0] != key:
            self._prepared = kept = key, LetterLibrary.of(self._bank(), self.config)
        return kept[1]

    def _bank(self) -> Bank:
        return self._learned("bank_")

    def save(self, path: str | Path) -> None:
        """Write the bank to a file."""
        self._bank().save(path)

    @classmethod
    def load(cls, source: str | Path, **parameters: object) -> "ObjectFinder":
        """Read a bank from a file, or by its bundled name."""
        return cls.of(Bank.load(source), **parameters)

    @classmethod
    def of(cls, bank: Bank, **parameters: object) -> "ObjectFinder":
        """Make a finder that has learned a bank."""
        finder = cls(**parameters)  # type: ignore[arg-type]
        finder.bank_ = bank
        return finder
