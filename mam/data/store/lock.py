"""Locks that the operating system drops when their process ends, in whatever way it does."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
    import msvcrt

_FAR = 1 << 30  # Windows locks bytes and keeps others from reading them: lock one that is not there


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[BinaryIO]:
    """A file and its folder, made where they are not there, for this process alone.

    Raises BlockingIOError where another run holds it. On a file system without locks it is not
    kept from others. The file stays; whoever removes it must do so within the block.
    """
    while True:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            file = _open(path)
        except FileNotFoundError:  # its folder was removed after all, by the run that held it
            continue
        with file:
            _lock(file.fileno())
            if _is_named(file, path):
                yield file
                return


def _open(path: Path) -> BinaryIO:
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return open(os.open(path, flags, 0o666), "r+b", buffering=0)


def _lock(file: int) -> None:
    if fcntl is None:
        os.lseek(file, _FAR, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # pyright: ignore
        except OSError:
            raise BlockingIOError("locked by another process") from None
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise
    except OSError:
        # A network file system may know no locks. Names of their own and the check of shards when
        # they are joined still keep two runs from mixing their rows.
        return


def _is_named(file: BinaryIO, path: Path) -> bool:
    """Whether the file still has its name: who held it before may have removed it."""
    with contextlib.suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False
