"""What is done with every picture or row: a job."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

from mam.scale.content import content_digest


class Item(NamedTuple):
    """A picture, by its path, a row of a data set, or an element of a bag."""

    name: str  # the picture's path, FILE#ROW, or partition-NUMBER#ELEMENT
    value: Any


class ItemAnswer(NamedTuple):
    """What a job says of an item: JSON, or why it has no answer."""

    value: Mapping[str, Any] | None = None
    error: str | None = None


AnswerItems = Callable[[Sequence[Item]], list[ItemAnswer]]


@runtime_checkable
class ShardJob(Protocol):
    """Work that can be sent to another process: a dataclass of plain settings.

    The answer to an item depends on the item, the settings and the models alone, not on the items
    beside it: so it does not matter how many there are at once, and where.
    """

    @property
    def models(self) -> tuple[str, ...]:
        """The model files, by path or bundled name; they are sent once to each worker."""
        ...

    @property
    def batch(self) -> int:
        """How many items it is best given at a time."""
        ...

    def settings(self) -> Mapping[str, Any]:
        """All that an answer depends on besides the models, as JSON."""
        ...

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        """Load the models, whose files are given, and return what answers items."""
        ...


@dataclass(frozen=True, eq=False)
class EstimatorJob:
    """``predict`` of an estimator over pictures: what ``describe`` makes of each answer.

    ``read`` makes of an item what ``predict`` takes: an item is the path of a picture, a row of a
    data set, or an element of a bag. The estimator is sent once to each worker, as it is, so it and
    both functions must be known to the workers by import.
    """

    estimator: Any
    describe: Callable[[Any], Mapping[str, Any]]
    read: Callable[[Any], Any]
    batch: int = 16
    models: tuple[str, ...] = field(default=(), init=False)

    def settings(self) -> Mapping[str, Any]:
        """The estimator's parameters, and digests of what it has learned and of both functions."""
        functions = {"describe": self.describe, "read": self.read}
        return {
            "estimator": re.sub(" at 0x[0-9a-f]+", "", repr(self.estimator)),
            "learned": content_digest(self.estimator),
            **{name: f"{_name(one)} {content_digest(one)[:16]}" for name, one in functions.items()},
        }

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        """Predict a batch at a time."""

        def work(items: Sequence[Item]) -> list[ItemAnswer]:
            found = self.estimator.predict([self.read(item.value) for item in items])
            return [ItemAnswer(self.describe(one)) for one in found]

        return work


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", type(function).__qualname__)
