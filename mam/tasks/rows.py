"""Rows of one kind: what a task reads from a data set."""

from collections.abc import Iterator
from typing import Any

from mam.data import rows_of


def rows_of_kind(source: str, kind: Any, what: str) -> Iterator[Any]:
    """The rows of a data set, each of which must be of a class, or of one of a union.

    A data set without rows is refused once it is read: no figure says anything of it.
    """
    number = -1
    for number, row in enumerate(rows_of(source)):
        if not isinstance(row, kind):
            raise ValueError(f"{source}: row {number} is no {what}")
        yield row
    if number < 0:
        raise ValueError(f"{source}: no rows in it")
