r"""What strands look like in the picture of a mask: evidence for which of them are one curve.

The colour of a strand says in which direction its points differ from the ground and, with less
weight, how far: the edges of thin lines are printed paler than they are. A point has the colour of
the nearest pixel within 2 px that stands out. The *solidity* of a strand is the share of points
that stand out at all, which tells dashed and dotted lines from whole ones. A pair of strands with
colours :math:`a, b` has the terms

.. math::
    \log\Bigl(1 + \frac{|a - b|^2}{\sigma^2}\Bigr), \quad
    k \exp\Bigl(-\frac{|a - b|^2}{2 \sigma^2}\Bigr), \quad
    |s_a - s_b|, \quad k

where :math:`k` is the contrast of the picture, how much its strands differ, from 0 to 1: where all
look alike nothing is learned from their look.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, Num

from mam.vision.curves.strands.strands import Strands

SeenPicture = Num[np.ndarray, "rows cols *channels"]

LOOKS = ("hue", "same hue", "solidity", "contrast")
_SIGMA = 25.0  # of 255: how much colours differ along one line
STANDS_OUT = 40.0  # of 255, from the ground
_CLEAR = 60.0  # of 255: a pixel that differs so much from the ground is a line's
_DARKNESS = 0.3  # what counts of how far a colour is from the ground: edges of lines are paler
_REACH = 2  # px around a point in which its line may be printed
_NEAR = 9  # places around a point, of these, that are next to it
_AROUND = np.array(
    sorted(
        ((row, col) for row in range(-_REACH, _REACH + 1) for col in range(-_REACH, _REACH + 1)),
        key=lambda step: step[0] ** 2 + step[1] ** 2,
    )
)
_CONTRAST = 60.0  # of 255: strands that differ so much have all the contrast there is


@dataclass(frozen=True, eq=False)
class Looks:
    """What each strand looks like."""

    colour: Float[np.ndarray, "strands hues"]  # the direction, of length 255, then the distance
    solid: Float[np.ndarray, " strands"]  # share of its points that stand out
    contrast: float  # of the picture, 0 to 1


def find_looks(strands: Strands, image: SeenPicture) -> Looks:
    """Look at strands in a picture.

    >>> from mam.vision.curves.strands.strands import find_strands
    >>> from mam.vision.curves.strands.width import relief
    >>> image = np.full((60, 60, 3), 255)
    >>> image[10:13, 5:55], image[40:43, 5:55] = (255, 0, 0), (0, 0, 255)
    >>> looks = find_looks(find_strands(relief(image.min(2) < 128)), image)
    >>> looks.colour.astype(int).tolist(), looks.contrast
    ([[0, 180, 180, 108], [180, 180, 0, 108]], 1.0)
    """
    at = np.rint(strands.points).astype(int)
    ink, out, _ = colours_around(at, image)
    # The nearest pixel that stands out: one farther away may be of another line.
    clear = out > _CLEAR
    which = np.where(clear.any(1), clear.argmax(1), out.argmax(1))
    ink, out = ink[np.arange(len(at)), which], out[np.arange(len(at)), which]
    count = np.maximum(np.bincount(strands.strand, minlength=len(strands)), 1)
    near = out * (which < _NEAR)
    solid = np.bincount(strands.strand, near > STANDS_OUT, len(strands)) / count
    colour = _colours(ink, out, strands)
    return Looks(colour, solid, _contrast(colour, strands.length))


def colours_around(
    places: Int[np.ndarray, "places 2"], image: SeenPicture
) -> tuple[
    Float[np.ndarray, "places near channels"],
    Float[np.ndarray, "places near"],
    Float[np.ndarray, " near"],
]:
    """How the pixels around places differ from the ground, nearest first: by channels, in all, and
    how far away they are.
    """
    pixels = np.asarray(image, float).reshape(*image.shape[:2], -1)
    ground = np.median(pixels.reshape(-1, pixels.shape[-1])[::7], axis=0)
    around = np.clip(places[:, None] + _AROUND, 0, np.array(pixels.shape[:2]) - 1)
    ink = ground - pixels[around[..., 0], around[..., 1]]
    return ink, np.linalg.norm(ink, axis=2), np.linalg.norm(_AROUND, axis=1)


def hues_of(ink: Float[np.ndarray, "*places channels"]) -> Float[np.ndarray, "*places hues"]:
    """The direction of a difference, of length 255, and its length, which counts less."""
    far = np.linalg.norm(ink, axis=-1, keepdims=True)
    return np.concatenate([255 * ink / np.maximum(far, 1.0), _DARKNESS * far], -1)


def _colours(
    ink: Float[np.ndarray, "points channels"],
    out: Float[np.ndarray, " points"],
    strands: Strands,
) -> Float[np.ndarray, "strands hues"]:
    """The mean direction in which strands differ from the ground, and how far: thin lines are
    printed paler than they are, but in the same direction.
    """
    weight = np.where(out > STANDS_OUT, out, 0.0) + 1e-6
    total = np.bincount(strands.strand, weight, len(strands))
    mean = [np.bincount(strands.strand, weight * one, len(strands)) / total for one in ink.T]
    return hues_of(np.stack(mean, 1))


def _contrast(
    colour: Float[np.ndarray, "strands hues"], length: Float[np.ndarray, " strands"]
) -> float:
    """The mean distance of colours from their mean, by length, on a scale from 0 to 1."""
    if not len(colour):
        return 0.0
    weight = length / max(length.sum(), 1e-9)
    far = np.linalg.norm(colour - weight @ colour, axis=1)
    return float(np.clip(weight @ far / _CONTRAST, 0.0, 1.0))


def alike(
    looks: Looks, first: Int[np.ndarray, "..."], second: Int[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """How alike the colours of strands are, 0 to 1."""
    far = ((looks.colour[first] - looks.colour[second]) ** 2).sum(-1) / _SIGMA**2
    return np.exp(-far / 2)


def look_terms(
    looks: Looks, first: Int[np.ndarray, " pairs"], second: Int[np.ndarray, " pairs"]
) -> Float[np.ndarray, "pairs terms"]:
    """What the look of two strands says about their being one curve, in the order of ``LOOKS``."""
    far = ((looks.colour[first] - looks.colour[second]) ** 2).sum(1) / _SIGMA**2
    columns = [
        np.log1p(far),
        looks.contrast * np.exp(-far / 2),
        np.abs(looks.solid[first] - looks.solid[second]),
        np.full(len(first), looks.contrast),
    ]
    return np.stack(columns, 1)
