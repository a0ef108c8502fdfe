"""Take a part that is hardly missed and start it afresh where the others explain badly.

Coordinate ascent keeps two parts that share one shape, and one part that serves two shapes. A
relocation is a proposal: the caller keeps it only where the joint score rises.
"""

import numpy as np
from jaxtyping import Float

from mam.vision.parts.joint import Arrangement, Canvas, joint_score, offers, settle

_SWEEPS = 4  # enough for a new part to find its sites; the accepted ones are settled further


def relocate(canvas: Canvas, found: Arrangement, rng: np.random.Generator) -> Arrangement:
    """Propose one relocation: a cheap victim, and a badly explained patch as its new mask."""
    if not len(found.sites) or len(found.masks) == 1:
        return found
    best = offers(canvas, found).best
    victim = _cheap(found, best, rng)
    patches = canvas.gain[canvas.patches(found.sites)]
    kind = found.sites[:, 1]
    missing = np.maximum(patches, 0.0).sum((1, 2)) - best[np.arange(len(kind)), kind]
    missing = np.where(kind == victim, 0.0, np.maximum(missing, 0.0))
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
    at, kind = np.arange(len(best)), found.sites[:, 1]
    others = best.copy()
    others[at, kind] = 0.0  # the site could also go
    price = np.bincount(kind, best[at, kind] - others.max(1), minlength=len(found.masks))
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
