r"""Ink with rough borders: noise, a dry pen, a bad scan.

The skeleton of rough ink has a spur at every bump of its border, and every spur looks like a
branch. With :math:`s` spurs, ink of width :math:`w` and a skeleton of length :math:`l`, ink is
rough where :math:`s w / l` is large. It is then smoothed for the sake of its skeleton: a Gaussian
of deviation :math:`\sigma`, and half of the height that a line of width w has after it,

.. math:: m * g_\sigma > \tfrac{1}{2} \, \operatorname{erf} \frac{w}{2 \sqrt{2} \sigma},

with the least :math:`\sigma` that takes the spurs away. Those of sharp corners stay whatever is
done, and ink with no others is left as it is. Pixels stay those of the mask.
"""

import numpy as np
from jaxtyping import Bool
from scipy import ndimage
from scipy.spatial import KDTree
from scipy.special import erf

from mam.vision.curves.strands.skeleton_paths import branching
from mam.vision.curves.strands.width import Relief, relief
from mam.vision.images.thin_masks import box_of, places

_ROUGH = 0.012  # spurs in a length of one width
_FEW = 3  # spurs that a smooth picture may have
_MOSTLY = 0.4  # of all tips that are spurs of rough ink, at least
_THICK = 10.0  # px of width: bumps of thicker curves are small beside the discs of their nodes
_SPUR = 2.0  # px beyond the width that a spur reaches
_BLUR = (0.6, 0.9, 1.3)  # widths, deviations to try
_FEWER = 0.3  # of the spurs that may be left
_BLUR_LEAST = 2.2  # px
_REACH = 4.0  # deviations: as far as a Gaussian reaches


def smooth_relief(mask: Bool[np.ndarray, "rows cols"]) -> Relief:
    """Measure a mask, smoothed where its borders are rough.

    >>> rng = np.random.default_rng(0)
    >>> mask = np.zeros((60, 400), bool)
    >>> for col in range(10, 390):
    ...     mask[30 + rng.integers(-3, 1) : 33 + rng.integers(0, 4), col] = True
    >>> [int(branching(one(mask).skeleton).sum()) > 50 for one in (relief, smooth_relief)]
    [True, False]
    """
    ground = relief(mask)
    count, tips, width, length = spurs_of(ground)
    # Dashes that cross have tips next to branchings, and many more elsewhere.
    if count < _MOSTLY * tips or not _is_rough(count, width, length):
        return ground
    for share in _BLUR:
        smooth = relief(_blurred(mask, max(share * width, _BLUR_LEAST), width))
        left = spurs_of(smooth)[0]
        if not _is_rough(left, width, length):
            return smooth
    return smooth if left < _FEWER * count else ground


def _is_rough(count: int, width: float, length: float) -> bool:
    return count > _FEW and count * width > _ROUGH * length


def spurs_of(ground: Relief) -> tuple[int, int, float, float]:
    """How many tips of the skeleton lie next to a branching, how many tips there are; the mean
    width and the length of the ink, px.
    """
    skeleton = ground.skeleton
    length = float(ground.scale * skeleton.sum())
    ink = float(ground.scale**2 * (ground.radius > 0).sum())
    width = ink / max(length, 1.0)
    if width > _THICK:
        return 0, 0, width, length
    inner = box_of(skeleton)
    thin = np.pad(skeleton[inner], 1)
    branches = branching(thin)
    if not branches.any():
        return 0, 0, width, length
    at, side = np.flatnonzero(thin), thin.shape[1]
    around = (np.arange(-1, 2)[:, None] * side + np.arange(-1, 2)).ravel()
    tips = at[thin.ravel()[at[:, None] + around].sum(1) == 2]
    if len(tips) <= _FEW:
        return 0, len(tips), width, length
    reach = (width + _SPUR) / ground.scale
    far = KDTree(places(branches)).query(np.stack(np.divmod(tips, side), 1), p=np.inf)[0]
    return int((far <= reach).sum()), len(tips), width, length


def _blurred(
    mask: Bool[np.ndarray, "rows cols"], sigma: float, width: float
) -> Bool[np.ndarray, "rows cols"]:
    found, inner = np.zeros(mask.shape, bool), box_of(mask)
    rim = int(_REACH * sigma)
    rows, cols = (slice(max(one.start - rim, 0), one.stop + rim) for one in inner)
    soft = ndimage.gaussian_filter(mask[rows, cols].astype(np.float32), sigma, mode="constant")
    found[rows, cols] = soft > erf(width / (2 * 2**0.5 * sigma)) / 2
    return found
