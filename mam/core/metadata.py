"""What a model file says of itself: JSON of limited size and depth, read before anything else."""

import json
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open

from mam.core.digest import check_header
from mam.core.json_text import parse_json
from mam.core.limits import HEADER_BYTES, METADATA_CHARACTERS

_LENGTH = 8  # bytes at the start that say how long the header is
_KEYS = {"format": int, "kind": str, "version": str, "config": dict, "provenance": dict}


def read_metadata(path: Path) -> dict[str, Any]:
    """What a file says of itself: its format, kind, version, config and provenance."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(_LENGTH), "little")
    if HEADER_BYTES < size <= path.stat().st_size:
        raise ValueError(f"{path}: its header has {size} bytes, and {HEADER_BYTES} are the most")
    try:
        with safe_open(path, "numpy") as file:
            text = (file.metadata() or {}).get("mam")
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path}: not a model file ({error})") from None
    if text is None:
        raise ValueError(f"{path}: a safetensors file, but not one that mam wrote")
    check_header(path)
    try:
        return _parsed(text)
    except ValueError as error:
        raise ValueError(f"{path}: the file is damaged ({error})") from None


def metadata_text(about: dict[str, Any]) -> str:
    """The JSON to write, for `read_metadata` to read."""
    text = json.dumps(about, sort_keys=True)
    _parsed(text)
    return text


def _parsed(text: str) -> dict[str, Any]:
    about = parse_json(text, METADATA_CHARACTERS)
    # Half of a surrogate pair cannot be printed, and would end the command that shows it.
    json.dumps(about, ensure_ascii=False).encode()
    for key, kind in _KEYS.items():
        if not isinstance(about, dict) or key not in about:
            raise ValueError(f"it says nothing of its {key}")
        if type(about[key]) is not kind:
            raise ValueError(f"its {key} is a {type(about[key]).__name__}, not a {kind.__name__}")
    return about
