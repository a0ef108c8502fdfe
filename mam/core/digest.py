"""Digests of a model file: of its data, and of the header that says what the data are.

Both stand in the JSON that the header carries. That of the header is taken with zeros in its own
place. Readers that know nothing of them pass them over.
"""

import hashlib
import re
from pathlib import Path

HEADER, DATA = "header_sha256", "data_sha256"
UNSIGNED = {HEADER: "0" * 64, DATA: "0" * 64}  # JSON to write, for `signed` to fill in
_LENGTH = 8  # bytes at the start that say how long the rest of the header is


def signed(content: bytes) -> bytes:
    """A safetensors file, which has `UNSIGNED` in its JSON, with its digests."""
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    header, data = content[:end], content[end:]
    header = _filled(header, DATA, hashlib.sha256(data).hexdigest().encode())
    header = _filled(header, HEADER, hashlib.sha256(header).hexdigest().encode())
    return header + data


def check_header(path: Path) -> None:
    """Refuse a file whose header has another digest than the one that stands in it."""
    with path.open("rb") as file:
        start = file.read(_LENGTH)
        header = start + file.read(int.from_bytes(start, "little"))
    written = _digest_in(header, HEADER)
    if written is None:
        return
    bare = _filled(header, HEADER, UNSIGNED[HEADER].encode())
    if hashlib.sha256(bare).hexdigest().encode() != written:
        raise ValueError(f"{path}: the file is damaged (its header has another digest)")


def check_data(path: Path) -> None:
    """Refuse a file whose data have another digest than the header says; this reads it all."""
    with path.open("rb") as file:
        start = file.read(_LENGTH)
        written = _digest_in(file.read(int.from_bytes(start, "little")), DATA)
        if written is None:
            return
        found = hashlib.file_digest(file, "sha256").hexdigest().encode()
    if found != written:
        raise ValueError(f"{path}: the file is damaged (its arrays have another digest)")


def _pattern(key: str) -> re.Pattern[bytes]:
    """How a digest stands in JSON that is a string of JSON."""
    return re.compile(rb'(\\"%s\\": \\")([0-9a-f]{64})(?=\\")' % key.encode())


def _digest_in(header: bytes, key: str) -> bytes | None:
    found = _pattern(key).search(header)
    return None if found is None else found[2]


def _filled(header: bytes, key: str, digest: bytes) -> bytes:
    return _pattern(key).sub(lambda found: found[1] + digest, header, count=1)
