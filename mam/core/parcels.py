"""Pictures as they go from one process to another: most are black, or black and white.

A picture of which few pixels are not 0 is sent as a list of these, a mask as its bits.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int, Shaped, UInt8

_EACH = 5  # bytes that a listed pixel takes: where it is, and its value


class Parcel(NamedTuple):
    """A picture that was packed."""

    shape: tuple[int, ...]
    values: UInt8[np.ndarray, " values"]
    where: Int[np.ndarray, " values"] | None  # None: values are the bits of a mask


def pack(value: Any) -> Any:
    """What stands for a value, in which masks and dark pictures are packed.

    Of lists and tuples every entry is; all else stays as it is.

    >>> image = np.zeros((300, 300), np.uint8)
    >>> image[7, 5:9] = 200
    >>> parcel = pack([image, "a name"])[0]
    >>> parcel.values.tolist(), bool((unpack(parcel) == image).all())
    ([200, 200, 200, 200], True)
    """
    if type(value) in (list, tuple):
        return type(value)(pack(one) for one in value)
    if not isinstance(value, np.ndarray) or value.ndim != 2:
        return value
    if value.dtype == bool:
        return Parcel(value.shape, np.packbits(value), None)
    if value.dtype != np.uint8 or value.size >= 1 << 31:
        return value
    where = np.flatnonzero(value != 0).astype(np.int32)  # of bytes it takes ten times as long
    if _EACH * len(where) >= value.size:
        return value
    return Parcel(value.shape, value.ravel()[where], where)


def unpack(value: Any) -> Any:
    """The value that was packed."""
    if type(value) in (list, tuple):
        return type(value)(unpack(one) for one in value)
    return _opened(value) if isinstance(value, Parcel) else value


def _opened(parcel: Parcel) -> Shaped[np.ndarray, "rows cols"]:
    size = int(np.prod(parcel.shape))
    if parcel.where is None:
        return np.unpackbits(parcel.values, count=size).view(bool).reshape(parcel.shape)
    pixels = np.zeros(size, np.uint8)
    pixels[parcel.where] = parcel.values
    return pixels.reshape(parcel.shape)
