r"""The sparsifier: binary images to a few placed parts, and back.

A set :math:`S` of placements has the score

.. math::
    F(S) = \sum_{p \in \mathrm{covered}(S)} g_p + |S| \cdot \mathrm{prior},

the log likelihood of the image against that of no placement at all (:math:`g_p` in
``mam.vision.parts.masks``). Its maximum is the best assignment of the noisy-OR model of the paper,
"Symbol grounding with the sparsifier". The images are cut into islands (``islands.py``), and every
distinct island is a graph (``cover.py``) that ``mam.infer.solve`` answers.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import jax
import numpy as np
from jaxtyping import Bool, Int, Int8

from mam.core.estimator import Estimator
from mam.core.growing import GrowingSizes
from mam.core.programs import forget_old_programs
from mam.infer import Options
from mam.infer.linear import relaxed_maximum
from mam.vision.images.binary import Images, as_binary, as_states, padded_batches
from mam.vision.parts.candidates import PRUNING, PartCandidates, Pruned, prune
from mam.vision.parts.cover import cover_of
from mam.vision.parts.explain import LARGEST_TABLE, Explainer
from mam.vision.parts.formal import sparsifier_model
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements, draw_placements, placements_of

# Images a device works on at once: an accelerator wants many, a core works best in its cache.
_BATCH_ON_ACCELERATOR = 64
_TOGETHER = 64  # batches whose distinct islands are solved at once
METHODS = ("quick", "messages")
_MOST_EXPLAINERS = 16  # that remember islands, one for each seed or other setting

Item = TypeVar("Item")
# Numbers of the images, their states in one array, their own sizes: see padded_batches.
Batch = tuple[np.ndarray, Int8[np.ndarray, "_ _ _"], Int[np.ndarray, "_ 2"]]


class Sparsifier(Estimator):
    """Explain binary images by few placements of parts.

    ``parts`` are ``Parts``, a file of them or a bundled name. Every image gets the best of several
    seeded ``restarts``, whatever the batch it is in. ``threshold`` says above which value a pixel
    is ON, for images that are not binary. ``exclusive`` allows one type of part at a position.
    ``method="messages"`` decides every island by max-product alone, as the paper does: equally good
    placements are then chosen by the seed.
    With ``bound`` every answer carries an upper bound of the optimum, which takes much longer.

    >>> bar = Parts(np.array([[[0, 0, 0], [1, 1, 1], [0, 0, 0]]], bool))
    >>> image = np.zeros((9, 9), bool)
    >>> image[4, 2:8] = True
    >>> [found] = Sparsifier(Parts(bar.masks, replace(bar.noise, prior=-5.0))).transform([image])
    >>> found.row.tolist(), found.column.tolist(), round(found.score, 3)
    ([4, 4], [3, 6], 27.474)
    """

    _learns: ClassVar[bool] = False

    def __init__(
        self,
        parts: Parts | str | Path,
        *,
        method: str = "quick",  # or "messages"
        pruning: str = "strong",  # or "safe", "none": see mam.vision.parts.candidates
        restarts: int = 8,  # the best answer wins, region by region
        iterations: int = 10,  # of max-product in each
        damping: float = 0.5,  # new message = damping * old + (1 - damping) * new
        jitter: float = 2.0,  # scale of the noise on the prior that sets the restarts apart
        exclusive: bool = True,
        threshold: float | int | None = None,
        bound: bool = False,
        seed: int = 0,
        max_candidates: int = 200_000,  # placements worth a variable in one image, at most
    ) -> None:
        self.parts = parts
        self.method = method
        self.pruning = pruning
        self.restarts = restarts
        self.iterations = iterations
        self.damping = damping
        self.jitter = jitter
        self.exclusive = exclusive
        self.threshold = threshold
        self.bound = bound
        self.seed = seed
        self.max_candidates = max_candidates

    def fit(self, images: Images, y: None = None) -> "Sparsifier":
        """Do nothing: the parts are given. ``PartLearner`` learns them."""
        return self

    def transform(
        self, images: Images, unknown: Sequence[Bool[np.ndarray, "_ _"]] | None = None
    ) -> list[Placements]:
        """Return the placements that explain each image.

        ``unknown`` tells, by image, which pixels are hidden: covering one costs and gains nothing.
        """
        [answers] = self.transform_by_seed(images, [self.seed], unknown)
        return answers

    def transform_by_seed(
        self,
        images: Images,
        seeds: Sequence[int],
        unknown: Sequence[Bool[np.ndarray, "_ _"]] | None = None,
    ) -> list[list[Placements]]:
        """Return the placements that explain each image, for one seed after another."""
        parts, states = self._checked(), self._states(images, unknown)
        forget_old_programs()
        size = 1 if jax.default_backend() == "cpu" else _BATCH_ON_ACCELERATOR
        batches = list(padded_batches(states, size, blank=np.int8(0)))
        # The fullest first: arrays of its sizes hold most of the others.
        batches.sort(key=lambda batch: -np.count_nonzero(batch[1] > 0))
        found: list[dict[int, Placements]] = [{} for _ in seeds]
        with ThreadPoolExecutor(2) as pool:
            for some in _by(self._pruned(batches, parts, pool), _TOGETHER):
                listed = _merged(some)
                numbers = np.unique(np.concatenate([batch[0] for batch, _ in some]))
                mine = replace(listed, image=np.searchsorted(numbers, listed.image))
                own = [states[number] for number in numbers]
                cover = cover_of(mine, own, parts)
                for seed, answers in zip(seeds, found, strict=True):
                    chosen = self._explainer_for(parts, seed).explain(cover)
                    placed = placements_of(cover, chosen, own, parts.noise)
                    answers |= zip(numbers.tolist(), placed, strict=True)
        each = [[answers[number] for number in range(len(states))] for answers in found]
        return [self._bounded(states, one, parts) for one in each] if self.bound else each

    def score(self, images: Images, y: None = None) -> float:
        """The mean score of the explanations; see the top of this file."""
        return float(np.mean([found.score for found in self.transform(images)]))

    @cached_property
    def _sizes(self) -> tuple[GrowingSizes, GrowingSizes]:
        """Sizes of the arrays of candidates and of pieces so far."""
        return GrowingSizes(), GrowingSizes(spare=0.25)

    def _explainer_for(self, parts: Parts, seed: int) -> Explainer:
        """That of earlier calls with the same settings, of which the last few are kept."""
        options, by_pixel = replace(self._options(), seed=seed), self.method == "messages"
        settings = parts.noise, options, self.exclusive, by_pixel
        key = (parts.masks.tobytes(), *settings)
        known: dict[Any, Explainer] = vars(self).get("_explainers", {})
        if key not in known:
            kept = dict(list(known.items())[1 - _MOST_EXPLAINERS :])
            self._explainers = known = {**kept, key: Explainer(*settings, self._sizes[1])}
        return known[key]

    def fit_transform(self, images: Images, y: None = None) -> list[Placements]:
        """The same as ``transform``."""
        return self.transform(images)

    def reconstruct(
        self, placements: Placements | Sequence[Placements]
    ) -> Bool[np.ndarray, "rows cols"] | list[Bool[np.ndarray, "rows cols"]]:
        """Return the pixels that the placements of an image cover, or those of several images."""
        parts = self._checked()
        if isinstance(placements, Placements):
            return draw_placements(placements, parts)
        return [draw_placements(one, parts) for one in placements]

    def _states(
        self, images: Images, unknown: Sequence[np.ndarray] | None
    ) -> list[Int8[np.ndarray, "_ _"]]:
        """Check the images; 1 is ON, -1 OFF, 0 unknown."""
        named = [(f"image {number}", image) for number, image in enumerate(images)]
        binary = [as_binary(image, self.threshold, name) for name, image in named]
        if unknown is None:
            return [as_states(image) for image in binary]
        shapes, wanted = [mask.shape for mask in unknown], [image.shape for image in binary]
        if shapes != wanted:
            raise ValueError(f"unknown pixels are given for {shapes}, the images have {wanted}")
        return [as_states(*both) for both in zip(binary, unknown, strict=True)]

    def _checked(self) -> Parts:
        if self.method not in METHODS:
            raise ValueError(f"method is one of {', '.join(METHODS)}, not {self.method!r}")
        if self.pruning not in PRUNING:
            raise ValueError(f"pruning is one of {', '.join(PRUNING)}, not {self.pruning!r}")
        for name in ("restarts", "iterations", "max_candidates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")
        return self.parts if isinstance(self.parts, Parts) else Parts.load(self.parts)

    def _options(self) -> Options:
        common = Options(
            method="quick",
            largest_table=LARGEST_TABLE,
            restarts=self.restarts,
            iterations=self.iterations,
            damping=self.damping,
            jitter=self.jitter,
            repair=False,
            climb=True,
        )
        if self.method == "quick":
            return common
        # No island is listed or searched; and nothing but the first messages is random.
        return replace(
            common, largest_table=1, seconds=0, climb=False, jitter=0.0, schedule="blocks"
        )

    def _pruned(
        self, batches: list[Batch], parts: Parts, pool: ThreadPoolExecutor
    ) -> Iterator[tuple[Batch, PartCandidates]]:
        """List the candidates of all batches, two batches at a time, ahead of what is wanted."""

        def listed(batch: Batch) -> PartCandidates:
            pruned = prune(batch[1], batch[2], parts, self.pruning, self._sizes[0])
            self._refuse_too_many(pruned, batch[0])
            found, kept = jax.device_get((pruned.found, pruned.kept))
            which = np.flatnonzero(kept)
            row, column, kind = (v[which] for v in (found.row, found.column, found.type))
            return PartCandidates(batch[0][found.image[which]], row, column, kind)

        if batches:
            yield batches[0], listed(batches[0])  # alone: it compiles
            yield from zip(batches[1:], pool.map(listed, batches[1:]), strict=True)

    def _refuse_too_many(self, pruned: Pruned, numbers: np.ndarray) -> None:
        if pruned.count <= self.max_candidates:
            return
        image = np.asarray(pruned.found.image)[np.asarray(pruned.kept)]
        counts = np.bincount(image, minlength=len(numbers))
        worst = int(counts.argmax())
        if counts[worst] > self.max_candidates:
            raise ValueError(
                f"image {numbers[worst]}: {counts[worst]:,} placements might explain it, more than "
                f"{self.max_candidates:,}; are the strokes much thicker than the parts, or black "
                "and white exchanged? Reduce the image, or raise max_candidates"
            )

    def _bounded(
        self, states: list[np.ndarray], answers: list[Placements], parts: Parts
    ) -> list[Placements]:
        """Bound each optimum by the linear program of the full model."""
        bounded = []
        for state, answer in zip(states, answers, strict=True):
            model = sparsifier_model(state > 0, parts, unknown=state == 0, exclusive=False)
            limit = relaxed_maximum(model.graph, model.evidence)
            # The program is solved to about 1e-7 of its value.
            limit = max(limit * (1 + 1e-6), answer.score)
            tight = limit - answer.score <= 1e-5
            proof = answer.proof or ("bound" if tight else None)
            bounded.append(replace(answer, bound=limit, proof=proof))
        return bounded


def _by(items: Iterator[Item], count: int) -> Iterator[list[Item]]:
    while some := list(islice(items, count)):
        yield some


def _merged(some: list[tuple[Batch, PartCandidates]]) -> PartCandidates:
    """The candidates of several batches, sorted by image; each batch is sorted."""
    listed = [one for _, one in some]
    image = np.concatenate([one.image for one in listed])
    order = np.argsort(image, kind="stable")
    row, column, kind = (
        np.concatenate([getattr(one, name) for one in listed])[order]
        for name in ("row", "column", "type")
    )
    return PartCandidates(image[order], row, column, kind)
