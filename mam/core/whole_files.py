"""Files that are whole or absent: written under a name of their own, then renamed."""

import contextlib
import errno
import os
import re
import secrets
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from mam.core.faults import renamed

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

_LONGEST = 200  # bytes of a name that its temporary one repeats; most systems allow 255 in all
_TEMPORARY = re.compile(r"(.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)
# What this process is writing: one that must end at once can still take it away.
_unfinished: set[Path] = set()


def real_path(path: Path) -> Path:
    """The file that a path stands for: where it is a symbolic link, what that leads to."""
    return Path(os.path.realpath(path)) if path.is_symlink() else path


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """A new, empty file to write to, which takes the name `path` when the block ended well.

    It lies in the same folder under a name that nobody else has, so that two writers never mix:
    the last to finish wins. Where writing failed nothing is left of it, and the error names `path`.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "a.txt") as fresh:
    ...     _ = fresh.write_text("whole")
    >>> [(path.name, path.read_text()) for path in folder.iterdir()]
    [('a.txt', 'whole')]
    """
    fresh: Path | None = None
    held: int | None = None
    try:
        target = real_path(path)
        mode = _mode_of(target)
        fresh, held = _create(target, 0o666 if mode is None else mode)
        _unfinished.add(fresh)
        yield fresh
        if mode is not None:
            fresh.chmod(mode)  # as it was, whatever the umask
        _sync(fresh)
        os.replace(fresh, target)
        _sync_folder(target.parent)
    except OSError as error:
        text = f"{path}: cannot be written ({reason_of(error, fresh)})"
        raise renamed(error, text) from None
    finally:
        if fresh is not None:
            _unfinished.discard(fresh)
            with contextlib.suppress(OSError):
                fresh.unlink()
        if held is not None:
            os.close(held)


def remove_unfinished() -> None:
    """Take away the temporary files of this process, which ends and writes no more."""
    for fresh in tuple(_unfinished):
        with contextlib.suppress(OSError):
            fresh.unlink()


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees half of it."""
    with whole_file(path) as fresh:
        fresh.write_bytes(content)


def check_writable(path: Path) -> None:
    """Refuse a file that `whole_file` could not write, before any work is done for it."""
    try:
        target = real_path(path)
        _mode_of(target)
        fresh, held = _create(target, 0o600)
        fresh.unlink()
        if held is not None:
            os.close(held)
    except OSError as error:
        raise type(error)(f"{path}: cannot be written ({reason_of(error)})") from None


def sweep(paths: Iterable[Path]) -> None:
    """Remove what killed writers of these files left; what is still being written stays."""
    by_folder: dict[Path, list[str]] = {}
    for path in map(real_path, paths):
        by_folder.setdefault(path.parent, []).append(path.name)
    for folder, names in by_folder.items():
        for stray in left_behind(folder, names) if folder.is_dir() else ():
            with contextlib.suppress(OSError):
                _remove_if_left(stray)


def _remove_if_left(stray: Path) -> None:
    if fcntl is None:  # nobody knows
        return
    file = os.open(stray, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        stray.unlink()
    finally:
        os.close(file)


def left_behind(folder: Path, names: Iterable[str]) -> list[Path]:
    """The temporary files in a folder that killed writers of these files left."""
    stems = {_stem(name) for name in names}
    found = ((path, _TEMPORARY.fullmatch(path.name)) for path in folder.iterdir())
    return sorted(path for path, match in found if match and match[1] in stems)


def _stem(name: str) -> str:
    return os.fsdecode(os.fsencode(name)[:_LONGEST])


def _mode_of(target: Path) -> int | None:
    """The permissions of a file that will be replaced; None where there is none."""
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"no such folder: {target.parent}")
    try:
        found = target.stat()
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if not os.access(target, os.W_OK):  # renaming would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return stat.S_IMODE(found.st_mode)


def _create(target: Path, mode: int) -> tuple[Path, int | None]:
    """An empty file beside another, certainly new: a link of its name would not be followed.

    With it comes what holds a lock on it as long as it is open: who finds the file without one
    knows that its writer is gone.
    """
    while True:
        fresh = target.with_name(f"{_stem(target.name)}.{secrets.token_hex(8)}.tmp")
        held = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        if fcntl is None:  # Windows, which renames no open file
            os.close(held)
            return fresh, None
        with contextlib.suppress(OSError):  # a network file system may know no locks
            fcntl.flock(held, fcntl.LOCK_EX)
        if os.fstat(held).st_nlink:
            return fresh, held
        os.close(held)  # it was swept away before it was locked


def _sync(path: Path) -> None:
    file = os.open(path, os.O_WRONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _sync_folder(folder: Path) -> None:
    """Make a new name last; the file is whole even where a system cannot do this."""
    with contextlib.suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


def reason_of(error: OSError, fresh: Path | None = None) -> str:
    """Why something could not be written; a file other than the fresh one is named."""
    if error.errno == errno.ENOSPC or "No space left" in str(error):
        return "the disk is full"
    about_it = error.filename is None or fresh is None or Path(error.filename) == fresh
    return (about_it and error.strerror) or str(error)
