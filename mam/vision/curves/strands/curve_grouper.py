"""Grouping continuous curves: ropes, cables, fibres, drawn lines, of any width.

A mask is cut into strands, the stretches between crossings. A strand is a part with two sides, a
pair of ends that may continue each other an attention variable with a learned potential, and
max-product decides which are ON: the contour model, on other parts. ``CurveGrouper`` puts these
steps together.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Bool

from mam.core.limits import CURVE_PIXELS
from mam.core.model_files import load_model, save_model
from mam.core.programs import forget_old_programs
from mam.core.schema import ArraySpec, ModelFile, Schema, Setting
from mam.data.images import PictureSource
from mam.vision.curves.chain_grouper import ChainGrouper, check_bridging
from mam.vision.curves.chain_model import (
    POTENTIALS,
    ContourPotentials,
    Decided,
    Links,
    Presence,
    certify,
)
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.corrections import Corrections, clamped, complete
from mam.vision.curves.courses import Contour
from mam.vision.curves.link_score import LinkedPairs, link_f1
from mam.vision.curves.strands.curve_answer import CurveGrouping
from mam.vision.curves.strands.strand_learning import (
    Lessons,
    joined_lessons,
    learn_strands,
    lessons_of,
)
from mam.vision.curves.strands.strand_pairs import (
    TERMS,
    EndPairs,
    StrandContinuation,
    find_end_pairs,
)
from mam.vision.curves.strands.strand_truth import find_truth
from mam.vision.curves.strands.strands import Ends, Strands, find_ends, find_strands, halved
from mam.vision.curves.strands.width import relief
from mam.vision.images.binary import Images, as_binary, one_channel

_BATCH = 16  # images whose attention variables are decided at once
_POTENTIALS = ContourPotentials()
SCHEMA = Schema(
    "curves",
    {"weights": ArraySpec(("float64",), (len(TERMS),), -1e6, 1e6)},
    {
        "potentials": POTENTIALS,
        "terms": Setting(list, one_of=(list(TERMS),)),
        "threshold": Setting(float, none=True),
    },
    "mam learn curves",
)


class CurveGrouper(ChainGrouper):
    """Learn from known curves how strands continue each other; group the strands of masks.

    ``continuation_`` is what was learned, ``provenance_`` from what.

    >>> from mam.data import make_row, recipe
    >>> row = make_row(recipe("curves", "easy", seed=3), 0)
    >>> [found] = CurveGrouper.load("curves").predict([row.mask])
    >>> len(found), int(row.labels.max())
    (2, 2)
    """

    continuation_: StrandContinuation
    provenance_: dict[str, Any]

    def __init__(
        self,
        *,
        potentials: ContourPotentials = _POTENTIALS,
        threshold: float | int | None = None,  # above it a pixel is ON; None: masks are binary
        bridging: float | int = 1.0,  # gaps so many times wider count as those learned from
        bound: bool = False,
    ) -> None:
        self.potentials = potentials
        self.threshold = threshold
        self.bridging = bridging
        self.bound = bound

    def fit(
        self,
        images: Images,
        y: Sequence[Sequence[Contour]],
        *,
        progress: Callable[[int], None] = lambda images: None,
    ) -> "CurveGrouper":
        """Learn from masks and (``y``) the middle line of each curve in them: points in order."""
        if len(y) != len(images):
            raise ValueError(f"{len(images)} images, but courses for {len(y)}")
        if not len(images):
            raise ValueError("no images: curves are learned from at least one")
        lessons: list[Lessons] = []
        for number, known in enumerate(y):
            drawing = describe(self._mask(images[number], number))
            truth = find_truth(drawing.strands, drawing.ends, known)
            lessons.append(lessons_of(drawing.pairs, truth))
            progress(1)
        learned = joined_lessons(lessons)
        self.continuation_ = learn_strands(learned, self.potentials.termination)
        self.provenance_ = {"images": len(images), "neighbours": int(learned.neighbours.sum())}
        return self

    def predict(self, images: Images) -> list[CurveGrouping]:
        """Group the strands of each mask."""
        continuation = self._fitted()
        forget_old_programs()
        found: list[CurveGrouping] = []
        for start in range(0, len(images), _BATCH):
            some = images[start : start + _BATCH]
            masks = [self._mask(image, start + k) for k, image in enumerate(some)]
            found += self._grouped(masks, continuation)
        return found

    def score(self, images: Images, y: Sequence[Sequence[Contour]]) -> float:
        """F1 of the pairs of ends that are joined, among ends whose continuation is certain."""
        self._check_truth(images, y)
        found = zip(self.predict(images), y, strict=True)
        return link_f1(_compared(answer, courses) for answer, courses in found)

    def _mask(self, image: PictureSource, number: int) -> Bool[np.ndarray, "rows cols"]:
        pixels = one_channel(image, f"image {number}")
        if pixels.size > CURVE_PIXELS:
            raise ValueError(
                f"image {number} has {pixels.size:,} pixels, more than {CURVE_PIXELS:,}: "
                "reduce it, or cut it into tiles"
            )
        return as_binary(pixels, self.threshold, f"image {number}")

    def _grouped(
        self, masks: list[np.ndarray], continuation: StrandContinuation
    ) -> list[CurveGrouping]:
        drawings = [describe(mask, check_bridging(self.bridging)) for mask in masks]
        links = [self._links(drawing, continuation) for drawing in drawings]
        presence = [self._presence(drawing.strands) for drawing in drawings]
        decided = self._solver.decide_each(links, presence, self.potentials)
        return [
            self._answer(drawing.strands, own, wanted, answer, mask)
            for drawing, own, wanted, answer, mask in zip(
                drawings, links, presence, decided, masks, strict=True
            )
        ]

    def corrected(self, found: CurveGrouping, corrections: Corrections) -> CurveGrouping:
        """Solve again with what is known of some links; all else is as it was."""
        links = complete(found.links, corrections.demand, self.potentials.least_link)
        presence = self._presence(found.strokes)
        known = [clamped(links, corrections)]
        [decided] = self._solver.decide_each(known, [presence], self.potentials)
        return self._answer(found.strokes, links, presence, decided, found.pixels)

    def _links(self, drawing: "StrandDrawing", continuation: StrandContinuation) -> Links:
        ends = np.stack([drawing.pairs.first, drawing.pairs.second], 1)
        links = Links(ends // 2, ends % 2, continuation.log_odds(drawing.pairs))
        return links.take(links.score > self.potentials.least_link)

    def _presence(self, strands: Strands) -> Presence:
        # A curve may do without a strand that two share.
        return np.where(strands.loose, 0.0, self.potentials.presence)

    def _answer(
        self,
        strands: Strands,
        links: Links,
        presence: Presence,
        found: Decided,
        mask: Bool[np.ndarray, "rows cols"],
    ) -> CurveGrouping:
        known = certify(links, found, presence, self.potentials, self.bound)
        group = group_numbers(links.stroke, found.on, len(strands))
        joined = np.zeros(len(strands), bool)
        joined[links.stroke[found.on]] = True
        curve = joined | ~strands.loose
        # The groups that are curves, numbered anew in the same order.
        number = np.cumsum(np.bincount(group[curve], minlength=len(strands)) > 0) - 1
        group = np.where(curve, number[group], -1)
        return CurveGrouping(strands, group, links, *found[:2], mask, *known)

    def _fitted(self) -> StrandContinuation:
        return self._learned("continuation_")

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file."""
        config = {"potentials": asdict(self.potentials), "terms": TERMS}
        config["threshold"] = self.threshold
        arrays = {"weights": self._fitted().weights}
        save_model(path, ModelFile(arrays, config, self.provenance_), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "CurveGrouper":
        """Read a model from a file, or by its bundled name."""
        found = load_model(source, SCHEMA)
        potentials = ContourPotentials.of(found.config["potentials"])
        grouper = cls(potentials=potentials, threshold=found.config["threshold"])
        grouper.continuation_ = StrandContinuation(found.arrays["weights"])
        grouper.provenance_ = dict(found.provenance)
        return grouper


def _compared(answer: CurveGrouping, courses: Sequence[Contour]) -> tuple[LinkedPairs, LinkedPairs]:
    """The ends that are joined, and those that should be."""
    truth = find_truth(answer.strokes, find_ends(answer.strokes), courses)
    joined = 2 * answer.links.stroke[answer.on] + answer.links.side[answer.on]
    end = np.flatnonzero(truth.known & (truth.following >= 0))
    return joined[truth.known[joined].any(1)], np.stack([end, truth.following[end]], 1)


@dataclass(frozen=True, eq=False)
class StrandDrawing:
    """A mask as strands, their ends, and the pairs of ends that may be joined."""

    strands: Strands
    ends: Ends
    pairs: EndPairs


def describe(mask: Bool[np.ndarray, "rows cols"], bridging: float = 1.0) -> StrandDrawing:
    """Describe a mask. Gaps are taken to be ``bridging`` times narrower than they are.

    A strand whose ends may continue each other is cut in two, so that no attention variable has
    both ends on one part.

    >>> mask = np.zeros((60, 60), bool)
    >>> mask[28:33, 5:55], mask[5:55, 28:33] = True, True
    >>> drawing = describe(mask)
    >>> len(drawing.strands), len(drawing.ends)
    (4, 8)
    """
    ground = relief(mask)
    strands = find_strands(ground)
    ends = find_ends(strands)
    pairs = find_end_pairs(ends, ground, bridging)
    round_ = pairs.first // 2 == pairs.second // 2
    if round_.any():
        which = np.zeros(len(strands), bool)
        which[pairs.first[round_] // 2] = True
        strands = halved(strands, which)
        ends = find_ends(strands)
        pairs = find_end_pairs(ends, ground, bridging)
        pairs = pairs.take(pairs.first // 2 != pairs.second // 2)
    return StrandDrawing(strands, ends, pairs)
