r"""The sparsifier: binary images to a few placed parts, and back.

A set :math:`S` of placements has the score

.. math::
    F(S) = \sum_{p \in \mathrm{covered}(S)} g_p + |S| \cdot \mathrm{prior},

the log likelihood of the image against that of no placement at all (:math:`g_p` in
``mam.vision.parts.masks``). Its maximum is the best assignment of the noisy-OR model of the paper,
"Symbol grounding with the sparsifier". The images are cut into islands (``islands.py``), and every
distinct island is a graph (``cover.py``) that ``mam.infer.solve`` answers.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from jaxtyping import Bool, Int, Int8

from mam.core.devices import by_device, host_threads
from mam.core.estimator import Estimator
from mam.core.growing import GrowingSizes
from mam.core.limits import PLACEMENTS
from mam.core.programs import forget_old_programs
from mam.infer import Options
from mam.infer.certificate import Certificate
from mam.infer.linear import relaxed_maximum
from mam.vision.images.binary import Images, as_binary, as_states
from mam.vision.parts.candidates import PRUNING, PartCandidates
from mam.vision.parts.cover import cover_of, sparsifier_model
from mam.vision.parts.explain import LARGEST_TABLE, Explainer
from mam.vision.parts.islands import islands_of
from mam.vision.parts.masks import Parts
from mam.vision.parts.placements import Placements, draw_placements, placements_of
from mam.vision.parts.tiles import list_candidates, on_host, tiles_at_once

# Images whose distinct islands are solved at once, and their pixels, so that arrays stay in caches.
_TOGETHER = 32
_PIXELS = 8_000_000
# Messages take about as long for many islands as for few; what they hold goes with ON pixels.
_TOGETHER_BY_MESSAGES = 512
_ON_BY_MESSAGES = 100_000, 500_000  # on a core, on an accelerator: 1 GB, and 5
# Images that a host explains while an accelerator's programs are compiled.
_WORTH_COMPILING = 2048
METHODS = ("quick", "messages")
_MOST_EXPLAINERS = 16  # that remember islands, one for each seed or other setting


class Sparsifier(Estimator):
    """Explain binary images by few placements of parts.

    ``parts`` are ``Parts``, a file of them or a bundled name. ``threshold`` says above which value
    a pixel is ON, for images that are not binary. ``exclusive`` allows one type of part at a
    position. Small islands are solved exactly, large ones (blobs, letters) by a seeded search,
    whatever the batch they are in. ``method="messages"`` decides every island by max-product alone,
    as the paper does, the best of several ``restarts``: equally good placements are then chosen by
    the seed.
    Answers are proved among the candidates that ``pruning`` keeps. With ``bound`` the bound is that
    of "safe" pruning, and so is the proof, if there is one; this takes much longer.

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
        restarts: int = 8,  # of messages; the best answer wins, region by region
        iterations: int = 10,  # of messages in each
        damping: float = 0.5,  # new message = damping * old + (1 - damping) * new
        exclusive: bool = True,
        threshold: float | int | None = None,
        bound: bool = False,
        seed: int = 0,
        max_candidates: int = PLACEMENTS,  # placements worth a variable in one image, at most
    ) -> None:
        self.parts = parts
        self.method = method
        self.pruning = pruning
        self.restarts = restarts
        self.iterations = iterations
        self.damping = damping
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
        first: int = 0,
    ) -> list[list[Placements]]:
        """Return the placements that explain each image, for one seed after another.

        ``first`` is the number by which errors call the first image.
        """
        parts, states = self._checked(), self._states(images, unknown, first)
        forget_old_programs()
        explainers = [self._explainer_for(parts, seed) for seed in seeds]
        many = self._has_many(len(states))
        work = partial(self._explained, states, parts, explainers, first, many)
        groups = _groups(states, self.method)
        # What compiles does so before there are several threads.
        compiles = self.method == "messages" or not on_host(parts, self.pruning, many)
        alone = 1 if compiles and not self._sizes[0].known else 0
        with ThreadPoolExecutor(host_threads()) as pool:
            found = [*map(work, groups[:alone]), *pool.map(work, groups[alone:])]
        order = np.argsort(np.concatenate([*groups, np.zeros(0, np.int64)]))
        each = []
        for by_group in zip(*found, strict=True) if found else [()] * len(seeds):
            flat = [one for some in by_group for one in some]
            answers = [flat[place] for place in order]
            each.append(self._bounded(states, answers, parts) if self.bound else answers)
        return each

    def _explained(
        self,
        states: list[np.ndarray],
        parts: Parts,
        explainers: Sequence[Explainer],
        first: int,
        many: bool,
        numbers: Int[np.ndarray, " images"],
    ) -> list[list[Placements]]:
        """Explain some of the images, by one explainer after another."""
        mine = [states[number] for number in numbers]
        listed = list_candidates(mine, parts, self.pruning, self._sizes[0], many)
        self._refuse_too_many(listed, first + numbers)
        cover = cover_of(listed, mine, parts)
        islands = islands_of(cover, self.exclusive)
        return [
            placements_of(cover, explainer.explain(cover, islands), mine, parts.noise)
            for explainer in explainers
        ]

    def score(self, images: Images, y: None = None) -> float:
        """The mean score of the explanations; see the top of this file."""
        return float(np.mean([found.score for found in self.transform(images)]))

    @cached_property
    def _sizes(self) -> tuple[GrowingSizes, GrowingSizes]:
        """Sizes of the arrays of candidates and of pieces so far."""
        return GrowingSizes(), GrowingSizes(spare=0.25)

    def _has_many(self, more: int) -> bool:
        """Whether with these so many images were explained that programs for more are worth it."""
        self._images: int = vars(self).get("_images", 0) + more
        return self._images > _WORTH_COMPILING

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
        self, images: Images, unknown: Sequence[np.ndarray] | None, first: int = 0
    ) -> list[Int8[np.ndarray, "_ _"]]:
        """Check the images; 1 is ON, -1 OFF, 0 unknown."""
        named = [(f"image {number}", image) for number, image in enumerate(images, first)]
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
        if self.method == "quick":
            return Options(method="quick", largest_table=LARGEST_TABLE)
        # No island is listed or searched; and nothing but the first messages is random.
        return Options(
            method="quick",
            largest_table=1,
            seconds=0,
            restarts=self.restarts,
            iterations=self.iterations,
            damping=self.damping,
            jitter=0.0,
            schedule="blocks",
            repair=False,
        )

    def _refuse_too_many(self, listed: PartCandidates, numbers: np.ndarray) -> None:
        counts = np.bincount(listed.image, minlength=len(numbers))
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
        """Bound each optimum by the linear program of the full model.

        What is proved of fewer candidates is no proof there, and is forgotten.
        """
        bounded = []
        for state, answer in zip(states, answers, strict=True):
            if answer.proof == "exact" and self.pruning != "strong":
                bounded.append(answer)
                continue
            model = sparsifier_model(state > 0, parts, unknown=state == 0, exclusive=self.exclusive)
            limit = relaxed_maximum(model.graph, model.evidence)
            known = Certificate.below(answer.score, limit)
            bounded.append(replace(answer, bound=known.bound, proof=known.proof))
        return bounded


def _groups(states: list[np.ndarray], method: str) -> list[np.ndarray]:
    """Numbers of images that are explained together, of not too many pixels.

    The fullest come first: arrays of their sizes hold most of the others.
    """
    on = np.array([np.count_nonzero(state > 0) for state in states], np.int64)
    order = np.argsort(-on, kind="stable")
    if method == "messages":
        count = _TOGETHER_BY_MESSAGES
        end = np.cumsum(on[order]) // by_device(*_ON_BY_MESSAGES)
    else:
        sizes = np.array([state.size for state in states], np.int64)
        count, end = max(_TOGETHER, tiles_at_once()), np.cumsum(sizes[order]) // _PIXELS
    group = np.maximum(np.arange(len(order)) // count, end)
    return np.split(order, np.flatnonzero(np.diff(group)) + 1) if len(order) else []
