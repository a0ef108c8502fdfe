"""How long a pixel is: as a person says it, or as a microscope wrote it into a TIFF."""

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from PIL import Image, TiffImagePlugin

from mam.core.words import STANDARD_INPUT
from mam.data.images import PictureSource

_SQUARE = 0.01  # sides of a pixel that differ by less are equal
_ASKED = re.compile(r"\s*([0-9.]+(?:[eE][-+]?\d+)?)\s*([a-zA-Zµμ]+)\s*")


class PixelSize(NamedTuple):
    """The side of a pixel."""

    length: float
    unit: str  # um, mm, ...


def parse_pixel_size(text: str) -> PixelSize:
    """A length with a unit.

    >>> parse_pixel_size("0.2um")
    PixelSize(length=0.2, unit='um')
    """
    found = _ASKED.fullmatch(text)
    with contextlib.suppress(ValueError):
        if found is not None and 0 < float(found[1]) < float("inf"):
            return PixelSize(float(found[1]), _plain(found[2]))
    raise ValueError(f"--pixel-size {text!r}: give a length and its unit, such as 0.2um or 1.5mm")


def read_pixel_size(source: PictureSource) -> PixelSize | None:
    """What a TIFF of OME or ImageJ says; None where nothing is said, or pixels are not square."""
    if isinstance(source, str | Path) and str(source) != STANDARD_INPUT:
        if Path(source).suffix.lower() not in (".tif", ".tiff"):
            return None
        source = Path(source).read_bytes()
    if not isinstance(source, bytes):
        return None
    with contextlib.suppress(Exception), Image.open(io.BytesIO(source), formats=["TIFF"]) as file:
        text = str(file.tag_v2.get(TiffImagePlugin.IMAGEDESCRIPTION, ""))  # type: ignore[attr-defined]
        text = text.encode("latin-1").decode()  # as Pillow reads what OME wrote as UTF-8
        return _of_ome(text) if "<OME" in text else _of_imagej(text, file)
    return None


def _of_ome(text: str) -> PixelSize | None:
    root = ElementTree.fromstring(text.strip("\0 \n"))
    pixels = next(one for one in root.iter() if one.tag.endswith("Pixels"))
    across, down = (float(pixels.attrib[f"PhysicalSize{axis}"]) for axis in "XY")
    return _square(across, down, pixels.attrib.get("PhysicalSizeXUnit", "um"))


def _of_imagej(text: str, file: Image.Image) -> PixelSize | None:
    unit = re.search(r"^unit=(\S+)", text.replace("\\u00B5", "u"), re.MULTILINE)
    if not text.startswith("ImageJ") or unit is None or unit[1] in ("pixel", "inch"):
        return None
    across, down = (1 / float(file.tag_v2[tag]) for tag in (282, 283))  # type: ignore[attr-defined]
    return _square(across, down, "um" if unit[1] == "micron" else unit[1])


def _square(across: float, down: float, unit: str) -> PixelSize | None:
    square = across > 0 and abs(across - down) <= _SQUARE * across
    return PixelSize(across, _plain(unit)) if square else None


def _plain(unit: str) -> str:
    return unit.replace("µ", "u").replace("μ", "u")
