"""Curves of charts in the charts' own units."""

import csv
import io

import numpy as np
import pytest

from mam.show.drawing_files import FILES
from mam.tasks.chart_axes import parse_axes, series_of
from mam.tasks.drawing import group_drawing

AXES = "x: 0@52 100@430; y: 0@310 1@20"


def test_a_line_is_read_in_the_units_of_the_chart() -> None:
    axes = parse_axes(AXES)
    line = np.array([[310.0, 52], [20, 430]])
    found = series_of([line, line[:1] + np.array([[-10.0, 20], [-10, 60]])], axes)
    assert found.x[0] == 0 and found.x[-1] == 100 and len(found.x) == 379
    np.testing.assert_allclose(found.y[0], found.x / 100, atol=1e-9)
    there = ~np.isnan(found.y[1])
    assert there.sum() == 41 and there[20:61].all()
    np.testing.assert_allclose(found.y[1, there], 10 / 290)


def test_logarithmic_and_turned_axes() -> None:
    axes = parse_axes("y log: 1@100 1000@10; x: 9@0 0@90")
    found = series_of([np.array([[100.0, 0], [10, 90]])], axes)
    assert found.x[0] == 0 and found.x[-1] == 9 and (np.diff(found.x) > 0).all()
    np.testing.assert_allclose(np.log10(found.y[0]), 3 - found.x / 3)


def test_a_curve_that_turns_back_has_the_mean_of_its_rows() -> None:
    back = np.array([[0.0, 0], [0, 10], [6, 10], [6, 4]])
    found = series_of([back], parse_axes("x: 0@0 1@1; y: 0@0 1@1"))
    assert found.y[0, :4].tolist() == [0] * 4 and found.y[0, 5:9].tolist() == [3] * 4


@pytest.mark.parametrize(
    ("text", "say"),
    [
        ("x: 0@52 100@430", "two ticks an axis"),
        ("x: 0@52 100@430; y: 0@310", "two ticks an axis"),
        ("x: 0@52 100@430; x: 0@310 1@20", "two ticks an axis"),
        ("x: 0@a 100@430; y: 0@310 1@20", "two ticks an axis"),
        ("x: 0@52 100@52; y: 0@310 1@20", "ticks of x must differ"),
        ("x: 0@52 100@430; y log: 0@310 1@20", "values above 0"),
        ("", "two ticks an axis"),
    ],
)
def test_axes_that_are_none(text: str, say: str) -> None:
    with pytest.raises(ValueError, match=say):
        parse_axes(text)


def test_the_lines_of_a_chart_come_back_as_numbers() -> None:
    """Drawn with a frame, which the box cuts off, in two colours."""
    picture = np.full((340, 460, 3), 255, np.uint8)
    picture[[15, 315], 48:436] = picture[15:316, [48, 435]] = 0
    cols = np.arange(60, 425)
    true = [0.2 + 0.6 * (cols - 52) / 378, 0.75 - 0.5 * (cols - 52) / 378]
    for values, colour in zip(true, [(31, 119, 180), (255, 127, 14)], strict=True):
        rows = np.rint(310 - 290 * values).astype(int)
        for shift in (-1, 0, 1):
            picture[rows + shift, cols] = colour
    box = [[20, 52], [310, 430]]
    found = group_drawing(picture, axes=parse_axes(AXES), box=box)
    assert len(found.lines) == 2 and not found.ink.mask[:20].any()
    rows = list(csv.DictReader(io.StringIO(FILES[".csv"].write(found, "chart").decode())))
    x = np.array([float(row["x"]) for row in rows])
    for number in (1, 2):
        own = np.array([float(row[f"curve {number}"] or "nan") for row in rows])
        there = ~np.isnan(own)
        errors = [
            np.abs(own - np.interp(x, (cols - 52) / 3.78, values))[there].max() for values in true
        ]
        assert there.sum() > 350 and min(errors) < 1.5 / 290
    with pytest.raises(ValueError, match="the box 500,1 600,2 lies outside the picture"):
        group_drawing(picture, box=[[500, 1], [600, 2]])
