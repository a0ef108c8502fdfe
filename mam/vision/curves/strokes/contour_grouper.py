r"""Grouping broken contours: strokes, attention between their ends, and the curves they form.

An image is sparsified, the pose of every stroke is read off its pixels, pairs of facing ends become
attention variables with the learned potential of a continuation, and the best answer says which are
ON (paper, "Pathfinder challenge"). ``ContourGrouper`` puts these steps together.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from mam.core.model_files import load_model, save_model
from mam.core.progress import Advance
from mam.core.schema import ModelFile, floats
from mam.data.pixels import ON
from mam.vision.curves.chain_grouper import ChainGrouper, check_bridging
from mam.vision.curves.chain_model import NO_LINKS, ContourPotentials, Decided, Links, certify
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.corrections import Corrections, clamped, complete
from mam.vision.curves.strokes.by_image import (
    BySeed,
    CoursesByImage,
    as_lessons,
    batches,
    by_image,
    cut_by_image,
    links_and_strokes,
    sorted_by_image,
)
from mam.vision.curves.strokes.continuation import SMOOTHING, SmoothContinuation, Smoothing
from mam.vision.curves.strokes.contour_answer import Grouping
from mam.vision.curves.strokes.hidden import add_hidden
from mam.vision.curves.strokes.poses import Poses
from mam.vision.curves.strokes.presets import SCHEMA, Continuation, ContourPreset, preset_of
from mam.vision.curves.strokes.stroke_truth import link_f1, true_links
from mam.vision.images.binary import Images, as_weights
from mam.vision.images.discs import Hidden
from mam.vision.parts.masks import Parts, read_parts
from mam.vision.parts.sparsifier import Sparsifier

Proofs = Sequence[str | None]  # of the strokes of each image


class ContourGrouper(ChainGrouper):
    """Learn from known contours how strokes continue each other; group the strokes of images.

    ``continuation_`` is what was learned, ``provenance_`` from what. ``preset`` is "best" or, for
    the paper's own way in every step, "paper"; ``potentials``, ``sparsifications`` (of every
    training image) and ``restarts`` (of the sparsifier) are the preset's unless given.

    >>> from mam.data import make_row, recipe
    >>> grouper = ContourGrouper.load("contours")
    >>> row = make_row(recipe("pathfinder", "hard", seed=3), 0)
    >>> [found] = grouper.predict([row.clean])
    >>> found.same(*row.markers).same == bool(row.label)
    True
    """

    continuation_: Continuation
    provenance_: dict[str, Any]

    def __init__(
        self,
        parts: Parts | str | Path = "pathfinder-parts",
        *,
        preset: str = "best",
        potentials: ContourPotentials | None = None,
        smoothing: Smoothing = SMOOTHING,
        sparsifications: int | None = None,
        threshold: float | int | None = ON,  # above it a pixel is ON
        restarts: int | None = None,
        bridging: float | int = 1.0,  # gaps so many times wider count as those learned from
        bound: bool = False,
        seed: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.parts = parts
        self.preset = preset
        self.potentials = potentials
        self.smoothing = smoothing
        self.sparsifications = sparsifications
        self.threshold = threshold
        self.restarts = restarts
        self.bridging = bridging
        self.bound = bound
        self.seed = seed
        self.n_jobs = n_jobs

    @cached_property
    def _sparsifier(self) -> Sparsifier:
        """Remembers pieces of earlier images and sizes of arrays."""
        return Sparsifier(self.parts)

    def fit(
        self,
        images: Images,
        y: CoursesByImage,
        *,
        progress: Advance = lambda images: None,
    ) -> "ContourGrouper":
        """Learn from images and (``y``) the course of each contour in them: points in order.

        Strokes of different contours share no pixel, or next to none, so that the strokes found
        in a whole image are those found in its contours one by one. For the preset "paper" every
        image should show a contour alone, see ``mam.tasks.pathfinder.fit``.
        """
        self._check_beside(images, y, "contours")
        return self.fit_strokes(self.strokes(images, progress), y)

    def strokes(self, images: Images, progress: Advance = lambda n: None) -> list[BySeed]:
        """The strokes of each image, one by one, by sparsification: what is learned from."""
        parts, weights = self._checked(), as_weights(images, self.threshold)
        seeds = range(self.seed, self.seed + (self.sparsifications or self._preset.sparsifications))
        found: list[BySeed] = []
        for some in batches(len(weights)):
            own = weights[some]
            strokes = [poses for poses, _ in self._strokes(own, parts, seeds, some.start)]
            found += by_image(strokes, len(own))
            progress(len(own))
        return found

    def fit_strokes(self, strokes: Sequence[BySeed], y: CoursesByImage) -> "ContourGrouper":
        """Learn from strokes that were found, and the contours of each image: half of ``fit``."""
        learned = self._preset.learn(as_lessons(strokes, y), self._checked(), self.smoothing)
        self.continuation_, neighbours = learned
        self.provenance_ = {"images": len(strokes), "neighbours": neighbours}
        return self

    def predict(
        self, images: Images, hidden: Sequence[Hidden] | None = None, first: int = 0
    ) -> list[Grouping]:
        """Group the strokes of each image.

        ``hidden`` lists, by image, where contours end in strokes that something covers: they take
        part as well. ``first`` is the number by which errors call the first image.
        """
        self._checked()
        weights = as_weights(images, self.threshold, first)
        self._check_beside(weights, hidden, "hidden strokes")
        self._learned("continuation_")
        return self._piecewise(
            len(weights), lambda some: (weights[some], hidden and hidden[some], first + some.start)
        )

    def _answered(
        self, weights: list[np.ndarray], hidden: Sequence[Hidden] | None, first: int
    ) -> list[Grouping]:
        """Group some images, of which the first one has a number."""
        parts = self._checked()
        seen = None if hidden is None else zip(hidden, weights, strict=True)
        unknown = None if seen is None else [one.covered(w.shape) for one, w in seen]
        several, found = batches(len(weights)), list[Grouping]()

        def strokes(some: slice) -> list[tuple[Poses, Proofs]]:
            number, hides = first + some.start, unknown and unknown[some]
            return self._strokes(weights[some], parts, [self.seed], number, hides)

        # One thread sparsifies the next images while this one groups the last.
        with ThreadPoolExecutor(1) as ahead:
            sparsified = ahead.map(strokes, several)
            for some, [(poses, proofs)] in zip(several, sparsified, strict=True):
                found += self._grouped(weights[some], poses, proofs, hidden and hidden[some])
        return found

    def score(self, images: Images, y: CoursesByImage) -> float:
        """F1 of the pairs of strokes that are joined, where neighbours on a contour should be."""
        self._check_beside(images, y)
        reach = self._learned("continuation_").reach
        return link_f1(
            (answer.links.stroke[answer.on], true_links(answer.strokes, reach, contours))
            for answer, contours in zip(self.predict(images), y, strict=True)
        )

    @property
    def _preset(self) -> ContourPreset:
        return preset_of(self.preset)

    @property
    def _potentials(self) -> ContourPotentials:
        return self.potentials or self._preset.potentials

    def _checked(self) -> Parts:
        if self.sparsifications is not None and self.sparsifications < 1:
            raise ValueError(f"sparsifications must be at least 1, not {self.sparsifications}")
        noise = self._preset.noise
        parts = self.parts if isinstance(self.parts, Parts) else Parts.load(self.parts)
        # The same parts for as long as nothing changes: what is remembered hangs on them.
        return parts if noise in (None, parts.noise) else replace(parts, noise=noise)

    def _strokes(
        self,
        weights: list[np.ndarray],
        parts: Parts,
        seeds: Sequence[int],
        first: int,
        unknown: Sequence[Bool[np.ndarray, "_ _"]] | None = None,
    ) -> list[tuple[Poses, Proofs]]:
        """The strokes found by seed, and the proof of each image; the first one has a number."""
        preset = self._preset
        own = {"parts": parts, "restarts": self.restarts or preset.restarts}
        sparsifier = self._sparsifier.set_params(**preset.sparsifier, **own)
        found = sparsifier.transform_by_seed([w > 0 for w in weights], seeds, unknown, first)
        return [
            (preset.strokes(weights, several, parts, unknown), [one.proof for one in several])
            for several in found
        ]

    def _grouped(
        self,
        weights: list[np.ndarray],
        poses: Poses,
        proofs: Proofs,
        hidden: Sequence[Hidden] | None,
    ) -> list[Grouping]:
        continuation: Continuation = self._learned("continuation_")
        links = continuation.links(poses, check_bridging(self.bridging))
        if hidden is not None and isinstance(continuation, SmoothContinuation):
            poses, links = sorted_by_image(poses, links.above(self._potentials.least_link))
            poses, links = add_hidden(poses, links, hidden, continuation, self._solved)
        links = links.above(self._potentials.least_link)
        return self._decided(weights, proofs, *sorted_by_image(poses, links))

    def corrected(self, found: Grouping, corrections: Corrections) -> Grouping:
        """Solve again with what is known of some links; all else is as it was."""
        poses = replace(found.strokes, image=np.zeros(len(found.strokes), np.int64))
        links = complete(found.links, corrections.demand, self._potentials.least_link)
        own = [found.pixels], [found.pieces_proof], poses, links
        return self._decided(*own, clamped(links, corrections))[0]

    def _solved(self, poses: Poses, links: Links) -> Decided:
        """Decide the links; strokes and links are sorted by image."""
        presence, messages = np.full(len(poses), self._potentials.presence), self._preset.messages
        if messages is None:
            return self._solver.decide(links, presence, self._potentials)
        each, strokes = links_and_strokes(poses, links, presence)
        found = self._solver.decide_each(each, strokes, self._potentials, messages)
        return Decided(*map(np.concatenate, zip(NO_LINKS, *found, strict=True)))

    def _decided(
        self,
        weights: list[np.ndarray],
        proofs: Proofs,
        poses: Poses,
        links: Links,
        wanted: Links | None = None,
    ) -> list[Grouping]:
        """Decide all images, by ``wanted`` scores if given, and cut the answer by image."""
        potentials = self._potentials
        found = self._solved(poses, links if wanted is None else wanted)
        presence = np.full(len(poses), potentials.presence)
        masks = self._checked().masks if self._preset.by_overlap else None
        group = group_numbers(links.stroke, found.on, len(poses))
        answers = []
        cuts = cut_by_image(poses, links, len(weights))
        for (mine, some, own), pixels, proof in zip(cuts, weights, proofs, strict=True):
            answer = Decided(*(values[some] for values in found))
            known = certify(own, answer, presence[mine], potentials, self.bound)
            groups = group[mine] - group[mine].min(initial=len(poses))
            said = Grouping(poses.take(mine), groups, own, *answer[:2], pixels > 0, *known)
            answers.append(replace(said, pieces_proof=proof, part_masks=masks))
        return answers

    def save(self, path: str | Path) -> None:
        """Write what was learned, with the parts, to a file."""
        continuation, parts = self._learned("continuation_"), self._checked()
        config = {
            "noise": asdict(parts.noise),
            "preset": self.preset,
            "potentials": asdict(self._potentials),
            "smoothing": asdict(self.smoothing),
            "threshold": self.threshold,
            "restarts": self.restarts or self._preset.restarts,
        }
        arrays = {"masks": parts.masks.astype(np.uint8), **continuation.arrays}
        save_model(path, ModelFile(arrays, config, self.provenance_), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "ContourGrouper":
        """Read a model from a file, or by its bundled name."""
        found = load_model(source, SCHEMA)
        config = found.config
        grouper = cls(
            read_parts(found, config["noise"]),
            preset=config.get("preset", "best"),
            potentials=ContourPotentials.of(config["potentials"]),
            smoothing=Smoothing(**floats(config["smoothing"])),
            threshold=config["threshold"],
            restarts=config["restarts"],
        )
        grouper.continuation_ = grouper._preset.read(found.arrays, grouper.smoothing)
        grouper.provenance_ = dict(found.provenance)
        return grouper
