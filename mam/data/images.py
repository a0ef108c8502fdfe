"""Pictures in and out, safely: a size is checked before a single pixel is decoded."""

import contextlib
import io
import struct
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import Image, ImageOps, UnidentifiedImageError

from mam.core.faults import renamed
from mam.core.limits import PICTURE_PIXELS
from mam.core.words import STANDARD_INPUT
from mam.data.pixels import as_pixels

PictureSource = str | Path | bytes | Image.Image | np.ndarray

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP", "BMP", "GIF", "PPM")
SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".pgm", ".ppm", ".npy"}
)
_PAGED = ("TIFF", "GIF", "WEBP", "PNG")  # a second picture in a JPEG is a small or a deep one
_PNG = b"\x89PNG\r\n\x1a\n"
_NPY = b"\x93NUMPY"


def encode_png(picture: UInt8[np.ndarray, "rows cols *channels"]) -> bytes:
    """PNG bytes of a grey or colour picture; the same picture always gives the same bytes.

    >>> read_picture(encode_png(np.eye(3, dtype=np.uint8))).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    out = io.BytesIO()
    # Level 1 costs a few per cent of size on these sparse pictures and saves most of the time.
    Image.fromarray(picture).save(out, "PNG", compress_level=1)
    return out.getvalue()


def read_picture(
    source: PictureSource,
    name: str | None = None,
    page: int | None = None,
    max_pixels: int = PICTURE_PIXELS,
) -> Shaped[np.ndarray, "..."]:
    """The pixels of any picture: uint8 or uint16, (rows, cols) or (rows, cols, 3 or 4).

    The source is a path (`-`: standard input), the bytes of a file (PNG, JPEG, TIFF, WebP, BMP,
    GIF, PGM or PPM, numpy's .npy), a picture of Pillow, or an array, see `as_pixels`. Black and
    white are 0 and 255; a picture stands upright, as its EXIF data say. Of several pages `page`,
    counted from 1, must say which. `name` is what errors call it.

    >>> read_picture(b"no picture", "row 7, column 'image'")
    Traceback (most recent call last):
    ...
    ValueError: row 7, column 'image': not a picture (PNG, JPEG, TIFF, WebP, BMP, GIF, PNM or .npy)
    """
    if isinstance(source, np.ndarray):
        return as_pixels(source, name or "the picture")
    if isinstance(source, Image.Image):
        name = name or "the picture"
        _refuse_size(source.size, name, max_pixels)
        return _pixels(_upright(source), name)
    if not isinstance(source, bytes | str | Path):
        kind = type(source).__name__
        raise TypeError(f"a picture is a path, bytes, an array or a picture of Pillow, not {kind}")
    data, name = _content(source, name)
    if not data:
        raise ValueError(f"{name}: the image is empty (0 bytes)")
    return _decoded(data, name, page, max_pixels)


def _decoded(
    data: bytes, name: str, page: int | None, max_pixels: int
) -> Shaped[np.ndarray, "..."]:
    """The pixels of a file; whatever is wrong with it is said with its name."""
    try:
        if data.startswith(_NPY):
            return _array(data, name, max_pixels)
        _check_chunks(data)
        with warnings.catch_warnings():
            # Pillow warns about huge sizes, where our own limit below counts, and about damaged
            # metadata, of which we read the orientation alone.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                _refuse_size(picture.size, name, max_pixels)
                _turn_to(picture, page, name)
                return _pixels(_upright(picture), name)
    except Image.DecompressionBombError as error:
        raise ValueError(f"{name}: refused, {error}; at most {max_pixels:,} pixels") from None
    except UnidentifiedImageError:
        raise ValueError(
            f"{name}: not a picture (PNG, JPEG, TIFF, WebP, BMP, GIF, PNM or .npy)"
        ) from None
    except _Refused as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # a decoder may stumble over damaged bytes in any way
        raise ValueError(f"{name}: the image is corrupt or truncated ({error})") from None


def _content(source: bytes | str | Path, name: str | None) -> tuple[bytes, str]:
    """The bytes of a source, and what it is called."""
    if isinstance(source, bytes):
        return source, name or "the picture"
    if str(source) == STANDARD_INPUT:
        return sys.stdin.buffer.read(), name or "standard input"
    name = name or str(source)
    try:
        return Path(source).read_bytes(), name
    except OSError as error:
        raise renamed(error, f"{name}: {error.strerror}") from None


def _array(data: bytes, name: str, max_pixels: int) -> Shaped[np.ndarray, "..."]:
    file = io.BytesIO(data)
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else None
    shape, _, _ = (read or np.lib.format.read_array_header_2_0)(file)
    if len(shape) > 1:
        _refuse_size((shape[1], shape[0]), name, max_pixels)
    file.seek(0)
    try:
        return as_pixels(np.load(file, allow_pickle=False), name)
    except ValueError as error:
        raise _Refused(str(error) if name in str(error) else f"{name}: {error}") from None


def _turn_to(picture: Image.Image, page: int | None, name: str) -> None:
    pages = getattr(picture, "n_frames", 1) if picture.format in _PAGED else 1
    if page is None and pages > 1:
        raise _Refused(f"{name}: holds {pages} pages; say which by page (--page), from 1 on")
    if page is not None and not 1 <= page <= pages:
        raise _Refused(f"{name}: has no page {page}, but {pages}")
    if pages > 1 and page is not None:
        picture.seek(page - 1)


def _upright(picture: Image.Image) -> Image.Image:
    """The picture turned as its EXIF data say; damaged ones say nothing."""
    with contextlib.suppress(Exception):
        turned = ImageOps.exif_transpose(picture)
        return picture if turned is None else turned
    return picture


def _check_chunks(data: bytes) -> None:
    """Refuse a PNG with a chunk that is cut off or does not have its checksum.

    Pillow passes over the checksums of most chunks, those of the pixels among them.
    """
    if not data.startswith(_PNG):
        return
    place, kind, view = len(_PNG), b"", memoryview(data)
    while kind != b"IEND":
        if place + 12 > len(data):
            raise ValueError("it ends before its last chunk")
        length, kind = struct.unpack_from(">I4s", data, place)
        end = place + 8 + length
        if end + 4 > len(data):
            raise ValueError("it ends within a chunk")
        if zlib.crc32(view[place + 4 : end]) != int.from_bytes(view[end : end + 4], "big"):
            raise ValueError(f"the chunk {kind.decode('latin-1')} has another checksum")
        place = end + 4


class _Refused(ValueError):
    """A picture we understand and do not want; its message is complete."""


def _refuse_size(size: tuple[int, int], name: str, max_pixels: int) -> None:
    cols, rows = size
    if rows == 0 or cols == 0:
        raise _Refused(f"{name}: the image has zero size ({rows} x {cols})")
    if rows * cols > max_pixels:
        raise _Refused(f"{name}: refused, {rows} x {cols} is more than {max_pixels:,} pixels")


def _pixels(picture: Image.Image, name: str) -> Shaped[np.ndarray, "..."]:
    if picture.mode in ("I;16", "I;16B", "I;16L", "I;16N"):
        return np.asarray(picture).astype(np.uint16)
    if picture.mode == "I":
        values = np.asarray(picture)
        if values.min() < 0 or values.max() > 65535:
            raise _Refused(f"{name}: 32-bit pixels; save it with 8 or 16 bits")
        return values.astype(np.uint16)
    if picture.mode == "F":
        raise _Refused(
            f"{name}: floating-point pixels; save it with 8 or 16 bits, or as .npy between 0 and 1"
        )
    if picture.mode in ("L", "RGB", "RGBA"):
        return np.array(picture)
    if picture.mode == "1":
        return np.array(picture.convert("L"))
    clear = picture.mode in ("LA", "La", "PA") or "transparency" in picture.info
    return np.array(picture.convert("RGBA" if clear else "RGB"))
