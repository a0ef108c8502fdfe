"""Messages between server and workers: a length, JSON of that length, and the bytes it announces.

The JSON is an object; its entry ``blobs`` lists the lengths of what follows. No pickle.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from io import BufferedIOBase
from typing import Any, NamedTuple

Telling = Callable[[str], None]  # is told of the progress, in words

_LENGTH = 4  # bytes of the number in front


class WebFrame(NamedTuple):
    """A message: what it says, and the bytes that come with it."""

    said: dict[str, Any]
    blobs: list[bytes]


def frame_bytes(said: dict[str, Any], blobs: Sequence[bytes] = ()) -> bytes:
    """A message as bytes.

    >>> import io
    >>> read_frame(io.BytesIO(frame_bytes({"job": "group"}, [b"pixels"])))
    WebFrame(said={'job': 'group', 'blobs': [6]}, blobs=[b'pixels'])
    """
    text = json.dumps(said | {"blobs": [len(blob) for blob in blobs]}, allow_nan=False).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "big"), text, *blobs])


def read_frame(source: BufferedIOBase) -> WebFrame | None:
    """The next message; None at the end."""
    start = source.read(_LENGTH)
    if len(start) < _LENGTH:
        return None
    said = json.loads(source.read(int.from_bytes(start, "big")))
    return WebFrame(said, [source.read(length) for length in said["blobs"]])


async def next_frame(source: asyncio.StreamReader) -> WebFrame:
    """The next message; `IncompleteReadError` at the end."""
    length = int.from_bytes(await source.readexactly(_LENGTH), "big")
    said = json.loads(await source.readexactly(length))
    return WebFrame(said, [await source.readexactly(size) for size in said["blobs"]])
