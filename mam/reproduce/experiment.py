"""What every experiment is: scales, and how it is opened; then steps, a page and its figures."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from mam.reproduce.steps import Step, StepFolder

NONE: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Prepared:
    """An experiment of the paper at one scale, on given data."""

    store: StepFolder
    steps: list[Step]  # each after those it builds on
    page: Callable[[str], str]  # as HTML, with the command that it comes from; all steps done
    summary: Callable[[], dict[str, Any]]  # the figures, as JSON; likewise
    command: str = ""


@dataclass(frozen=True)
class Experiment:
    """An experiment of the paper: its scales by name, and how one of them is prepared.

    ``prepared`` is given the folder, the scale, its name in words, and, if any, the user's own data
    and the folder of rivals' figures.
    """

    scales: Mapping[str, Any]
    prepared: Callable[[StepFolder, Any, str, Path | None, Path | None], Prepared]


def changed(scale: Any, name: str, changes: Mapping[str, int]) -> tuple[Any, str]:
    """A scale with other numbers, and its name in words.

    >>> from mam.reproduce.plan import Scale
    >>> changed(Scale(9, 9, (3,)), "small", {"runs": 1})[1]
    'small with runs 1'
    """
    known = {field.name for field in fields(scale)}
    for wish in changes:
        if wish not in known:
            raise ValueError(f"this experiment has no number of {wish} to change")
    if not changes:
        return scale, name
    words = ", ".join(f"{wish} {count}" for wish, count in changes.items())
    return replace(scale, **changes), f"{name} with {words}"
