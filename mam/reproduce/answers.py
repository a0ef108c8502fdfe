"""Rows whose answers are drawn."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from mam.data import AnyRow


class ShownRow(NamedTuple):
    """A row whose answer is drawn."""

    number: int
    row: AnyRow
    verdict: str  # for the figure's caption


def some_rows(report: Mapping[str, Any], count: int) -> tuple[list[int], list[int]]:
    """The first rows that a report calls right, and the first it calls wrong.

    >>> some_rows({"n": 3, "errors": [1], "skipped": {"0": "no marker"}}, 2)
    ([2, 3], [1])
    """
    skipped = {int(row) for row in report["skipped"]}
    wrong = set(report["errors"])
    rows = [row for row in range(report["n"] + len(skipped)) if row not in skipped]
    right = [row for row in rows if row not in wrong]
    return right[:count], sorted(wrong)[:count]
