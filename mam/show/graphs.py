"""Matched elastic graphs over the image they were found in."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageDraw

from mam.show.sheet import Picture, colour_labels
from mam.vision.elastic.letters.finder import Match

_SCALE = 3  # px of the picture a px of the image
_DIM = 3  # the image is darkened by this, so that graphs stand out
_DOT = 4  # px of the picture, radius of a vertex


def draw_matches(image: UInt8[np.ndarray, "rows cols"], matches: Sequence[Match]) -> Picture:
    """Draw every match in its own colour: edges as lines, vertices as dots.

    >>> draw_matches(np.zeros((5, 8), np.uint8), []).shape
    (15, 24, 3)
    """
    large = np.kron(image // _DIM, np.ones((_SCALE, _SCALE), np.uint8))
    picture = Image.fromarray(np.repeat(large[..., None], 3, axis=2))
    pen = ImageDraw.Draw(picture)
    for number, match in enumerate(matches, 1):
        colour = tuple(int(c) for c in colour_labels(np.full((1, 1), number, np.uint8))[0, 0])
        places = (match.vertices[:, ::-1] * _SCALE + _SCALE // 2).tolist()
        for u, v in match.edges.tolist():
            pen.line([*places[u], *places[v]], fill=colour, width=1)
        for x, y in places:
            pen.ellipse([x - _DOT, y - _DOT, x + _DOT, y + _DOT], outline=colour)
    return np.asarray(picture)
