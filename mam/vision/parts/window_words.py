"""Windows of pixels as words: up to 8 x 8 pixels are one, so that covering them is one AND."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int, Shaped, UInt64

_WORD = 64
LARGEST_SIDE = _WORD  # px of a window: a row of it is in one word


def packed(masks: Bool[np.ndarray, "*batch side side"]) -> UInt64[np.ndarray, "words *batch"]:
    """Masks as words of whole rows."""
    side = masks.shape[-1]
    codes = (masks.astype(np.uint64) << np.arange(side, dtype=np.uint64)).sum(-1, dtype=np.uint64)
    return _words([codes[..., row] for row in range(side)])


def _words(rows: Sequence[UInt64[np.ndarray, "*batch"]]) -> UInt64[np.ndarray, "words *batch"]:
    """Codes of rows, as many in a word as fit."""
    side, each = len(rows), _WORD // len(rows)
    words = []
    for first in range(0, side, each):
        some = rows[first : first + each]
        word = some[0]
        for place, code in enumerate(some[1:], 1):
            word = word | code << np.uint64(place * side)
        words.append(word)
    return np.stack(words)


def windows(
    pixels: Bool[np.ndarray, "rows cols"], places: Int[np.ndarray, " places"], side: int
) -> UInt64[np.ndarray, "words places"]:
    """Pack the windows around some pixels into words."""
    cols, reach = pixels.shape[1], side // 2
    word = next(k for k in (np.uint8, np.uint16, np.uint32, np.uint64) if k(0).itemsize * 8 >= side)
    codes, known = pixels.ravel().astype(word), 1  # bits of this pixel and of those to its right
    while known < side:
        more = min(known, side - known)
        codes[:-more] |= codes[more:] << word(more)
        known += more
    left = places - reach
    rows = [codes.take(left + (row - reach) * cols) for row in range(side)]
    return _words([row.astype(np.uint64) for row in rows])


def counts(
    words: UInt64[np.ndarray, "words spots"], own: UInt64[np.ndarray, "words types"]
) -> Shaped[np.ndarray, "spots types"]:
    """How many pixels of each window every part covers, in the smallest numbers that hold them."""
    each = [np.bitwise_count(a[:, None] & b) for a, b in zip(words, own, strict=True)]
    return each[0] if len(each) == 1 else np.stack(each).sum(0, dtype=np.int16)
