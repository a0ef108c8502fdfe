"""Grouping continuous curves: ropes, cables, fibres, drawn lines, of any width.

A mask is cut into strands, the stretches between crossings. A strand is a part with two sides, a
pair of ends that may continue each other an attention variable with a learned potential, and the
best answer says which are ON: the contour model, on other parts. ``CurveGrouper`` puts these steps
together.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Bool

from mam.core.limits import CURVE_PIXELS
from mam.core.model_files import load_model, save_model
from mam.core.programs import forget_old_programs
from mam.core.schema import ModelFile
from mam.data.images import PictureSource, read_picture
from mam.infer.certificate import Certificate
from mam.vision.curves.chain_grouper import ChainGrouper, check_bridging
from mam.vision.curves.chain_model import ContourPotentials, Decided, Links, Presence, certify
from mam.vision.curves.chains import group_numbers
from mam.vision.curves.corrections import Corrections, clamped, complete
from mam.vision.curves.courses import Contour
from mam.vision.curves.strands.appearance import LOOKS, SeenPicture
from mam.vision.curves.strands.branches import crossings_whole, decide_branching
from mam.vision.curves.strands.curve_answer import CurveGrouping
from mam.vision.curves.strands.lane_drawing import LANE_LOOKS, describe_lanes
from mam.vision.curves.strands.lane_pairs import LANE_TERMS
from mam.vision.curves.strands.line_counts import LINE_TERMS, find_line_counts
from mam.vision.curves.strands.pen_model import decide_by_pens
from mam.vision.curves.strands.pens import PenFit
from mam.vision.curves.strands.strand_continuation import SCHEMA, StrandContinuation
from mam.vision.curves.strands.strand_drawing import (
    StrandDrawing,
    StrandSketch,
    describe,
    describe_gaps,
    sketch,
)
from mam.vision.curves.strands.strand_learning import Lessons, learn_strands, lessons_of
from mam.vision.curves.strands.strand_pairs import TERMS
from mam.vision.curves.strands.strands import Strands
from mam.vision.images.binary import Images, as_binary, one_channel, refuse_paper

SeenPictures = Sequence[PictureSource | None]

_BATCH = 16  # images whose attention variables are decided at once
# The ends of a strand that is a curve by itself cost as much as those of any other curve.
_POTENTIALS = ContourPotentials(presence=3.2, termination=-1.6)


class Described(NamedTuple):
    """The strands of a picture, what may be joined, and which of the pens seen in it they fit."""

    strands: Strands
    links: Links
    pens: PenFit | None
    proof: str | None  # how it is known that no other strands explain the ink better


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
        branches: bool = False,  # whether curves may branch; a curve is then a whole tree
        bound: bool = False,
        n_jobs: int | None = None,
    ) -> None:
        self.potentials = potentials
        self.threshold = threshold
        self.bridging = bridging
        self.branches = branches
        self.bound = bound
        self.n_jobs = n_jobs

    def fit(
        self,
        images: Images,
        y: Sequence[Sequence[Contour]],
        *,
        pictures: SeenPictures | None = None,
        progress: Callable[[int], None] = lambda images: None,
    ) -> "CurveGrouper":
        """Learn from masks and (``y``) the middle line of each curve in them: points in order.

        ``pictures`` are what masks were made from, None where that is not known.
        """
        self._check_beside(images, y, "courses")
        self._check_beside(images, pictures, "pictures")
        if not len(images):
            raise ValueError("no images: curves are learned from at least one")
        blind, seen = list[Lessons](), list[Lessons]()
        for number, known in enumerate(y):
            drawn = sketch(self._mask(images[number], number))
            blind.append(lessons_of(drawn, known))
            if (picture := self._picture(pictures, number, drawn.shape)) is not None:
                seen.append(lessons_of(drawn, known, picture))
            progress(1)
        self.continuation_ = learn_strands(blind, seen, self.potentials.termination)
        choices = [own for some in blind for own in (some.strands, some.lanes) if own is not None]
        told = int(sum(own.right.sum() for own in choices))
        self.provenance_ = {"images": len(images), "neighbours": told, "pictures": len(seen)}
        return self

    def predict(self, images: Images, pictures: SeenPictures | None = None) -> list[CurveGrouping]:
        """Group the strands of each mask; ``pictures`` are what masks were made from.

        Where a picture is given, how strands look in it counts as well.
        """
        self._learned("continuation_")
        self._check_beside(images, pictures, "pictures")
        return self._piecewise(len(images), lambda some: self._read(images, pictures, some), _BATCH)

    def _read(
        self, images: Images, pictures: SeenPictures | None, some: slice
    ) -> tuple[list[np.ndarray], list[np.ndarray | None]]:
        """Masks and pictures of some images."""
        masks = [self._mask(images[n], n) for n in range(some.start, some.stop)]
        return masks, [
            self._picture(pictures, some.start + k, m.shape) for k, m in enumerate(masks)
        ]

    def _answered(
        self, masks: list[np.ndarray], pictures: list[np.ndarray | None]
    ) -> list[CurveGrouping]:
        forget_old_programs()
        drawn = [sketch(mask, self.branches) for mask in masks]
        return self._grouped(masks, drawn, pictures, self._learned("continuation_"))

    def score(self, images: Images, y: Sequence[Sequence[Contour]]) -> float:
        """The Dice coefficient of the lengths of curves and known courses, see ``length_dice``."""
        from mam.vision.curves.strands.length_score import length_dice

        self._check_beside(images, y)
        return length_dice(zip(self.predict(images), y, strict=True))

    def _mask(self, image: PictureSource, number: int) -> Bool[np.ndarray, "rows cols"]:
        pixels = one_channel(image, f"image {number}")
        if pixels.size > CURVE_PIXELS:
            raise ValueError(
                f"image {number} has {pixels.size:,} pixels, more than {CURVE_PIXELS:,}: "
                "reduce it, or cut it into tiles"
            )
        mask = as_binary(pixels, self.threshold, f"image {number}")
        refuse_paper(pixels, mask, f"image {number}")
        return mask

    def _picture(
        self, pictures: SeenPictures | None, number: int, size: tuple[int, ...]
    ) -> SeenPicture | None:
        """A picture, if it is known; it must be as large as its mask."""
        if pictures is None or (given := pictures[number]) is None:
            return None
        found = read_picture(given, f"picture {number}")
        if found.shape[:2] != size:
            raise ValueError(f"picture {number} has the size {found.shape[:2]}, its mask {size}")
        return found

    def _grouped(
        self,
        masks: list[np.ndarray],
        drawn: list[StrandSketch],
        pictures: list[np.ndarray | None],
        continuation: StrandContinuation,
    ) -> list[CurveGrouping]:
        described = [
            self._described(own, picture, continuation)
            for own, picture in zip(drawn, pictures, strict=True)
        ]
        decided = self._decided(described)
        return [
            self._answer(own, *answer, mask)
            for own, answer, mask in zip(described, decided, masks, strict=True)
        ]

    def _presence(self, strands: Strands) -> Presence:
        return np.full(len(strands), self.potentials.presence)

    def _decided(
        self, described: Sequence[Described], told: Sequence[Links] | None = None
    ) -> list[tuple[Decided, Certificate]]:
        """Which links are ON, and how good the answer to each picture is.

        ``told`` are the links with what is known of them, if anything is.
        """
        told = [own.links for own in described] if told is None else told
        together = [k for k, own in enumerate(described) if own.pens is None and not self.branches]
        presence = [self._presence(own.strands) for own in described]
        found = self._solver.decide_each(
            [told[k] for k in together], [presence[k] for k in together], self.potentials
        )
        decided = dict(zip(together, found, strict=True))
        return [
            self._alone(own, told[k], presence[k], decided.get(k))
            for k, own in enumerate(described)
        ]

    def _alone(
        self, own: Described, told: Links, presence: Presence, found: Decided | None
    ) -> tuple[Decided, Certificate]:
        """The answer to one picture, decided by itself unless that was done."""
        strands, links, pens, _ = own
        if found is not None:
            return found, certify(links, found, presence, self.potentials, self.bound)
        if pens is not None:
            return decide_by_pens(links, told, presence, pens, self.potentials, self.bound)
        return decide_branching(strands.node, links, told, presence, self.potentials, self.bound)

    def _described(
        self, drawn: StrandSketch, picture: SeenPicture | None, continuation: StrandContinuation
    ) -> Described:
        """What may be joined, with what it scores."""
        if (chart := drawn.chart(picture)) is not None:
            counts = find_line_counts(chart.arcs, continuation.single(chart))
            lanes = describe_lanes(chart, counts.each, picture)
            side = np.tile(np.array([[1, 0]]), (len(lanes.pair), 1))
            links = Links(lanes.pair, side, continuation.lane_odds(lanes), lanes.passage)
            gaps = describe_gaps(drawn, lanes, check_bridging(self.bridging))
            bridges = self._links(gaps, continuation)
            bridges = replace(bridges, passage=np.full(len(bridges), -1))
            joined = Links.joined([links, bridges])
            return Described(lanes.strands, joined, lanes.pens(picture), counts.proof)
        if self.branches:
            drawn = replace(drawn, strands=crossings_whole(drawn.strands))
        drawing = describe(drawn, check_bridging(self.bridging), picture)
        links = self._links(drawing, continuation)
        return Described(drawing.strands, links, None, drawn.proof)

    def corrected(self, found: CurveGrouping, corrections: Corrections) -> CurveGrouping:
        """Solve again with what is known of some links; all else is as it was."""
        links = complete(found.links, corrections.demand, self.potentials.least_link)
        known_links = [clamped(links, corrections)]
        own = Described(found.strokes, links, found.pens, found.pieces_proof)
        [(decided, known)] = self._decided([own], known_links)
        return self._answer(own, decided, known, found.pixels)

    def _links(self, drawing: StrandDrawing, continuation: StrandContinuation) -> Links:
        ends = np.stack([drawing.pairs.first, drawing.pairs.second], 1)
        score = continuation.log_odds(drawing)
        links = Links(ends // 2, ends % 2, score)
        kept = links.score > self.potentials.least_link
        return links.take(kept | drawing.pairs.ink if self.branches else kept)

    def _answer(
        self,
        own: Described,
        found: Decided,
        known: Certificate,
        mask: Bool[np.ndarray, "rows cols"],
    ) -> CurveGrouping:
        strands, links, pens, proof = own
        group = group_numbers(links.stroke, found.on, len(strands))
        curve = np.ones(len(strands), bool)
        if links.passage is not None:
            curve[links.passage[links.passage >= 0]] = False
        # The groups that are curves, numbered anew in the same order.
        number = np.cumsum(np.bincount(group[curve], minlength=len(strands)) > 0) - 1
        group = np.where(curve, number[group], -1)
        return CurveGrouping(strands, group, links, *found[:2], mask, *known, proof, pens=pens)

    def save(self, path: str | Path) -> None:
        """Write what was learned to a file."""
        config = {"potentials": asdict(self.potentials), "threshold": self.threshold}
        config |= {"terms": TERMS, "looks": LOOKS, "lane_terms": LANE_TERMS}
        config |= {"lane_looks": LANE_LOOKS, "line_terms": LINE_TERMS}
        learned = vars(self._learned("continuation_"))
        save_model(path, ModelFile(learned, config, self.provenance_), SCHEMA)

    @classmethod
    def load(cls, source: str | Path) -> "CurveGrouper":
        """Read a model from a file, or by its bundled name."""
        found = load_model(source, SCHEMA)
        potentials = ContourPotentials.of(found.config["potentials"])
        grouper = cls(potentials=potentials, threshold=found.config["threshold"])
        grouper.continuation_ = StrandContinuation(**found.arrays)
        grouper.provenance_ = dict(found.provenance)
        return grouper
