"""Rows whose answers are drawn."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mam.data import AnyRow


class ShownRow(NamedTuple):
    """A row whose answer is drawn."""

    number: int
    row: AnyRow
    verdict: str  # for the figure's caption


def some_rows(
    report: Mapping[str, Any], count: int, kinds: Sequence[str] | None = None
) -> tuple[list[int], list[int]]:
    """The first rows that a report calls right, and the first it calls wrong.

    With ``kinds``, one for each row, they are of as many kinds as there are.

    >>> report = {"n": 3, "errors": [1], "skipped": {"0": "no marker"}}
    >>> some_rows(report, 2), some_rows(report, 1, "abba")
    (([2, 3], [1]), ([2], [1]))
    >>> some_rows({"n": 4, "errors": [], "skipped": {}}, 2, ["a", "a", "b", "b"])
    ([0, 2], [])
    """
    skipped = {int(row) for row in report["skipped"]}
    wrong = set(report["errors"])
    rows = [row for row in range(report["n"] + len(skipped)) if row not in skipped]
    right = [row for row in rows if row not in wrong]
    return _varied(right, kinds)[:count], _varied(sorted(wrong), kinds)[:count]


def _varied(rows: list[int], kinds: Sequence[str] | None) -> list[int]:
    """The first row of every kind, then the second of each, and so on."""
    if kinds is None:
        return rows
    seen = Counter[str]()
    turn = {}
    for row in rows:
        turn[row] = seen[kinds[row]]
        seen[kinds[row]] += 1
    return sorted(rows, key=turn.__getitem__)
