"""Pixels: arrays of users as pictures, and pictures as grey or as colour without transparency."""

import numpy as np
from jaxtyping import Bool, Float, Shaped, UInt8

ON = 26  # of 255: what is brighter is ON in an anti-aliased drawing (the published threshold)
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)  # ITU-R 601, as Pillow's own conversion
_HALF = 127.5
_CHANNELS = (1, 2, 3, 4)  # grey, grey and alpha, RGB, RGBA


def as_pixels(
    values: Shaped[np.ndarray, "..."], name: str = "the picture"
) -> Shaped[np.ndarray, "..."]:
    """An array as a picture: uint8 or uint16, (rows, cols) or (rows, cols, 3 or 4).

    Truth values are black and white, floating-point numbers brightness between 0 and 1.

    >>> as_pixels(np.array([[True, False]])).tolist(), as_pixels(np.array([[0.2, 1.0]])).tolist()
    ([[255, 0]], [[51, 255]])
    """
    if values.ndim not in (2, 3) or (values.ndim == 3 and values.shape[2] not in _CHANNELS):
        raise ValueError(
            f"{name} has shape {values.shape}; give rows x columns, or rows x columns x 3 or 4"
        )
    if values.size == 0:
        raise ValueError(f"{name} has no pixels: its shape is {values.shape}")
    pixels = _whole_numbers(values, name)
    if pixels.ndim == 2 or pixels.shape[2] > 2:
        return pixels
    return pixels[..., 0] if pixels.shape[2] == 1 else pixels[..., [0, 0, 0, 1]]


def _whole_numbers(
    values: Shaped[np.ndarray, "..."], name: str = "the picture"
) -> Shaped[np.ndarray, "..."]:
    if values.dtype in (np.uint8, np.uint16):
        return values
    if values.dtype == bool:
        return values.astype(np.uint8) * np.uint8(255)
    if values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        raise ValueError(f"{name} is not a picture: pixels must be finite numbers or booleans")
    least, most = values.min(), values.max()
    if values.dtype.kind == "f":
        if least < 0 or most > 1:
            raise ValueError(
                f"{name} has floating-point pixels from {least:g} to {most:g}; give brightness "
                "between 0 and 1, or whole numbers of 8 or 16 bits"
            )
        return np.rint(values * 255).astype(np.uint8)
    if least < 0 or most > 65535:
        raise ValueError(f"{name} has pixels from {least} to {most}; give 8 or 16 bits")
    return values.astype(np.uint8 if most < 256 else np.uint16)


def grey(pixels: Shaped[np.ndarray, "rows cols *channels"]) -> UInt8[np.ndarray, "rows cols"]:
    """Any picture as 8-bit grey: 16 bits are scaled, colours weighted.

    >>> grey(np.array([[65535, 257]], np.uint16)).tolist()
    [[255, 1]]
    """
    if pixels.ndim == 2 and pixels.dtype == np.uint8:
        return pixels
    values = _eight_bits(pixels)
    if values.ndim == 3:
        values = _without_alpha(values) @ _LUMA
    return np.rint(values).astype(np.uint8)


def rgb(pixels: Shaped[np.ndarray, "rows cols *channels"]) -> UInt8[np.ndarray, "rows cols 3"]:
    """Any picture as 8-bit colour.

    What is transparent shows a ground that what is opaque stands out from: white if it is dark.

    >>> rgb(np.array([[[0, 0, 0, 255], [9, 9, 9, 0]]], np.uint8)).tolist()
    [[[0, 0, 0], [255, 255, 255]]]
    """
    if pixels.ndim == 2:
        return np.repeat(grey(pixels)[..., None], 3, axis=2)
    if pixels.dtype == np.uint8 and pixels.shape[2] == 3:
        return pixels
    return np.rint(_without_alpha(_eight_bits(pixels))).astype(np.uint8)


def black_and_white(mask: Bool[np.ndarray, "rows cols"]) -> UInt8[np.ndarray, "rows cols"]:
    """A mask as a picture: 255 where it is True."""
    return mask.astype(np.uint8) * np.uint8(255)


def shown(pixels: Shaped[np.ndarray, "rows cols"]) -> UInt8[np.ndarray, "rows cols"]:
    """A grey picture as it can be seen: one of 0 and 1 alone is a mask, and would look black.

    >>> shown(np.array([[0, 1]], np.uint8)).tolist()
    [[0, 255]]
    """
    return black_and_white(pixels > 0) if pixels.max(initial=0) == 1 else grey(pixels)


def _eight_bits(pixels: Shaped[np.ndarray, "..."]) -> Float[np.ndarray, "..."]:
    return pixels.astype(np.float32) / np.float32(257.0 if pixels.dtype == np.uint16 else 1.0)


def _without_alpha(
    values: Float[np.ndarray, "rows cols channels"],
) -> Float[np.ndarray, "rows cols 3"]:
    colours = values[..., :3]
    if values.shape[2] == 3:
        return colours
    opaque = values[..., 3:] / 255
    brightness = float(np.sum(colours @ _LUMA * opaque[..., 0]) / max(float(opaque.sum()), 1e-9))
    ground = np.float32(255.0 if brightness < _HALF else 0.0)
    return colours * opaque + ground * (1 - opaque)
