"""What a grouping of strands says about a mask: curves from end to end and the pixels they own."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.answer import Grouped, Point
from mam.vision.curves.chains import Chain
from mam.vision.curves.owners import FAR, FAR_LEAST, Trace, label_pixels, mask_pixels
from mam.vision.curves.strands.pens import PenFit
from mam.vision.curves.strands.skeleton_cut import means_of
from mam.vision.curves.strands.strand_ends import Ends, find_ends
from mam.vision.curves.strands.strands import Strands

_NOWHERE = Trace(np.zeros((0, 2)), np.zeros(0), *(np.zeros(0, np.int64) for _ in range(3)))


@dataclass(frozen=True, eq=False, repr=False)
class CurveGrouping(Grouped):
    """The curves of a mask: chains of strands and the bridges between them."""

    strokes: Strands
    pens: PenFit | None = None  # which pens of the picture strands fit, if it is known

    @cached_property
    def trace(self) -> Trace:
        """Points along all curves, curve after curve, each from end to end."""
        if not self.chains:
            return _NOWHERE
        ends = find_ends(self.strokes)
        passages = self._passages()
        found = [_followed(self.strokes, ends, chain, passages) for chain in self.chains]
        points, radius, seen, strand = (np.concatenate(some) for some in zip(*found, strict=True))
        begins = ~seen & np.append(True, seen[:-1])
        return Trace(
            points=points,
            radius=radius,
            curve=np.repeat(np.arange(len(found)), [len(some[0]) for some in found]),
            bridge=np.where(seen, -1, np.cumsum(begins) - 1),
            strand=strand,
        )

    def _passages(self) -> dict[tuple[int, int], int]:
        """The strands that are the passages between ends that are joined.

        Strand k is k from the first end of a link to the second, and ~k from the second to the
        first.
        """
        if self.links.passage is None:
            return {}
        rows = np.flatnonzero(self.on & (self.links.passage >= 0))
        ends = (2 * self.links.stroke[rows] + self.links.side[rows]).tolist()
        found = {}
        for (first, second), passage in zip(ends, self.links.passage[rows].tolist(), strict=True):
            found[first, second], found[second, first] = passage, ~passage
        return found

    @cached_property
    def polylines(self) -> list[Float[np.ndarray, "points 2"]]:
        """Rows and columns along every curve: from tip to tip, or round to the first point."""
        lines = np.split(self.trace.points, np.cumsum(np.bincount(self.trace.curve))[:-1])
        return [
            np.concatenate([line, line[:1]]) if chain.closed else line
            for chain, line in zip(self.chains, lines, strict=False)
        ]

    @cached_property
    def labels(self) -> Int[np.ndarray, "rows cols"]:
        """The number of the curve, from 1, that owns each ON pixel; 0 elsewhere.

        A curve that branches is one, with all its branches.
        """
        return label_pixels(self.pixels, self._of_curves)

    @cached_property
    def _of_curves(self) -> Trace:
        """The trace with the numbers of curves, of which one may be several chains."""
        curve = np.array([self.group[chain.strokes[0]] for chain in self.chains], np.int64)
        return replace(self.trace, curve=curve[self.trace.curve])

    @property
    def explained(self) -> float:
        """The share of ON pixels that belong to a curve; 1 where there are none."""
        ink = int(self.pixels.sum())
        return int((self.labels[self.pixels] > 0).sum()) / ink if ink else 1.0

    @property
    def masks(self) -> Bool[np.ndarray, "curves rows cols"]:
        """The pixels of every curve. Where curves cross, a pixel belongs to all of them."""
        return mask_pixels(self.pixels, self._of_curves, self.labels)

    @cached_property
    def end_places(self) -> Float[np.ndarray, "ends 2"]:
        """Row and column of each end; side s of strand k is end 2 k + s."""
        return find_ends(self.strokes).place

    @property
    def widths(self) -> Float[np.ndarray, " chains"]:
        """The mean width of what is seen of each chain, px."""
        seen = self.trace.bridge < 0
        curve, count = self.trace.curve[seen], len(self.chains)
        # A pixel reaches half a pixel beyond its centre.
        return means_of(2 * self.trace.radius[seen] + 1, curve, count)

    def stroke_at(self, point: Point, name: str = "the point") -> int:
        """The strand nearest to a point, of the curve that owns its pixel if one does."""
        at = self._inside(point, name)
        trace = self._of_curves  # as labels are numbered
        if not len(trace.points):
            raise self._no_curve(at, name, None)
        last = np.array(self.pixels.shape) - 1
        owner = int(self.labels[tuple(np.minimum(np.rint(at), last).astype(int))])
        mine = np.flatnonzero(trace.curve == owner - 1) if owner else np.arange(len(trace.points))
        far, which = KDTree(trace.points[mine]).query(at)
        nearest = mine[which]
        if not owner and far > FAR * trace.radius[nearest] + FAR_LEAST:
            raise self._no_curve(at, name, float(far))
        return int(trace.strand[nearest])


def _followed(
    strands: Strands, ends: Ends, chain: Chain, passages: dict[tuple[int, int], int]
) -> tuple[np.ndarray, ...]:
    """Lay strands and bridges behind one another: points, radii, whether seen, and the strand."""
    border = np.searchsorted(strands.strand, np.arange(len(strands) + 1)).tolist()
    order = list(zip(chain.strokes.tolist(), chain.leaves.tolist(), strict=True))
    following = order[1:] + (order[:1] if chain.closed else [])
    parts = []
    for k, (strand, leaves) in enumerate(order):
        forward = np.arange(border[strand], border[strand + 1])[:: 1 if leaves else -1]
        own = np.full(len(forward), strand)
        parts.append((strands.points[forward], strands.radius[forward], own >= 0, own))
        if k < len(following):
            left, entered = 2 * strand + leaves, 2 * following[k][0] + 1 - following[k][1]
            if (left, entered) in passages:
                parts.append(_passed(strands, left, entered, passages[left, entered]))
            else:
                parts.append(_bridge(ends, left, entered))
    return tuple(np.concatenate(some) for some in zip(*parts, strict=True))


def _passed(strands: Strands, first: int, second: int, passage: int) -> tuple[np.ndarray, ...]:
    """The points of a strand that is the passage from one end to another."""
    low, high = np.searchsorted(
        strands.strand, [max(passage, ~passage), max(passage, ~passage) + 1]
    )
    own = np.arange(low, high)[:: 1 if passage >= 0 else -1]
    strand = np.where(np.arange(len(own)) < len(own) / 2, first // 2, second // 2)
    return strands.points[own], strands.radius[own], np.ones(len(own), bool), strand


def _bridge(ends: Ends, first: int, second: int) -> tuple[np.ndarray, ...]:
    """A cubic that leaves one end and enters another, in points about a pixel apart."""
    start, stop = ends.place[first], ends.place[second]
    gap = float(np.linalg.norm(stop - start))
    t = np.linspace(0, 1, max(int(np.ceil(gap)), 2) + 1)[1:-1, None]
    out, back = gap * ends.heading[first], gap * ends.heading[second]
    ahead = (1 + 2 * t) * (1 - t) ** 2 * start + t * (1 - t) ** 2 * out
    points = ahead + t**2 * (3 - 2 * t) * stop + t**2 * (1 - t) * back
    radius = np.linspace(ends.width[first], ends.width[second], len(t)) / 2
    strand = np.where(t[:, 0] < 0.5, first // 2, second // 2)
    return points, radius, np.zeros(len(t), bool), strand
