"""The progress bar of long commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class AdvanceBar(Protocol):
    """Moves the bar on."""

    def __call__(self, amount: int | float, title: str | None = None) -> None:
        """Count ``amount`` as done; ``title`` says what comes next, where that changed."""
        ...


def _silent(amount: int | float, title: str | None = None) -> None:
    pass


@contextmanager
def progress_bar(title: str, total: int | None, unit: str = "rows") -> Iterator[AdvanceBar]:
    """A bar with rate and time left on standard error; nothing when that is no terminal.

    Without a total it only counts.
    """
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    console = Console(stderr=True)
    if not console.is_terminal:
        yield _silent
        return
    rate = TextColumn("{task.fields[rate]}")
    name = TextColumn("{task.description}")
    with Progress(
        name, BarColumn(), MofNCompleteColumn(), rate, TimeLeft(), console=console
    ) as bar:
        task = bar.add_task(title, total=total, rate="")

        def advance(amount: int | float, title: str | None = None) -> None:
            speed = bar.tasks[0].speed
            shown = f"{speed:.1f} {unit}/s" if speed else ""
            bar.update(task, advance=amount, description=title, rate=shown)

        yield advance
