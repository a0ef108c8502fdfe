"""Images are decoded safely: sizes first, and every error says which picture."""

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_layouts import save
from PIL import Image

from mam.data import encode_png, grey, read_picture

GREY = np.arange(12, dtype=np.uint8).reshape(3, 4) * 20


@given(st.integers(1, 9), st.integers(1, 9), st.sampled_from([1, 3, 4]), st.integers(0, 99))
def test_png_round_trip(rows: int, cols: int, channels: int, seed: int) -> None:
    shape = (rows, cols) if channels == 1 else (rows, cols, channels)
    pixels = np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)
    assert np.array_equal(read_picture(encode_png(pixels), "x"), pixels)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_lossless_formats_and_depths(tmp_path: Path, suffix: str, dtype: type) -> None:
    pixels = (GREY.astype(np.uint32) * (257 if dtype is np.uint16 else 1)).astype(dtype)
    found = read_picture(save(tmp_path / f"a.{suffix}", pixels), "a")
    assert found.dtype == dtype and np.array_equal(found, pixels)
    assert np.array_equal(grey(found), GREY)


def test_jpeg_colour_and_grey(tmp_path: Path) -> None:
    flat = np.full((16, 16, 3), 120, np.uint8)
    found = read_picture(save(tmp_path / "a.jpg", flat), "a")
    assert found.shape == (16, 16, 3)
    assert np.abs(grey(found).astype(int) - 120).max() <= 2


@pytest.mark.parametrize("mode", ["1", "P", "LA", "CMYK"])
def test_unusual_modes(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.fromarray(GREY).convert(mode).save(path)
    found = read_picture(path, "a")
    assert found.shape[:2] == GREY.shape and found.dtype == np.uint8
    if mode == "1":
        assert set(np.unique(found)) <= {0, 255}


def test_alpha_counts() -> None:
    pixels = np.full((2, 2, 4), 200, np.uint8)
    pixels[0, 0, 3] = 0
    assert grey(pixels)[0, 0] == 0


def test_floats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.tif"
    Image.fromarray(np.zeros((3, 3), np.float32)).save(path)
    with pytest.raises(ValueError, match=r"f\.tif: floating-point"):
        read_picture(path)


def _png(width: int, height: int) -> bytes:
    """A PNG that claims a size and holds almost nothing."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(b"\0" * 10)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("side", [100_000, 12_000, 9_000])
def test_bombs_are_refused_before_decoding(side: int) -> None:
    with pytest.raises(ValueError, match=r"row 3, column 'image': refused.*pixels"):
        read_picture(_png(side, side), "row 3, column 'image'")


def test_zero_size_and_empty() -> None:
    with pytest.raises(ValueError, match=r"a\.png"):
        read_picture(_png(0, 5), "a.png")
    with pytest.raises(ValueError, match=r"a\.png: the image is empty"):
        read_picture(b"", "a.png")


def test_truncated(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (64, 64), dtype=np.uint8)
    for suffix in ("png", "jpg", "tif"):
        path = save(tmp_path / f"a.{suffix}", noise)
        path.write_bytes(path.read_bytes()[:-800])
        with pytest.raises(ValueError, match=rf"a\.{suffix}: .*(corrupt|not a)"):
            read_picture(path)


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"gone\.png"):
        read_picture(tmp_path / "gone.png", "gone.png")
    with pytest.raises(OSError, match="here"):
        read_picture(tmp_path, "here")


@given(st.binary(max_size=40), st.integers(0, 400), st.integers(0, 400))
def test_any_damage_is_either_harmless_or_named(junk: bytes, start: int, cut: int) -> None:
    noise = np.random.default_rng(0).integers(0, 255, (16, 16), dtype=np.uint8)
    for kind in ("PNG", "JPEG", "TIFF"):
        out = io.BytesIO()
        Image.fromarray(noise).save(out, kind)
        whole = out.getvalue()
        start = start % len(whole)
        damaged = (whole[:start] + junk + whole[start + len(junk) :])[: max(len(whole) - cut, 1)]
        try:
            found = read_picture(damaged, "this one")
        except ValueError as error:
            assert str(error).startswith("this one: ")
        else:
            assert found.ndim in (2, 3)


def test_every_flipped_bit_of_a_png_is_noticed() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (6, 7), dtype=np.uint8)
    whole = encode_png(noise)
    for place in range(len(whole)):
        for bit in range(8):
            torn = bytearray(whole)
            torn[place] ^= 1 << bit
            with pytest.raises(ValueError, match=r"^row 3, column 'image': "):
                read_picture(bytes(torn), "row 3, column 'image'")


def test_a_png_that_is_cut_off_anywhere_is_noticed() -> None:
    whole = encode_png(GREY)
    for length in range(len(whole)):
        with pytest.raises(ValueError, match=r"^a: "):
            read_picture(whole[:length], "a")


def test_a_wrong_checksum_of_any_chunk_is_named() -> None:
    text = b"tEXtComment\0made by hand"
    chunk = struct.pack(">I", len(text) - 4) + text + b"oops"
    whole = encode_png(GREY)
    with pytest.raises(ValueError, match=r"^a\.png: .*the chunk tEXt has another checksum"):
        read_picture(whole[:33] + chunk + whole[33:], "a.png")
