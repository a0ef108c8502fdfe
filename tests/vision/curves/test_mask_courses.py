"""Middle lines from masks."""

import numpy as np

from mam.data.generate.charts import ChartsConfig, make_chart
from mam.vision.curves.strands.mask_courses import courses_of


def test_the_lines_of_a_chart_come_back() -> None:
    row, lines = make_chart(ChartsConfig(points=(4, 9), curves=(2, 2)), seed=0, row=3)
    assert row.masks is not None
    found = courses_of(row.masks)
    assert len(found) == len(lines)
    for one, line in zip(found, lines, strict=True):
        tips = np.sort(np.asarray(one)[[0, -1], 1])
        np.testing.assert_allclose(tips, [line[:, 1].min(), line[:, 1].max()], atol=6)


def test_a_curve_that_crosses_itself_is_left_out() -> None:
    mask = np.zeros((100, 100), bool)
    mask[48:52, 5:95], mask[5:95, 48:52] = True, True
    assert courses_of(mask[None]) == []
    assert courses_of(np.zeros((1, 9, 9), bool)) == []
