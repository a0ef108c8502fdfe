"""How a command ends when it is told to: soon, whatever it is doing, and with a word."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from mam.core.whole_files import remove_unfinished

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 1.2  # seconds for half-written files to go and worker processes to end


class Ended(SystemExit):
    """The command was told to end; the exit code is 128 and the number of the signal."""

    def __init__(self, number: int, kept: str) -> None:
        super().__init__(128 + number)
        self.kept = kept

    def leave(self) -> None:
        """Say what is kept and end the process at once.

        Threads that compute would crash or hold up an interpreter that closes down in good order.
        """
        remove_unfinished()
        sys.stdout.flush()
        if sys.stderr.isatty():
            sys.stderr.write("\x1b[?25h")  # the cursor, which progress hides
        how = "interrupted" if self.code == 128 + signal.SIGINT else "told to end"
        sys.stderr.write(f"\nmam: {how}; {self.kept}\n")
        sys.stderr.flush()
        os._exit(int(self.code or 0))


@contextmanager
def ends_on_request(kept: str = "nothing was written") -> Iterator[None]:
    """Within the block Ctrl-C and SIGTERM end the program as an error would, by ``Ended``.

    ``kept`` says what of its work is still there then. Half-written files go and worker processes
    end first; a second signal does not disturb that. Compiled code that runs, or compiles, hears no
    exception: a thread waits a moment for it and ends the process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may say what a signal does
        return

    def end(number: int, frame: FrameType | None) -> None:
        for each in _SIGNALS:
            signal.signal(each, signal.SIG_IGN)
        # Raised in a callback of the garbage collector it is lost, and would be told as a failure.
        sys.unraisablehook = _say_nothing
        raise Ended(number, kept)

    unraisable = sys.unraisablehook
    heard, told = socket.socketpair()
    told.setblocking(False)
    before = {number: signal.signal(number, end) for number in _SIGNALS}
    earlier = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    watch = threading.Thread(target=_watch, args=(heard, kept), daemon=True)
    watch.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(earlier)
        told.close()
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = unraisable
        watch.join()
        heard.close()


def _say_nothing(lost: object) -> None:
    pass


def _watch(heard: socket.socket, kept: str) -> None:
    """Await a signal; end the process if its block has not ended a moment later."""
    number = 0
    while number not in _SIGNALS:
        found = heard.recv(1)
        if not found:
            return
        number = found[0]
    heard.settimeout(_PATIENCE)
    try:
        while heard.recv(1):
            pass
    except TimeoutError:
        Ended(number, kept).leave()
