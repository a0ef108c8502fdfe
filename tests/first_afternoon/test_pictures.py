"""One reader for all pictures: sixty kinds of files, and what else a user has in hand."""

import io
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import mam
from mam.data import grey, read_picture
from mam.data.pixels import rgb
from mam.tasks.drawing import group_drawing

# A dark line and a short one on bright paper; lossy formats keep it to within some values.
DRAWN = np.full((48, 64), 240, np.uint8)
DRAWN[20:24, 6:58] = 20
DRAWN[34:38, 10:30] = 20
NEAR = 14
ORIENTATION = 0x0112

MODES = {
    "PNG": ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"],
    "JPEG": ["L", "RGB", "CMYK"],
    "TIFF": ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16"],
    "WEBP": ["L", "RGB", "RGBA"],
    "BMP": ["1", "L", "P", "RGB"],
    "GIF": ["1", "L", "P", "RGB"],
    "PPM": ["1", "L", "RGB"],
}
PACKED = {"TIFF": ["tiff_lzw", "tiff_deflate", "packbits", "tiff_adobe_deflate"]}
ARRAYS = ["bool", "uint8", "uint16", "int64", "float32", "float64"]


def in_mode(mode: str) -> Image.Image:
    if mode == "I;16":
        return Image.fromarray(DRAWN.astype(np.uint16) * 257)
    return Image.fromarray(DRAWN).convert(mode, dither=Image.Dither.NONE)


def saved(picture: Image.Image, kind: str, **options: object) -> bytes:
    out = io.BytesIO()
    picture.save(out, kind, **({"quality": 98} if kind == "JPEG" else {}), **options)
    return out.getvalue()


def turned(orientation: int) -> Image.Image:
    """The picture as a camera that was held so stores it."""
    undo = {
        1: [],
        2: [Image.Transpose.FLIP_LEFT_RIGHT],
        3: [Image.Transpose.ROTATE_180],
        4: [Image.Transpose.FLIP_TOP_BOTTOM],
        5: [Image.Transpose.TRANSPOSE],
        6: [Image.Transpose.ROTATE_90],
        7: [Image.Transpose.TRANSVERSE],
        8: [Image.Transpose.ROTATE_270],
    }
    picture = Image.fromarray(DRAWN)
    for one in undo[orientation]:
        picture = picture.transpose(one)
    return picture


def as_array(dtype: str) -> np.ndarray:
    if dtype == "bool":
        return DRAWN < 100
    if dtype.startswith("float"):
        return (DRAWN / 255).astype(dtype)
    return DRAWN.astype(dtype) * (257 if dtype == "uint16" else 1)


def kinds() -> dict[str, bytes]:
    """Files by what is special about them."""
    files = {
        f"{kind} {mode}": saved(in_mode(mode), kind)
        for kind, modes in MODES.items()
        for mode in modes
    }
    for name in PACKED["TIFF"]:
        files[f"TIFF {name}"] = saved(in_mode("L"), "TIFF", compression=name)
    for kind, orientation in product(["JPEG", "PNG"], range(1, 9)):
        exif = Image.Exif()
        exif[ORIENTATION] = orientation
        files[f"{kind} turned {orientation}"] = saved(turned(orientation), kind, exif=exif)
    for dtype in ARRAYS:
        out = io.BytesIO()
        np.save(out, as_array(dtype))
        files[f"npy {dtype}"] = out.getvalue()
    files["JPEG progressive"] = saved(in_mode("RGB"), "JPEG", progressive=True)
    files["PNG without a palette entry"] = saved(in_mode("P"), "PNG", transparency=0, bits=8)
    files["WEBP lossless"] = saved(in_mode("RGB"), "WEBP", lossless=True)
    return files


KINDS = kinds()


def test_there_are_sixty() -> None:
    assert len(KINDS) >= 60


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_file_shows_the_same(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(KINDS[kind])
    for source in (str(path), path, KINDS[kind]):
        found = grey(read_picture(source)).astype(int)
        assert found.shape == DRAWN.shape
        if kind == "npy bool":
            assert np.array_equal(found > 0, DRAWN < 100)
        else:
            near = 30 if " 1" in kind and "turned" not in kind else NEAR  # two values only
            assert np.abs(found - DRAWN).max() <= near


@pytest.mark.parametrize("ink", [0, 255])
@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
def test_ink_on_transparency_is_seen(ink: int, kind: str) -> None:
    picture = np.full((48, 64, 4), ink, np.uint8)
    picture[..., 3] = np.where(DRAWN < 100, 255, 0)
    found = group_drawing(saved(Image.fromarray(picture), kind))
    assert len(found.lines) == 2
    colours = rgb(picture)
    assert (colours[DRAWN < 100] == ink).all() and (colours[DRAWN > 100] == 255 - ink).all()


@pytest.mark.parametrize("kind", ["TIFF", "GIF", "WEBP"])
def test_of_several_pages_one_is_named(kind: str) -> None:
    pages = [Image.fromarray(np.full((20, 20), value, np.uint8)) for value in (10, 120, 250)]
    file = saved(pages[0], kind, save_all=True, append_images=pages[1:])
    with pytest.raises(ValueError, match=r"scan: holds 3 pages; say which by page \(--page\)"):
        read_picture(file, "scan")
    for number, value in enumerate((10, 120, 250), 1):
        assert abs(int(grey(read_picture(file, page=number))[5, 5]) - value) < 6
    with pytest.raises(ValueError, match="scan: has no page 4, but 3"):
        read_picture(file, "scan", page=4)


def test_what_a_user_has_in_hand() -> None:
    sources = {
        "grey": DRAWN,
        "RGB": rgb(DRAWN),
        "RGBA": np.dstack([rgb(DRAWN), np.full(DRAWN.shape, 255, np.uint8)]),
        "mask": DRAWN < 100,
        "0 and 1": (DRAWN < 100).astype(np.uint8),
        "brightness": DRAWN / 255,
        "Pillow": Image.fromarray(DRAWN),
        "Pillow, two values": Image.fromarray(DRAWN < 100),
    }
    for name, source in sources.items():
        found = group_drawing(source)
        assert len(found.lines) == 2, name
        assert found.picture.max() > 200, name  # not black to the eye
    with pytest.raises(ValueError, match=r"has shape \(4, 4, 7\); give rows x columns"):
        read_picture(np.zeros((4, 4, 7)))
    with pytest.raises(ValueError, match="floating-point pixels from 0 to 7"):
        read_picture(np.array([[0.0, 7.0]]))


@pytest.mark.parametrize("kind", [mam.ContourGrouper, mam.CurveGrouper])
def test_estimators_read_pictures_and_name_a_missing_list(kind: type) -> None:
    grouper = kind.load("curves" if kind is mam.CurveGrouper else "contours")
    mask = DRAWN < 100
    for source in (mask, Image.fromarray(mask), Image.fromarray(rgb(mask * np.uint8(255)))):
        [found] = grouper.predict([source])
        assert len(found) == len(grouper.predict([mask])[0])
    with pytest.raises(ValueError, match=r"image 0 has shape \(64,\): was one image .* \[image\]"):
        grouper.predict(mask)


def test_standard_input(tmp_path: Path) -> None:
    code = "from mam.data import read_picture; print(read_picture('-').shape)"
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, input=saved(in_mode("RGB"), "PNG"), capture_output=True)
    assert ran.stdout.split() == [b"(48,", b"64,", b"3)"], ran.stderr
