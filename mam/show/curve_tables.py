"""Curves of drawings as tables: a row a curve, a row a point, or of charts a column a curve."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mam.core.words import spreadsheet_text
from mam.tasks.chart_axes import ChartAxes, series_of
from mam.tasks.drawing import Drawing
from mam.vision.curves.facts import table_of


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """A table as a spreadsheet reads it; what is None is empty, and no name becomes a formula."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(columns)
    for row in rows:
        table.writerow([spreadsheet_text(one) if isinstance(one, str) else one for one in row])
    # Names of files need not be text.
    return text.getvalue().encode(errors="backslashreplace")


def curve_table(found: Drawing) -> dict[str, list]:
    """The columns of the table with a row a curve; lengths in ``unit``, places in pixels."""
    length, unit = found.pixel_size or (1.0, "px")
    table = table_of(found.facts, length)
    return table | {"unit": [unit] * len(table["curve"])}


def table_rows(table: Mapping[str, Sequence[Any]]) -> list[tuple[Any, ...]]:
    """The rows of a table that is given by its columns."""
    return list(zip(*table.values(), strict=True))


def csv_file(found: Drawing, name: str) -> bytes:
    """One row a curve; of a chart with known axes one row an x and one column a curve."""
    if found.axes is not None:
        return _series(found, found.axes)
    table = curve_table(found)
    return as_csv(list(table), table_rows(table))


def _series(found: Drawing, axes: ChartAxes) -> bytes:
    series = series_of(found.lines, axes)
    names = ["x", *(f"curve {number}" for number in range(1, len(found.lines) + 1))]
    rows = (
        [f"{x:.6g}", *("" if np.isnan(one) else f"{one:.6g}" for one in values)]
        for x, values in zip(series.x, series.y.T, strict=True)
    )
    return as_csv(names, rows)


def points_file(found: Drawing, name: str) -> bytes:
    """One row a point: the number of its curve, its own, row and column in pixels."""
    rows = (
        [number, k, f"{row:.2f}", f"{col:.2f}"]
        for number, line in enumerate(found.lines, 1)
        for k, (row, col) in enumerate(line.tolist(), 1)
    )
    return as_csv(["curve", "point", "row", "column"], rows)
