r"""The sparsifier: binary images to a few placed parts, and back.

A set :math:`S` of placements has the score

.. math::
    F(S) = \sum_{p \in \mathrm{covered}(S)} g_p + |S| \cdot \mathrm{prior},

the log likelihood of the image against that of no placement at all (:math:`g_p` in
``mam.vision.parts.masks``). Its maximum is the best assignment of the noisy-OR model of the paper,
"Symbol grounding with the sparsifier"; ``sparsifier_model`` writes that model down in full.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jaxtyping import Bool, Float, Int, Int8

from mam.core.estimator import Estimator
from mam.core.growing import GrowingSizes
from mam.core.programs import forget_old_programs
from mam.infer.restarts import seeds
from mam.vision.images.binary import Images, as_binary, as_states, padded_batches
from mam.vision.parts.candidates import PRUNING, Candidates, Pruned, prune
from mam.vision.parts.cover import Edges, find_edges, rectangle_shapes
from mam.vision.parts.explain import Explanation, Rates, explain_edges
from mam.vision.parts.formal import cover_program, sparsifier_model
from mam.vision.parts.masks import Noise, Parts

# Images a device works on at once: an accelerator wants many, a core works best in its cache.
_BATCH_ON_ACCELERATOR = 64
_USUAL = 2.0  # a batch with more candidates than this times the median is crowded
_TOGETHER = 128  # batches that are explained in stages, in arrays of the same sizes

# Numbers of the images, their states in one array, their own sizes: see padded_batches.
Batch = tuple[np.ndarray, Int8[np.ndarray, "_ _ _"], Int[np.ndarray, "_ 2"]]


@dataclass(frozen=True, eq=False)
class Placements:
    """The parts that explain one image, sorted by row, column and type."""

    type: Int[np.ndarray, " placements"]
    row: Int[np.ndarray, " placements"]  # of the middle pixel
    column: Int[np.ndarray, " placements"]
    margin: Float[np.ndarray, " placements"]  # what max-product believes that leaving it out costs
    shape: tuple[int, int]  # of the image
    score: float  # log likelihood with the prior, against no placements
    bound: float | None = None  # no explanation scores higher

    def __len__(self) -> int:
        return len(self.type)

    @property
    def gap(self) -> float | None:
        """Bound minus score: 0 proves the explanation optimal."""
        return None if self.bound is None else self.bound - self.score


class Sparsifier(Estimator):
    """Explain binary images by few placements of parts.

    ``parts`` are ``Parts``, a file of them or a bundled name. Every image gets the best of several
    seeded ``restarts``, whatever the batch it is in. ``threshold`` says above which value a pixel
    is ON, for images that are not binary. ``exclusive`` allows one type of part at a position.
    With ``bound`` every answer carries an upper bound of the optimum, which takes much longer.

    >>> bar = Parts(np.array([[[0, 0, 0], [1, 1, 1], [0, 0, 0]]], bool))
    >>> image = np.zeros((9, 9), bool)
    >>> image[4, 2:8] = True
    >>> [found] = Sparsifier(Parts(bar.masks, replace(bar.noise, prior=-5.0))).transform([image])
    >>> found.row.tolist(), found.column.tolist(), round(found.score, 3)
    ([4, 4], [3, 6], 27.474)
    """

    def __init__(
        self,
        parts: Parts | str | Path,
        *,
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
        # Sizes of the arrays used so far, for most images and for crowded ones; they have no part
        # in any answer.
        self._rooms = GrowingSizes(), GrowingSizes(spare=2.0)

    def fit(self, images: Images | None = None, y: Any = None) -> "Sparsifier":
        """Do nothing: the parts are given. See ``learn_parts`` to learn them."""
        return self

    def transform(
        self, images: Images, unknown: Sequence[Bool[np.ndarray, "_ _"]] | None = None
    ) -> list[Placements]:
        """Return the placements that explain each image.

        ``unknown`` tells, by image, which pixels are hidden: covering one costs and gains nothing.
        """
        parts, states = self._checked(), self._states(images, unknown)
        forget_old_programs()
        found: list[Placements | None] = [None] * len(states)
        size = 1 if jax.default_backend() == "cpu" else _BATCH_ON_ACCELERATOR
        batches = list(padded_batches(states, size, blank=np.int8(0)))
        # The fullest first: arrays of its sizes hold most of the others.
        batches.sort(key=lambda batch: -np.count_nonzero(batch[1] > 0))
        # Two at a time: one image keeps a core busy, and a device never waits for the host.
        with ThreadPoolExecutor(2) as pool:
            for start in range(0, len(batches), _TOGETHER):
                for numbers, answers in self._explained(batches[start:][:_TOGETHER], parts, pool):
                    for number, answer in zip(numbers, answers, strict=False):
                        found[number] = answer
        answers = [answer for answer in found if answer is not None]
        return self._bounded(states, answers, parts) if self.bound else answers

    def fit_transform(self, images: Images, y: Any = None) -> list[Placements]:
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
        if self.pruning not in PRUNING:
            raise ValueError(f"pruning is one of {', '.join(PRUNING)}, not {self.pruning!r}")
        for name in ("restarts", "iterations", "max_candidates"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)}")
        if not 0 <= self.damping < 1:
            raise ValueError(f"damping must lie in [0, 1), not {self.damping}")
        return self.parts if isinstance(self.parts, Parts) else Parts.load(self.parts)

    def _explained(
        self, batches: list[Batch], parts: Parts, pool: ThreadPoolExecutor
    ) -> Iterator[tuple[np.ndarray, list[Placements]]]:
        """Explain several batches; the few with many candidates do not slow down the others."""
        usual, large = self._rooms

        def pruned_of(batch: Batch) -> Pruned:
            return prune(batch[1], batch[2], parts, self.pruning, usual)

        pruned = [pruned_of(batches[0]), *pool.map(pruned_of, batches[1:])]
        for batch, some in zip(batches, pruned, strict=True):
            self._refuse_too_many(some, batch[0])
        most = _USUAL * np.median([one.count for one in pruned])
        both = list(zip(batches, pruned, strict=True))
        yield from self._decided([one for one in both if one[1].count <= most], parts, usual, pool)
        yield from self._decided([one for one in both if one[1].count > most], parts, large, pool)

    def _decided(
        self,
        some: list[tuple[Batch, Pruned]],
        parts: Parts,
        room: GrowingSizes,
        pool: ThreadPoolExecutor,
    ) -> Iterator[tuple[np.ndarray, list[Placements]]]:
        """Decide batches in stages: arrays get the size that the largest needs."""
        if not some:
            return
        batches, pruned = zip(*some, strict=True)
        capacity = room.fit("all", max(one.count for one in pruned))
        listed = list(
            pool.map(lambda b, p: find_edges(b[1], b[2], p, parts, capacity), batches, pruned)
        )
        shapes = rectangle_shapes([counts for _, _, counts in listed], room)

        def decide(batch: Batch, found: tuple[Candidates, Edges, list[int]]) -> list[Placements]:
            numbers, _, sizes = batch
            candidates, edges, _ = found
            answer = self._chosen(candidates, edges, sizes, parts, shapes)
            listed, answer = jax.device_get((candidates, answer))
            return _placements(listed, answer, sizes[: len(numbers)], parts.noise)

        answers = pool.map(decide, batches, listed)
        yield from ((batch[0], answer) for batch, answer in zip(batches, answers, strict=True))

    def _chosen(
        self,
        candidates: Candidates,
        edges: Edges,
        sizes: Int[np.ndarray, "images 2"],
        parts: Parts,
        shapes: tuple[tuple[int, int], ...],
    ) -> Explanation:
        noise = parts.noise
        rates = (noise.gain, noise.loss, noise.prior, self.damping, self.jitter)
        return explain_edges(
            candidates,
            edges,
            sizes.astype(np.int32),
            Rates(*(np.float32(rate) for rate in rates)),
            seeds(self.seed, self.restarts),
            (len(parts), shapes, self.iterations, self.exclusive),
        )

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
            limit, _ = cover_program(sparsifier_model(state > 0, parts, unknown=state == 0)).solve()
            # The program is solved to about 1e-7 of its value.
            limit = max(limit * (1 + 1e-6), answer.score)
            bounded.append(replace(answer, bound=limit))
        return bounded


def _placements(
    listed: Candidates, answer: Explanation, sizes: Int[np.ndarray, "images 2"], noise: Noise
) -> list[Placements]:
    """Cut the answer into images; candidates are sorted by image."""
    chosen = np.flatnonzero(answer.chosen)
    borders = np.searchsorted(listed.image[chosen], np.arange(len(sizes) + 1))
    found = []
    for image, (rows, cols) in enumerate(sizes.tolist()):
        own = chosen[borders[image] : borders[image + 1]]
        lit, dark, parts = (int(n[image]) for n in (answer.lit, answer.dark, answer.parts))
        score = noise.gain * lit - noise.loss * dark + noise.prior * parts
        where = listed.type[own], listed.row[own], listed.column[own]
        found.append(Placements(*where, np.maximum(answer.belief[own], 0.0), (rows, cols), score))
    return found


def draw_placements(placements: Placements, parts: Parts) -> Bool[np.ndarray, "rows cols"]:
    """Return the pixels that some placement covers."""
    rows, cols = placements.shape
    reach = parts.radius
    canvas = np.zeros((rows + 2 * reach, cols + 2 * reach), bool)
    where = placements.row, placements.column, placements.type
    for row, col, kind in zip(*where, strict=True):
        canvas[row : row + parts.side, col : col + parts.side] |= parts.masks[kind]
    return canvas[reach : reach + rows, reach : reach + cols]
