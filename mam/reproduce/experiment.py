"""What every experiment offers: steps, and when they are done, a page and its figures."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from mam.reproduce.steps import Step, StepFolder

NONE: Mapping[str, int] = MappingProxyType({})
This = TypeVar("This", bound="Experiment")


@dataclass(frozen=True, eq=False)
class Experiment(ABC):
    """An experiment of the paper at one scale, on given data."""

    store: StepFolder

    scales: ClassVar[Mapping[str, Any]]  # by name

    @classmethod
    def at(
        cls: type[This],
        scale: str,
        folder: Path,
        data: Path | None = None,
        changes: Mapping[str, int] = NONE,
    ) -> This:
        """The experiment at a named scale, kept in a folder, on generated or given data.

        ``changes`` are other numbers than the scale's.
        """
        size, name = changed(cls.scales[scale], scale, changes)
        return cls.prepared(StepFolder(folder), size, name, data)

    @classmethod
    @abstractmethod
    def prepared(
        cls: type[This], store: StepFolder, size: Any, name: str, data: Path | None
    ) -> This:
        """The experiment of a given size, with its data sets."""

    @abstractmethod
    def steps(self) -> list[Step]:
        """All steps, each after those it builds on."""

    @abstractmethod
    def page(self) -> str:
        """The page, as HTML; every step must be done."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """The figures, as JSON."""

    def seconds(self, steps: Sequence[Step]) -> float:
        """The time that finished steps took when they were done."""
        return sum(found.seconds for step in steps if (found := self.store.record(step)))


def changed(scale: Any, name: str, changes: Mapping[str, int]) -> tuple[Any, str]:
    """A scale with other numbers, and its name in words.

    >>> from mam.reproduce.study import Scale
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


def with_needs(step: Step) -> list[Step]:
    """The step after all that it builds on."""
    return [*(one for need in step.needs for one in with_needs(need)), step]
