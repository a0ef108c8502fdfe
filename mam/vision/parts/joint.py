r"""The joint score of parts and their placements on training images, and moves that raise it.

.. math::
    F(W, S) = \sum_{y \text{ covered}} g_y + \text{prior} \cdot |S|

with g the gain of a covered pixel (``masks``). Every move changes one side given the
other, and none lowers F.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float, Int
from numpy.lib.stride_tricks import sliding_window_view

from mam.vision.parts.masks import Noise

_SWEEPS = 4  # enough for a new part to find its sites; the accepted ones are settled further
Masks = Bool[np.ndarray, "types side side"]
_LEAST = 1e-6  # a change of the score below this is rounding


@dataclass(frozen=True, eq=False)
class Canvas:
    """Training images in one flat array; around them pixels that do not exist."""

    gain: Float[np.ndarray, " pixels"]  # of covering a pixel, 0 where there is none
    size: tuple[int, int]  # of one image with its rim
    rim: int  # px
    support: Bool[np.ndarray, "side side"]  # the pixels of a patch that a part may have
    prior: float  # of a placement

    @property
    def side(self) -> int:
        """Of a patch, px."""
        return len(self.support)

    @classmethod
    def of(
        cls, images: Sequence[np.ndarray], noise: Noise, support: Bool[np.ndarray, "side side"]
    ) -> "Canvas":
        """Lay out images of any sizes."""
        rim = 2 * len(support)  # a patch that overhangs, and the surroundings of it
        size = tuple(max(image.shape[axis] for image in images) + 2 * rim for axis in (0, 1))
        gain = np.zeros((len(images), *size))
        for number, image in enumerate(images):
            inner = gain[number, rim : rim + image.shape[0], rim : rim + image.shape[1]]
            inner[:] = np.where(image, noise.gain, -noise.loss)
        return cls(gain.ravel(), (size[0], size[1]), rim, support, noise.prior)

    def patches(self, sites: np.ndarray, reach: int = 0) -> Int[np.ndarray, "sites height width"]:
        """Return the pixels of the patch at each site, and ``reach`` px around it."""
        half = self.side // 2 + reach
        image, _, row, col = sites.T
        corner = (image * self.size[0] + row + self.rim - half) * self.size[1]
        corner = corner + col + self.rim - half
        span = np.arange(2 * half + 1)
        return corner[:, None, None] + span[:, None] * self.size[1] + span


@dataclass(frozen=True, eq=False)
class Arrangement:
    """Part masks and where they are placed: columns image, type, row, col (of the middle)."""

    masks: Masks
    sites: Int[np.ndarray, "sites 4"]

    @property
    def usage(self) -> Int[np.ndarray, " types"]:
        """The number of placements of each type."""
        return np.bincount(self.sites[:, 1], minlength=len(self.masks))


def covered(canvas: Canvas, found: Arrangement) -> Int[np.ndarray, " covered"]:
    """Return the covered pixels, once for every placement that covers them."""
    return canvas.patches(found.sites)[found.masks[found.sites[:, 1]]]


def joint_score(canvas: Canvas, found: Arrangement) -> float:
    """Return F."""
    pixels = np.unique(covered(canvas, found))
    return float(canvas.gain[pixels].sum() + canvas.prior * len(found.sites))


def image_scores(canvas: Canvas, found: Arrangement) -> Float[np.ndarray, " images"]:
    """Return the share of every image in F."""
    per_image = canvas.size[0] * canvas.size[1]
    count = len(canvas.gain) // per_image
    pixels = np.unique(covered(canvas, found))
    gains = np.bincount(pixels // per_image, canvas.gain[pixels], count)
    return gains + canvas.prior * np.bincount(found.sites[:, 0], minlength=count)


def reweigh(canvas: Canvas, found: Arrangement) -> Arrangement:
    """Toggle single weights while that raises F; parts that lose all pixels lose their sites."""
    masks = found.masks.reshape(len(found.masks), -1).copy()
    count = np.bincount(covered(canvas, found), minlength=len(canvas.gain))
    patches = canvas.patches(found.sites).reshape(len(found.sites), -1)
    mine = [patches[found.sites[:, 1] == type_] for type_ in range(len(masks))]
    free = np.flatnonzero(canvas.support)
    changed = True
    while changed:
        changed = False
        for type_, pixels in enumerate(mine):
            for at in free if len(pixels) else ():
                here, lit = pixels[:, at], masks[type_, at]
                alone = canvas.gain[here[count[here] == lit]].sum()
                if (-alone if lit else alone) > _LEAST:
                    masks[type_, at] = not lit
                    count[here] += -1 if lit else 1
                    changed = True
    sites = found.sites[masks[found.sites[:, 1]].any(1)]
    return Arrangement(masks.reshape(found.masks.shape), sites)


@dataclass(frozen=True, eq=False)
class Offers:
    """What each type could contribute near every site, all other sites staying as they are."""

    score: Float[np.ndarray, "sites shifts types"]
    reach: int  # px around the site

    @property
    def best(self) -> Float[np.ndarray, "sites types"]:
        """The best shift of every type."""
        return self.score.max(1)


def offers(canvas: Canvas, found: Arrangement, reach: int = 2) -> Offers:
    """Score every type and shift at every site on the pixels that no other site covers."""
    count = np.bincount(covered(canvas, found), minlength=len(canvas.gain))
    around = canvas.patches(found.sites, reach)
    own = np.pad(found.masks, ((0, 0), (reach, reach), (reach, reach)))[found.sites[:, 1]]
    free = np.where(count[around] == own, canvas.gain[around], 0.0).astype(np.float32)
    views = sliding_window_view(free, (canvas.side, canvas.side), (1, 2))
    flat = views.reshape(len(free), (2 * reach + 1) ** 2, canvas.side**2)
    weights = found.masks.reshape(len(found.masks), -1).astype(np.float32)
    return Offers(flat @ weights.T, reach)


def reassign(canvas: Canvas, found: Arrangement) -> Arrangement:
    """Give every site its best type and shift, all at once; undone where that lowers F."""
    if not len(found.sites):
        return found
    seen = offers(canvas, found)
    best = seen.score.reshape(len(found.sites), -1).argmax(1)
    value = seen.score.reshape(len(found.sites), -1).max(1)
    shift, type_ = np.divmod(best, len(found.masks))
    row, col = np.divmod(shift, 2 * seen.reach + 1)
    sites = np.stack(
        [
            found.sites[:, 0],
            type_,
            found.sites[:, 2] + row - seen.reach,
            found.sites[:, 3] + col - seen.reach,
        ],
        1,
    )
    moved = replace(found, sites=np.unique(sites[value + canvas.prior > 0], axis=0))
    return moved if joint_score(canvas, moved) > joint_score(canvas, found) + _LEAST else found


def settle(canvas: Canvas, found: Arrangement, sweeps: int) -> Arrangement:
    """Alternate :func:`reassign` and :func:`reweigh` until F stays, or for so many sweeps."""
    score = joint_score(canvas, found)
    for _ in range(sweeps):
        found = reweigh(canvas, reassign(canvas, found))
        last, score = score, joint_score(canvas, found)
        if score <= last + _LEAST:
            break
    return found


def recentre(found: Arrangement) -> Arrangement:
    """Move every mask to the middle of its patch and its sites the other way; F stays."""
    masks, sites = found.masks.copy(), found.sites.copy()
    for type_, mask in enumerate(found.masks):
        if not mask.any():
            continue
        shift = [_to_middle(mask.any(1 - axis)) for axis in (0, 1)]
        masks[type_] = np.roll(mask, shift, (0, 1))
        sites[sites[:, 1] == type_, 2:] -= shift
    return Arrangement(masks, sites)


def _to_middle(used: Bool[np.ndarray, " side"]) -> int:
    """Return by how much the middle of the used lines is to move, rounded to a whole pixel."""
    first, last = np.flatnonzero(used)[[0, -1]]
    return int((len(used) - 1 - first - last) // 2)


def relocate(canvas: Canvas, found: Arrangement, rng: np.random.Generator) -> Arrangement:
    """Propose one relocation: a cheap victim, and a badly explained patch as its new mask.

    Coordinate ascent keeps two parts that share one shape, and one part that serves two shapes.
    """
    if not len(found.sites) or len(found.masks) == 1:
        return found
    best = offers(canvas, found).best
    victim = _cheap(found, best, rng)
    patches = canvas.gain[canvas.patches(found.sites)]
    type_ = found.sites[:, 1]
    missing = np.maximum(patches, 0.0).sum((1, 2)) - best[np.arange(len(type_)), type_]
    missing = np.where(type_ == victim, 0.0, np.maximum(missing, 0.0))
    if not missing.sum() > 0:
        return found
    site = rng.choice(len(missing), p=missing / missing.sum())
    masks, sites = found.masks.copy(), found.sites.copy()
    masks[victim] = (patches[site] > 0) & canvas.support
    sites[site, 1] = victim
    return settle(canvas, Arrangement(masks, sites), _SWEEPS)


def _cheap(
    found: Arrangement, best: Float[np.ndarray, "sites types"], rng: np.random.Generator
) -> int:
    """Draw a part, one that the others could replace at the lowest price most often.

    An unused part costs nothing and the copy of another one hardly anything.
    """
    at, type_ = np.arange(len(best)), found.sites[:, 1]
    others = best.copy()
    others[at, type_] = 0.0  # the site could also go
    price = np.bincount(type_, best[at, type_] - others.max(1), minlength=len(found.masks))
    rank = min(int(rng.geometric(0.5)) - 1, len(price) - 1)
    return int(np.argsort(price, kind="stable")[rank])


def relocate_many(
    canvas: Canvas, found: Arrangement, proposals: int, rng: np.random.Generator
) -> tuple[Arrangement, int]:
    """Make proposals, keep those that raise the joint score, and count them."""
    score, kept = joint_score(canvas, found), 0
    for _ in range(proposals):
        proposed = relocate(canvas, found, rng)
        if (reached := joint_score(canvas, proposed)) > score:
            found, score, kept = proposed, reached, kept + 1
    return found, kept
