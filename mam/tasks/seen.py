"""What of a user's picture is looked at, and what of that is ink."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Shaped, UInt8

from mam.data.images import PictureSource, read_picture
from mam.data.pixels import grey, rgb, shown
from mam.vision.curves.answer import Point
from mam.vision.images.ink import Ink, count_pieces, find_ink

_DEEP = 65535  # white in 16 bits
_FEW = 4  # a picture that uses less than one in so many of the values is stretched
_TAIL = 0.001  # share of pixels that may be dead or hot


class Seen(NamedTuple):
    """A picture as it is shown, and its ink."""

    pixels: UInt8[np.ndarray, "rows cols *channels"]
    ink: Ink


def see_ink(
    picture: PictureSource,
    *,
    threshold: float | int | None = None,
    ink: str = "auto",
    box: Sequence[Point] | None = None,
    name: str = "the picture",
    page: int | None = None,
) -> Seen:
    """Read a picture and find its ink, of two corners of a ``box`` only between them."""
    pixels = _stretched(read_picture(picture, name, page))
    pixels = shown(pixels) if pixels.ndim == 2 else _plain(rgb(pixels))
    if box is None:
        return Seen(pixels, find_ink(pixels, threshold, ink, name))
    rows, cols = _spans(box, pixels.shape)
    found = find_ink(pixels[rows, cols], threshold, ink, name)
    mask, contrast = np.zeros(pixels.shape[:2], bool), np.zeros(pixels.shape[:2], np.uint8)
    mask[rows, cols], contrast[rows, cols] = found.mask, found.contrast
    return Seen(pixels, replace(found, mask=mask, contrast=contrast))


def _stretched(pixels: Shaped[np.ndarray, "..."]) -> Shaped[np.ndarray, "..."]:
    """A picture of 16 bits that uses few of them, as cameras with 12 do, over their whole range."""
    if pixels.dtype != np.uint16:
        return pixels
    low, high = np.quantile(pixels, [_TAIL, 1 - _TAIL])
    if high - low > _DEEP / _FEW or high <= low:
        return pixels
    return (np.clip((pixels - low) / (high - low), 0, 1) * _DEEP).astype(np.uint16)


def _plain(pixels: UInt8[np.ndarray, "rows cols 3"]) -> UInt8[np.ndarray, "rows cols *channels"]:
    """One channel where all three are the same."""
    return grey(pixels) if (pixels == pixels[..., :1]).all() else pixels


def _spans(box: Sequence[Point], shape: tuple[int, ...]) -> tuple[slice, slice]:
    corners = np.asarray(box, float)
    low = np.maximum(np.floor(corners.min(0)), 0).astype(int)
    high = np.minimum(np.ceil(corners.max(0)) + 1, shape[:2]).astype(int)
    if (high <= low).any():
        raise ValueError(
            f"the box {_box_text(box)} lies outside the picture of {shape[0]} x {shape[1]} px"
        )
    return slice(low[0], high[0]), slice(low[1], high[1])


def _box_text(box: Sequence[Point]) -> str:
    return " ".join(f"{row:g},{col:g}" for row, col in box)


def refuse_many(mask: Shaped[np.ndarray, "rows cols"], most: int, name: str) -> None:
    """Stop before minutes pass on a picture without lines."""
    pieces = count_pieces(mask)
    if pieces > most:
        raise ValueError(
            f"{name}: {pieces:,} pieces of ink, more than {most:,}: a photograph, or noise? See "
            "--show ink; give --threshold, --ink, --box or a mask of the curves, or a larger --most"
        )
