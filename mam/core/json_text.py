"""JSON from outside, of limited size and depth: reading it costs neither memory nor stack."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

from mam.core.limits import JSON_CHARACTERS, JSON_DEPTH

_OPEN, _CLOSED = b"[{", b"]}"
_OTHERS = bytes(set(range(256)) - set(_OPEN + _CLOSED))
_STEPS = np.zeros(256, np.int8)
_STEPS[list(_OPEN)], _STEPS[list(_CLOSED)] = 1, -1


def parse_json(text: str | bytes, most: int = JSON_CHARACTERS, deepest: int = JSON_DEPTH) -> Any:
    """What a text says; a ValueError where it is no JSON, too long, or too deep.

    >>> parse_json('{"a": [1, 2]}')
    {'a': [1, 2]}
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: 100000 brackets deep, and 32 are the most
    """
    if len(text) > most:
        raise ValueError(f"{len(text)} characters, and {most} are the most")
    # As one encoding: in another, brackets could be where none are counted.
    plain = text if isinstance(text, str) else text.decode("utf-8-sig")
    if (depth := nesting(plain)) > deepest:
        raise ValueError(f"{depth} brackets deep, and {deepest} are the most")
    return json.loads(plain)


def read_json(path: Path) -> Any:
    """What a file says; one that is too long is not read. The errors leave it to others to name it.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "a.json"
    >>> _ = path.write_text("[1]")
    >>> read_json(path)
    [1]
    """
    with path.open("rb") as file:
        return parse_json(file.read(JSON_CHARACTERS + 1))


def nesting(text: str) -> int:
    """How many brackets of JSON stand inside each other, at most.

    >>> nesting('{"a": [1, "[[["]}')
    2
    """
    # Text that ends inside a string matches too, so that none is looked at twice.
    bare = re.sub(r'"(?:[^"\\]|\\.)*+"?', "", text, flags=re.DOTALL)
    signs = bare.encode(errors="replace").translate(None, _OTHERS)
    steps = _STEPS[np.frombuffer(signs, np.uint8)]
    return int(np.cumsum(steps, dtype=np.int32).max(initial=0))
