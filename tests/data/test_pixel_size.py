"""How long a pixel is, as files and persons say it."""

import io
from pathlib import Path

import numpy as np
import pytest
import tifffile

from mam.data.pixel_size import PixelSize, parse_pixel_size, read_pixel_size

PICTURE = np.zeros((8, 9), np.uint8)


def written(**known: object) -> bytes:
    out = io.BytesIO()
    tifffile.imwrite(out, PICTURE, **known)
    return out.getvalue()


def ome(across: float, down: float) -> bytes:
    sizes = {"PhysicalSizeX": across, "PhysicalSizeY": down}
    units = {"PhysicalSizeXUnit": "µm", "PhysicalSizeYUnit": "µm"}
    return written(ome=True, metadata={"axes": "YX", **sizes, **units})


def test_microscopes_say_it(tmp_path: Path) -> None:
    path = tmp_path / "a.ome.tif"
    path.write_bytes(ome(0.2, 0.2))
    assert read_pixel_size(path) == read_pixel_size(str(path)) == PixelSize(0.2, "um")
    assert read_pixel_size(ome(0.2, 0.3)) is None  # not square
    imagej = written(imagej=True, resolution=(4, 4), metadata={"unit": "micron"})
    assert read_pixel_size(imagej) == PixelSize(0.25, "um")
    for silent in (written(), b"no picture", PICTURE, "-", "drawing.png"):
        assert read_pixel_size(silent) is None


def test_persons_say_it() -> None:
    assert parse_pixel_size(" 1.5 mm") == PixelSize(1.5, "mm")
    assert parse_pixel_size("2e-1µm") == PixelSize(0.2, "um")
    for wrong in ("0.2", "um", "-1um", "0um", "1..2um"):
        with pytest.raises(ValueError, match="a length and its unit, such as"):
            parse_pixel_size(wrong)
