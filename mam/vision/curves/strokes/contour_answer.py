"""What a grouping of strokes says about an image: curves in order, pixels, same or different."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.spatial import KDTree

from mam.vision.curves.answer import Grouped, Point
from mam.vision.curves.chains import Chain
from mam.vision.curves.line_forms import lengths_along, points_at
from mam.vision.curves.strokes.poses import Poses

_MARKER = 5.0  # px, radius of a marker (facts, "Pathfinder model")
_NEAR = 8.0  # px; a point farther than this from the middles of all strokes is on no curve
_ABREAST = 2.0  # px; tips no farther than this from the nearest one are about as near
_STEP = 0.5  # px between the points of a polyline when distances to it are measured


@dataclass(frozen=True, eq=False, repr=False)
class Grouping(Grouped):
    """The curves that strokes of equal length form: broken contours."""

    strokes: Poses
    # The part types, if points mark parts by the pixels that they cover (preset "paper").
    part_masks: Bool[np.ndarray, "types side side"] | None = None

    @cached_property
    def polylines(self) -> list[Float[np.ndarray, "points 2"]]:
        """Rows and columns along every curve: from tip to tip, or round to the first point."""
        return [self._polyline(chain) for chain in self.chains]

    def _polyline(self, chain: Chain) -> Float[np.ndarray, "points 2"]:
        middle = self.strokes.middle[chain.strokes]
        if chain.closed:
            return np.concatenate([middle, middle[:1]])
        half = (self.strokes.length / 2)[chain.strokes, None] * self.strokes.axis[chain.strokes]
        ahead = np.where(chain.leaves[:, None] == 1, half, -half)
        return np.concatenate([middle[:1] - ahead[:1], middle, middle[-1:] + ahead[-1:]])

    @cached_property
    def _distances(self) -> tuple[np.ndarray, Float[np.ndarray, "pixels curves"]]:
        """The ON pixels, and how far each is from every curve."""
        where = np.argwhere(self.pixels)
        far = [KDTree(_dense(line)).query(where)[0] for line in self.polylines]
        return where, np.stack(far, 1) if far else np.zeros((len(where), 0))

    @property
    def labels(self) -> Int[np.ndarray, "rows cols"]:
        """The number of the nearest curve, from 1, at every ON pixel; 0 elsewhere."""
        where, far = self._distances
        image = np.zeros(self.pixels.shape, np.int64)
        if far.shape[1]:
            image[tuple(where.T)] = self._curves[far.argmin(1)] + 1
        return image

    @cached_property
    def _curves(self) -> Int[np.ndarray, " chains"]:
        """The number of the curve that each chain is of."""
        return self.group[[chain.strokes[0] for chain in self.chains]]

    @property
    def masks(self) -> Bool[np.ndarray, "curves rows cols"]:
        """The pixels of every curve. Where curves cross, a pixel belongs to all of them."""
        where, far = self._distances
        masks = np.zeros((len(self), *self.pixels.shape), bool)
        if not far.shape[1]:
            return masks
        own = far == far.min(1, keepdims=True)
        # A curve is as wide as most of its own pixels are far from it.
        width = [
            np.quantile(far[own[:, k], k], 0.9) if own[:, k].any() else 0.0
            for k in range(far.shape[1])
        ]
        for curve, mine in zip(self._curves, (own | (far <= width)).T, strict=True):
            masks[curve, *where.T] |= mine
        return masks

    @cached_property
    def end_places(self) -> Float[np.ndarray, "ends 2"]:
        """Row and column of each end; side s of stroke k is end 2 k + s."""
        strokes = self.strokes
        half = strokes.length[:, None] / 2 * strokes.axis
        both = strokes.middle[:, None] + np.stack([-half, half], 1)
        return both.reshape(-1, 2)

    @property
    def widths(self) -> Float[np.ndarray, " chains"]:
        """The mean width of what is seen of each chain, px: its pixels over its strokes' length."""
        _, far = self._distances
        nearest = far.argmin(1) if far.shape[1] else np.zeros(0, np.int64)
        area = np.bincount(nearest, minlength=len(self.chains))
        length = [float(self.strokes.length[chain.strokes].sum()) for chain in self.chains]
        return area / np.maximum(np.array(length), 1.0)

    def stroke_at(self, point: Point, name: str = "the point") -> int:
        """The stroke that a point marks: the end of a curve with its tip nearest, else any.

        Of tips about as near, that of the curve with most strokes.
        """
        at = self._inside(point, name)
        strokes = self.strokes
        if not len(strokes):
            raise self._no_curve(at, name, None)
        if self.part_masks is not None:
            return part_in_disc(strokes, self.part_masks, self._degrees, at)
        far = np.hypot(*(strokes.middle - at).T)
        if far.min() > _NEAR:
            raise self._no_curve(at, name, float(far.min()))
        near = np.flatnonzero(far <= _NEAR)
        sides = self.end_places.reshape(-1, 2, 2)[near]
        tips = np.linalg.norm(sides - at, axis=2)
        used = self._used[near]
        ends = used.sum(1) == 1
        if not ends.any():
            return int(near[far[near].argmin()])
        free = np.where(used, np.inf, tips).min(1)
        free[~ends] = np.inf
        # Two ends at one place: the mark is on the longer curve.
        size = np.bincount(self.group)[self.group[near]]
        size[free > free.min() + _ABREAST] = 0
        return int(near[np.lexsort((free, -size))[0]])

    @cached_property
    def _degrees(self) -> Int[np.ndarray, " strokes"]:
        """How many links of each stroke are ON."""
        return np.bincount(self.links.stroke[self.on].ravel(), minlength=len(self.group))

    @cached_property
    def _used(self) -> Bool[np.ndarray, "strokes 2"]:
        used = np.zeros((len(self.group), 2), bool)
        used[self.links.stroke[self.on], self.links.side[self.on]] = True
        return used


def _dense(line: Float[np.ndarray, "points 2"]) -> Float[np.ndarray, "dense 2"]:
    """Points along a polyline at small equal steps."""
    along = lengths_along(line)
    return points_at(line, np.linspace(0.0, along[-1], int(along[-1] / _STEP) + 2), along)


def part_in_disc(
    parts: Poses,
    masks: Bool[np.ndarray, "types side side"],
    links: Int[np.ndarray, " parts"],
    at: Float[np.ndarray, "2"],
) -> int:
    """Return the part that a disc marks; ``links`` counts the links of each part that are ON.

    Of the parts that cover pixels of the disc, by the number of pixels, the first that has exactly
    one link: an end of a contour. Without one, the nearest part.
    """
    radius = masks.shape[1] // 2
    from_middle = np.linalg.norm(parts.place - at, axis=1)
    near = np.flatnonzero(from_middle <= _MARKER + np.sqrt(2) * radius)
    steps = np.arange(-radius, radius + 1)
    rows = parts.place[near, :1] + steps - at[0]
    cols = parts.place[near, 1:] + steps - at[1]
    inside = rows[:, :, None] ** 2 + cols[:, None] ** 2 <= _MARKER**2
    covered = (inside & masks[parts.type[near]]).sum((1, 2))
    ends = (covered > 0) & (links[near] == 1)
    if ends.any():
        return int(near[np.where(ends, covered, 0).argmax()])
    return int(from_middle.argmin())
