"""What a command may write: never what it reads, and nothing that would fail after the work."""

import contextlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mam.core.whole import check_writable


def check_outputs(outputs: Iterable[Path | None], inputs: Iterable[str | Path | None] = ()) -> None:
    """Refuse, before any work, outputs that are an input, or each other, or cannot be written.

    Files count, not names: a link to an input is that input. Of an input that is a folder no file
    that is there may be overwritten. What is None, or an input elsewhere than on this machine, is
    passed over.

    >>> check_outputs([Path("a.png"), Path("./a.png")])
    Traceback (most recent call last):
    ...
    ValueError: a.png: two outputs of one command cannot be the same file
    """
    wanted = [path for path in outputs if path is not None]
    given = [path for source in inputs if (path := _local(source)) is not None]
    for number, path in enumerate(wanted):
        for source in given:
            if _holds(source, path):
                raise ValueError(
                    f"{path}: is an input ({source}) and would be overwritten; "
                    "choose another output"
                )
        if any(_same(path, other) for other in wanted[:number]):
            raise ValueError(f"{path}: two outputs of one command cannot be the same file")
    for path in wanted:
        check_writable(path)


def _local(source: str | Path | None) -> Path | None:
    """Where on this machine an input lies, if it does."""
    if isinstance(source, str) and "://" in source:
        parts = urlsplit(source)
        return Path(url2pathname(parts.path)) if parts.scheme == "file" else None
    return None if source is None else Path(source)


def _same(one: Path, other: Path) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:  # at least one is still to be written
        return os.path.realpath(one) == os.path.realpath(other)


def _holds(source: Path, path: Path) -> bool:
    """Whether a file that is there is the source, or in the folder that the source is."""
    if not path.is_file():
        return False
    if not source.is_dir():
        return source.exists() and os.path.samefile(source, path)
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
