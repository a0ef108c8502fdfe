"""The files of the page, read once: no request ever opens one."""

from importlib import resources
from typing import NamedTuple

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class StaticFile(NamedTuple):
    """A file and what it is."""

    content: bytes
    media_type: str


def static_files() -> dict[str, StaticFile]:
    """All files of the page by name.

    >>> "index.html" in static_files()
    True
    """
    folder = resources.files("mam") / "web" / "static"
    found = {}
    for file in folder.iterdir():
        ending = "." + file.name.rsplit(".", 1)[-1]
        if ending in _TYPES:
            found[file.name] = StaticFile(file.read_bytes(), _TYPES[ending])
    return found
