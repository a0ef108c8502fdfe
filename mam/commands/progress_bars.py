"""The progress bar of long commands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol

from mam.core.words import terminal_text

_SOON = 2.0  # seconds of work of which nothing is said


class AdvanceBar(Protocol):
    """Moves the bar on."""

    def __call__(self, amount: int | float, title: str | None = None) -> None:
        """Count ``amount`` as done; ``title`` says what comes next, where that changed."""
        ...


def _silent(amount: int | float, title: str | None = None) -> None:
    pass


@contextmanager
def progress_bar(
    title: str, total: int | None, unit: str = "rows", quiet: bool = False
) -> Iterator[AdvanceBar]:
    """A bar with rate and time left on standard error; nothing when ``quiet`` or no terminal.

    Without a total it only counts.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield _silent
        return
    rate = TextColumn("{task.fields[rate]}")
    name = TextColumn("{task.description}", markup=False)
    with Progress(
        name, BarColumn(), MofNCompleteColumn(), rate, TimeLeft(), console=console
    ) as bar:
        task = bar.add_task(title, total=total, rate="")

        def advance(amount: int | float, title: str | None = None) -> None:
            speed = bar.tasks[0].speed
            shown = f"{speed:.1f} {unit}/s" if speed else ""
            told = None if title is None else terminal_text(title)
            bar.update(task, advance=amount, description=told, rate=shown)

        yield advance


@contextmanager
def working(title: str, quiet: bool = False) -> Iterator[None]:
    """What is being done and for how long, for work that cannot tell how much is left.

    It appears after two seconds, on a terminal's standard error, and goes with the work.
    """
    import threading

    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    columns = SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn()
    bar = Progress(*columns, console=console, transient=True)
    bar.add_task(terminal_text(title), total=None)
    soon = threading.Timer(_SOON, bar.start)
    soon.daemon = True
    soon.start()
    try:
        yield
    finally:
        soon.cancel()
        soon.join()
        bar.stop()


@contextmanager
def share_bar(title: str, quiet: bool = False) -> Iterator[Callable[[str, float], None]]:
    """A bar that is told what is being done, and which share of all is done."""
    with progress_bar(title, 100, "%", quiet) as advance:
        done = 0.0

        def tell(stage: str, share: float) -> None:
            nonlocal done
            advance(100 * share - done, stage)
            done = 100 * share

        yield tell


def row_count(data: str, limit: int | None) -> int | None:
    """The number of rows to do, for the progress bar; None where only reading them would tell."""
    from mam.data import count_rows
    from mam.data.read.readers import layout_of

    if layout_of(data) != "parquet":
        return limit
    rows = count_rows(data)
    return rows if limit is None else min(rows, limit)
