"""What a command may write: never what it reads, and nothing that would fail after the work."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mam.core.whole_files import check_writable, sweep

Identity = tuple[int, int] | str

PNG, SVG, MODEL, JSON, CSV = ".png", ".svg", ".safetensors", ".json", ".csv"
# Endings of files, which a folder does not have.
_FILES = frozenset(
    {PNG, SVG, MODEL, JSON, CSV, ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp", ".gif"}
    | {".pdf", ".npy", ".html", ".geojson", ".uai", ".txt", ".zip", ".gz"}
)


def check_outputs(
    outputs: Mapping[str | tuple[str, ...], Iterable[Path | None]],
    inputs: Iterable[str | Path | None] = (),
) -> None:
    """Refuse, before any work, outputs that are an input, or each other, or cannot be written.

    They come by the ending of what will be in them, or those of what may, and their names must
    have it.
    Files count, not names: a link to an input is that input. Of an input that is a folder no file
    that is there may be overwritten. What is None, or an input elsewhere than on this machine, is
    passed over. What killed commands left half written of these outputs is removed.

    >>> check_outputs({".png": [Path("a.png"), Path("./a.png")]})
    Traceback (most recent call last):
    ...
    ValueError: a.png: two outputs of one command cannot be the same file
    >>> check_outputs({".svg": [Path("a.png")]})
    Traceback (most recent call last):
    ...
    ValueError: a.png: would hold SVG; let its name end in .svg
    >>> check_outputs({".png": [Path("a")]})
    Traceback (most recent call last):
    ...
    ValueError: a: would hold PNG; let its name end in .png
    """
    wanted = [(path, end) for end, paths in outputs.items() for path in paths if path is not None]
    given = [path for source in inputs if (path := _local(source)) is not None]
    files = {_identity(source): source for source in given if not source.is_dir()}
    folders = [source for source in given if source.is_dir()]
    taken: set[Identity] = set()
    for path, _ in wanted:
        identity = _identity(path)
        if (source := _overwritten(path, files.get(identity), folders)) is not None:
            raise ValueError(
                f"{path}: is an input ({source}) and would be overwritten; choose another output"
            )
        if identity in taken:
            raise ValueError(f"{path}: two outputs of one command cannot be the same file")
        taken.add(identity)
    sweep(path for path, _ in wanted)
    for path, ending in wanted:
        check_writable(path)
        allowed = (ending,) if isinstance(ending, str) else ending
        if path.suffix.lower() not in [one.lower() for one in allowed]:
            held = _listed([one.removeprefix(".").upper() for one in allowed])
            raise ValueError(f"{path}: would hold {held}; let its name end in {_listed(allowed)}")


def _listed(words: Sequence[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last


def check_folder(path: Path) -> None:
    """Refuse a new folder with a name that promises a file.

    >>> check_folder(Path("set.csv"))
    Traceback (most recent call last):
    ...
    ValueError: set.csv: would be a folder; leave out its ending, or let it be .parquet
    """
    if path.suffix.lower() in _FILES and not path.is_dir():
        raise ValueError(f"{path}: would be a folder; leave out its ending, or let it be .parquet")


def _local(source: str | Path | None) -> Path | None:
    """Where on this machine an input lies, if it does."""
    if isinstance(source, str) and "://" in source:
        parts = urlsplit(source)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None
    return None if source is None else Path(source)


def _identity(path: Path) -> Identity:
    """What tells files apart: number and device, or the real name of one still to be written."""
    try:
        found = path.stat()
    except OSError:
        return os.path.realpath(path)
    return found.st_ino, found.st_dev


def _overwritten(path: Path, same: Path | None, folders: Iterable[Path]) -> Path | None:
    """The input that an output is, or is in, if its file is there."""
    if not path.is_file():
        return None
    return same or next((folder for folder in folders if _holds(folder, path)), None)


def _holds(source: Path, path: Path) -> bool:
    """Whether a file that is there is in a folder."""
    known, real = path.stat(), Path(os.path.realpath(path))
    return any(
        real.is_relative_to(os.path.realpath(entry.path))
        if entry.is_symlink()
        # Most entries need no look at the file itself: folders may hold a hundred thousand.
        else entry.inode() == known.st_ino and os.path.samestat(os.stat(entry.path), known)
        for entry in _entries(source)
    )


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Everything in a folder and the folders in it."""
    with contextlib.suppress(OSError), os.scandir(folder) as inside:
        for entry in inside:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                yield from _entries(Path(entry.path))
