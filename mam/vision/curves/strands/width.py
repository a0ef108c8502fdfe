"""How thick drawn curves are, and what of a mask is noise.

Everything that follows measures lengths in widths of the curve at hand, so that a drawing, a
photograph and its enlargement are grouped alike. Curves much thicker than skeletons need are
reduced first.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy import ndimage
from skimage.morphology import skeletonize

from mam.vision.images.thin_masks import box_of, depths, pinholes, ridges

_EIGHT = np.ones((3, 3), bool)
_SPECK = 4  # px: foreground that is noise
_THIN = 10  # percent of ridges that count as thin curves
_ENOUGH = 16.0  # px of width: thicker curves are reduced by whole factors, at no loss of shape


@dataclass(frozen=True, eq=False)
class Relief:
    """A cleaned mask with the radius of the disc around each pixel that fits in; 0 is OFF."""

    radius: Float[np.ndarray, "rows cols"]  # in pixels of the mask
    skeleton: Bool[np.ndarray, "rows cols"]
    scale: int  # pixels of the mask per pixel of this relief

    def radius_at(self, points: Float[np.ndarray, "*batch 2"]) -> Float[np.ndarray, "*batch"]:
        """Return the radius at places given in pixels of the mask."""
        places = np.rint((points - (self.scale - 1) / 2) / self.scale).astype(int)
        rows, cols = np.moveaxis(np.clip(places, 0, np.array(self.radius.shape) - 1), -1, 0)
        return self.radius[rows, cols]


def clean(mask: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """Fill pinholes and drop specks; breaks that cut a curve stay.

    >>> mask = np.zeros((9, 9), bool)
    >>> mask[2:7, 2:7] = True
    >>> mask[4, 4], mask[0, 8] = False, True
    >>> int(clean(mask).sum())
    25
    """
    # A hole of one or two pixels is noise, or a dot of a dotted break.
    filled = mask | pinholes(mask)
    label = np.zeros(mask.shape, np.int32)
    ndimage.label(filled, _EIGHT, output=label)
    own = label[filled]
    small = np.bincount(own) <= _SPECK
    if small[1:].any():
        filled[filled] = ~small[own]
    return filled


def relief(mask: Bool[np.ndarray, "rows cols"]) -> Relief:
    """Clean a mask, reduce it where curves are thick, and measure it.

    >>> mask = np.zeros((20, 40), bool)
    >>> mask[8:13, 5:35] = True
    >>> relief(mask).radius_at(np.array([[10.0, 20.0]])).tolist()
    [2.5]
    """
    ready = clean(mask)
    radius = _radii(ready)
    scale = int(2 * _low(radius) // _ENOUGH)
    if scale > 1:
        ready = _reduced(ready, scale)
        radius = scale * _radii(ready)
    return Relief(radius, skeleton_of(ready), max(scale, 1))


def skeleton_of(mask: Bool[np.ndarray, "rows cols"]) -> Bool[np.ndarray, "rows cols"]:
    """Thin curves to lines of single pixels.

    >>> mask = np.zeros((20, 40), bool)
    >>> mask[8:13, 5:35] = True
    >>> int(skeleton_of(mask)[:, 20].argmax()), int(skeleton_of(mask)[:, 20].sum())
    (10, 1)
    """
    found, inner = np.zeros(mask.shape, bool), box_of(mask)
    # Padding, since thinning leaves the picture's edge alone.
    found[inner] = skeletonize(np.pad(mask[inner], 1))[1:-1, 1:-1]
    return found


def _radii(mask: Bool[np.ndarray, "rows cols"]) -> Float[np.ndarray, "rows cols"]:
    # The picture's edge counts as OFF. The distance is to the centre of the nearest OFF pixel,
    # half a pixel beyond the border.
    radius = depths(mask)
    radius -= 0.5
    return np.maximum(radius, 0.0, out=radius)


def _low(radius: Float[np.ndarray, "rows cols"]) -> float:
    """The radius of thin curves, on ridges only: ragged borders have none."""
    ridge = radius[ridges(radius)]
    return float(np.percentile(ridge, _THIN)) if len(ridge) else 0.0


def _reduced(mask: Bool[np.ndarray, "rows cols"], scale: int) -> Bool[np.ndarray, "_ _"]:
    """ON where half of a block of scale x scale pixels is."""
    rows, cols = (-(-side // scale) for side in mask.shape)
    wide = np.pad(mask, ((0, rows * scale - mask.shape[0]), (0, cols * scale - mask.shape[1])))
    return wide.reshape(rows, scale, cols, scale).mean((1, 3)) >= 0.5
