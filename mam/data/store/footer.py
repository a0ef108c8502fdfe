"""A digest of the footer of a parquet file.

Page checksums cover the rows, but nothing covers the footer, which says where they are and what
they mean. Its digest stands in the footer itself, as key-value metadata, and is the SHA-256 of the
footer and the eight bytes after it with zeros in place of the digest. Other readers ignore it.
"""

import hashlib
import re
from pathlib import Path

import pyarrow as pa

KEY = "mam.footer"
UNSEALED = {KEY: "0" * 64}  # metadata to write, for `seal` to fill in
_TAIL = 8  # length of the footer, then the magic word
# Key and value as thrift's compact protocol writes them: a string is 0x18, its length, its bytes.
_SEAL = re.compile(re.escape(KEY.encode()) + rb"\x18\x40([0-9a-f]{64})")


def seal(path: Path) -> None:
    """Write the digest of its footer into a parquet file that has `UNSEALED` in its metadata."""
    with path.open("r+b") as file:
        size = file.seek(0, 2)
        file.seek(size - _TAIL)
        start = size - _TAIL - int.from_bytes(file.read(4), "little")
        file.seek(start)
        footer = file.read()
        found = _SEAL.search(footer)
        assert found is not None
        file.seek(start + found.start(1))
        file.write(_digest(footer, found))


def is_intact(stream: pa.NativeFile) -> bool:
    """Whether the footer of an open parquet file has its digest, or none is written in it."""
    size = stream.size()
    if size < _TAIL:
        return True  # no parquet file, as its reader will say
    length = int.from_bytes(stream.read_at(4, size - _TAIL), "little")
    if length > size - _TAIL:
        return True
    footer = stream.read_at(length + _TAIL, size - _TAIL - length)
    found = _SEAL.search(footer)
    return found is None or found[1] == _digest(footer, found)


def _digest(footer: bytes, found: re.Match[bytes]) -> bytes:
    bare = footer[: found.start(1)] + b"0" * 64 + footer[found.end(1) :]
    return hashlib.sha256(bare).hexdigest().encode()
