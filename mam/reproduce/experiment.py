"""What every experiment offers: steps, and when they are done, a page and its figures."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from mam.reproduce.steps import Step, Store

This = TypeVar("This", bound="Experiment")


@dataclass(frozen=True, eq=False)
class Experiment(ABC):
    """An experiment of the paper at one scale, on given data."""

    store: Store

    @classmethod
    @abstractmethod
    def at(cls: type[This], scale: str, folder: Path, data: Path | None = None) -> This:
        """The experiment at a named scale, kept in a folder, on generated or given data."""

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


def with_needs(step: Step) -> list[Step]:
    """The step after all that it builds on."""
    return [*(one for need in step.needs for one in with_needs(need)), step]
