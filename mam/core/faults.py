"""Which errors are a machine's, and come right on another or later, and which are an item's."""

import errno

_MACHINE = {
    getattr(errno, name)
    for name in (
        *("ENOSPC", "EDQUOT", "EIO", "EROFS", "ENOMEM", "EMFILE", "ENFILE", "EAGAIN"),
        *("ESTALE", "ETIMEDOUT", "ENOTCONN", "ECONNRESET", "ECONNREFUSED", "EHOSTDOWN"),
        *("EHOSTUNREACH", "ENETDOWN", "ENETUNREACH", "EREMOTEIO"),
    )
    if hasattr(errno, name)
}


def befell_the_machine(error: BaseException) -> bool:
    """Whether an error tells of a disk, a network or a system, whatever was being done.

    >>> befell_the_machine(OSError(errno.ENOSPC, "full")), befell_the_machine(OSError("not JPEG"))
    (True, False)
    """
    return isinstance(error, OSError) and error.errno in _MACHINE


def renamed(error: OSError, text: str) -> OSError:
    """The same error in other words; it still tells what befell.

    >>> found = renamed(OSError(errno.ENOSPC, "full"), "a.png: the disk is full")
    >>> str(found), befell_the_machine(found)
    ('a.png: the disk is full', True)
    """
    found = type(error)(text)
    found.errno = error.errno
    return found
