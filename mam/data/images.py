"""Images in and out, safely: a size is checked before a single pixel is decoded."""

import io
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import Image, UnidentifiedImageError

# 64 megapixels: four times a good camera's picture, and 200 MB as RGB.
MAX_PIXELS = 1 << 26
FORMATS = ("PNG", "JPEG", "TIFF")
_PNG = b"\x89PNG\r\n\x1a\n"


def encode_png(picture: UInt8[np.ndarray, "rows cols *channels"]) -> bytes:
    """PNG bytes of a grey or colour picture; the same picture always gives the same bytes.

    >>> decode(encode_png(np.eye(3, dtype=np.uint8)), "eye").tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    out = io.BytesIO()
    # Level 1 costs a few per cent of size on these sparse pictures and saves most of the time.
    Image.fromarray(picture).save(out, "PNG", compress_level=1)
    return out.getvalue()


def decode(
    source: bytes | Path, name: str, max_pixels: int = MAX_PIXELS
) -> Shaped[np.ndarray, "..."]:
    """The pixels of a PNG, JPEG or TIFF: uint8 or uint16, (rows, cols) or (rows, cols, 3 or 4).

    Black-and-white pictures come as 0 and 255. `name` says in errors what was being read.

    >>> decode(b"not an image", "row 7, column 'image'")
    Traceback (most recent call last):
    ...
    ValueError: row 7, column 'image': not a PNG, JPEG or TIFF image
    """
    try:
        data = source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise type(error)(f"{name}: {error.strerror}") from None
    if not data:
        raise ValueError(f"{name}: the image is empty (0 bytes)")
    try:
        _check_chunks(data)
        with warnings.catch_warnings():
            # Pillow warns about huge sizes, where our own limit below counts, and about damaged
            # metadata, which we do not read.
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                _refuse_size(picture.size, name, max_pixels)
                return _pixels(picture, name)
    except Image.DecompressionBombError as error:
        raise ValueError(f"{name}: refused, {error}; at most {max_pixels:,} pixels") from None
    except UnidentifiedImageError:
        raise ValueError(f"{name}: not a PNG, JPEG or TIFF image") from None
    except _Refused as error:
        raise ValueError(str(error)) from None
    except Exception as error:  # a decoder may stumble over damaged bytes in any way
        raise ValueError(f"{name}: the image is corrupt or truncated ({error})") from None


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
        raise _Refused(f"{name}: floating-point pixels; save it with 8 or 16 bits")
    if picture.mode in ("L", "RGB", "RGBA"):
        return np.array(picture)
    if picture.mode == "1":
        return np.array(picture.convert("L"))
    clear = picture.mode in ("LA", "La", "PA") or "transparency" in picture.info
    return np.array(picture.convert("RGBA" if clear else "RGB"))


def grey(pixels: Shaped[np.ndarray, "rows cols *channels"]) -> UInt8[np.ndarray, "rows cols"]:
    """Any decoded image as 8-bit grey: 16 bits are scaled, colours weighted, alpha over black.

    >>> grey(np.array([[65535, 257]], np.uint16)).tolist()
    [[255, 1]]
    """
    if pixels.ndim == 2 and pixels.dtype == np.uint8:
        return pixels
    wide = pixels.dtype == np.uint16
    values = pixels.astype(np.float32) / (257.0 if wide else 1.0)
    if values.ndim == 3:
        alpha = values[..., 3] / 255.0 if values.shape[2] == 4 else np.float32(1.0)
        # ITU-R 601 luma, as Pillow's own conversion.
        values = values[..., :3] @ np.array([0.299, 0.587, 0.114], np.float32) * alpha
    return np.rint(values).astype(np.uint8)
