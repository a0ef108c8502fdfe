"""Capital letters as strokes: Hershey's single-stroke faces, or any outline font, thinned.

A face maps each letter A-Z to polylines of (row, col) with capital height 1 and the middle of the
letter's bounding box at (0, 0).
"""

import functools
import string
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float
from PIL import Image, ImageDraw, ImageFont

from mam.data.generate.thinning import thin_to_strokes

Polyline = Float[np.ndarray, "_ 2"]
Face = Mapping[str, tuple[Polyline, ...]]

LETTERS = string.ascii_uppercase
HERSHEY_FACES = ("futural", "timesr")
# Hershey's roman simplex draws each stem once; the others draw stems as two lines and are thinned.
_SINGLE = frozenset({"futural", "rowmans"})
_THIN_HEIGHT = 150  # px, height at which a face is drawn before thinning
_MOST_HEIGHTS = 10  # a letter may be as wide or as high; no font in use has larger ones
_UNIT_PEN = 2.2  # Hershey units: closes the gap between the two lines of a stem


def _normalise(glyphs: dict[str, list[Polyline]]) -> Face:
    """Capital height 1, every letter centred on its own bounding box."""
    heights = [np.ptp(np.concatenate(lines)[:, 0]) for lines in glyphs.values()]
    height = float(np.median(heights))
    face = {}
    for letter, lines in glyphs.items():
        points = np.concatenate(lines)
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        face[letter] = tuple((line - middle) / height for line in lines)
    return face


@functools.lru_cache(maxsize=16)
def hershey_face(name: str) -> Face:
    """One of the Hershey faces.

    >>> face = hershey_face("futural")
    >>> len(face), len(face["A"])
    (26, 3)
    """
    from HersheyFonts import HersheyFonts  # only letters need it

    source = HersheyFonts()
    if name not in source.default_font_names:
        known = ", ".join(sorted(source.default_font_names))
        raise ValueError(f"{name}: no such Hershey face; known are {known}")
    source.load_default_font(name)
    glyphs = {}
    for letter in LETTERS:
        lines = [
            np.array(list(line), dtype=float)[:, ::-1] for line in source.strokes_for_text(letter)
        ]
        glyphs[letter] = lines if name in _SINGLE else thin_to_strokes(_inked(lines))
    return _normalise(glyphs)


def _inked(lines: list[Polyline]) -> Bool[np.ndarray, "rows cols"]:
    """Draw a letter with a pen wide enough to join the two lines of a stem."""
    points = np.concatenate(lines)
    unit = _THIN_HEIGHT / np.ptp(points[:, 0])
    corner = points.min(axis=0) - 2 * _UNIT_PEN
    size = np.ceil((points.max(axis=0) + 2 * _UNIT_PEN - corner) * unit).astype(int)
    canvas = Image.new("L", (int(size[1]), int(size[0])))
    pen = ImageDraw.Draw(canvas)
    for line in lines:
        path = ((line - corner) * unit)[:, ::-1]
        pen.line(path.ravel().tolist(), fill=1, width=round(_UNIT_PEN * unit), joint="curve")
    return np.asarray(canvas) > 0


@functools.lru_cache(maxsize=16)
def outline_face(path: Path) -> Face:
    """A TrueType or OpenType font, its outlines thinned to strokes."""
    try:
        font = ImageFont.truetype(str(path), size=_THIN_HEIGHT * 4 // 3)
        # What the font draws for a code point that no font may define.
        missing = _glyph(font, "\U0010ffff")
        drawn = {letter: _glyph(font, letter) for letter in LETTERS}
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not a readable TrueType or OpenType font ({error})") from None
    for letter, one in drawn.items():
        if not one.any() or np.array_equal(one, missing):
            raise ValueError(f"{path}: the font has no letter {letter!r}; A to Z are needed")
    return _normalise({letter: thin_to_strokes(one) for letter, one in drawn.items()})


def _glyph(font: ImageFont.FreeTypeFont, letter: str) -> Bool[np.ndarray, "rows cols"]:
    left, top, right, bottom = font.getbbox(letter)
    size = int(right - left) + 8, int(bottom - top) + 8
    if max(size) > _MOST_HEIGHTS * _THIN_HEIGHT:
        raise ValueError(f"{letter!r} would be drawn in {size[0]} x {size[1]} px")
    canvas = Image.new("L", size)
    ImageDraw.Draw(canvas).text((4 - left, 4 - top), letter, fill=255, font=font)
    return np.asarray(canvas) > 127


@functools.lru_cache(maxsize=4)
def load_faces(fonts: tuple[str, ...]) -> tuple[Face, ...]:
    """The faces to choose from: the given font files, or the Hershey faces when there are none.

    >>> len(load_faces(()))
    2
    """
    if fonts:
        return tuple(outline_face(Path(font)) for font in fonts)
    return tuple(hershey_face(name) for name in HERSHEY_FACES)
