"""Lists whose entries are spread over several arrays of one length."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Shaped

_List = TypeVar("_List", bound="Columns")


@dataclass(frozen=True, eq=False)
class Columns:
    """A list; every field is an array with a row for each entry, such a list, or None.

    >>> @dataclass(frozen=True, eq=False)
    ... class Points(Columns):
    ...     place: np.ndarray
    ...     weight: np.ndarray | None = None
    >>> points = Points.joined([Points(np.eye(2)), Points(np.zeros((1, 2)))])
    >>> len(points), points.take(np.array([0, 2])).place.tolist(), points.weight
    (3, [[1.0, 0.0], [0.0, 0.0]], None)
    """

    def __len__(self) -> int:
        return len(self._columns()[0])

    def take(self: _List, which: Shaped[np.ndarray, " some"] | slice) -> _List:
        """Return some of the entries."""
        return type(self)(*(_taken(values, which) for values in self._columns()))

    @classmethod
    def joined(cls: type[_List], several: Sequence[_List]) -> _List:
        """Return all entries of several lists, one list after another."""
        columns = zip(*(some._columns() for some in several), strict=True)
        return cls(*(_joined(values) for values in columns))

    def _columns(self) -> list[Any]:
        return [getattr(self, field.name) for field in fields(self)]


def _taken(values: Any, which: Shaped[np.ndarray, " some"] | slice) -> Any:
    if values is None:
        return None
    return values.take(which) if isinstance(values, Columns) else values[which]


def _joined(several: Sequence[Any]) -> Any:
    """A column of which a list knows nothing is not known of all together."""
    if any(values is None for values in several):
        return None
    first = several[0]
    return type(first).joined(several) if isinstance(first, Columns) else np.concatenate(several)
