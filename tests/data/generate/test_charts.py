"""The generator of charts keeps its promises on every row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import KDTree

from mam.data.generate.charts import ChartsConfig, make_chart

SMALL = ChartsConfig(rows=(60, 90), cols=(80, 120), points=(4, 20))
rows = st.integers(0, 10_000)


def test_a_row_is_the_same_whatever_was_made_before() -> None:
    forwards = [make_chart(SMALL, 5, row) for row in range(4)]
    backwards = [make_chart(SMALL, 5, row) for row in reversed(range(4))][::-1]
    for (one, lines), (other, again) in zip(forwards, backwards, strict=True):
        for name in ("mask", "labels", "masks", "image"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert all(np.array_equal(a, b) for a, b in zip(lines, again, strict=True))
    other = make_chart(SMALL, 6, 0)[0]
    assert not np.array_equal(forwards[0][0].mask, other.mask)
    assert not np.array_equal(forwards[0][0].mask, forwards[1][0].mask)


@settings(max_examples=30, deadline=None)
@given(rows)
def test_labels_are_pixels_of_one_line_alone(row: int) -> None:
    made, lines = make_chart(SMALL, 0, row)
    assert made.masks is not None and made.image is not None
    assert len(made.masks) == len(lines) and 2 <= len(lines) <= 6
    for place, label in np.ndenumerate(made.labels):
        owners = [k for k, mask in enumerate(made.masks, 1) if mask[place]]
        assert label == (owners[0] if len(owners) == 1 else 0)
        assert made.mask[place] == bool(owners)
    assert made.image.shape == (*made.mask.shape, 3)
    assert 60 <= made.mask.shape[0] <= 90 and 80 <= made.mask.shape[1] <= 120


@settings(max_examples=30, deadline=None)
@given(rows)
def test_ink_lies_along_the_lines(row: int) -> None:
    made, lines = make_chart(SMALL, 0, row)
    assert made.masks is not None and made.image is not None
    whole = []
    for mask, line in zip(made.masks, lines, strict=True):
        assert (np.diff(line[:, 1]) >= 0).all()  # a line has one value at each place
        assert (line >= 10 - 1e-6).all() and (line <= np.array(mask.shape) - 10 + 1e-6).all()
        at = np.linspace(0, len(line) - 1, 4000)
        dense = np.stack([np.interp(at, np.arange(len(line)), axis) for axis in line.T], 1)
        whole.append(dense)
        assert KDTree(dense).query(np.argwhere(mask))[0].max() <= SMALL.width[1]
        assert KDTree(np.argwhere(mask)).query(dense)[0].max() <= 2
    # Sharp corners of printed lines reach a little further.
    inked = np.argwhere((made.image < 250).any(2))
    assert KDTree(np.concatenate(whole)).query(inked)[0].max() <= 5


@pytest.mark.parametrize("side", ["rows", "cols", "curves", "width"])
def test_sizes_may_be_fixed(side: str) -> None:
    fixed = {"rows": 70, "cols": 100, "curves": 3, "width": 2}[side]
    config = ChartsConfig(**{**vars(SMALL), side: (fixed, fixed)})
    made, lines = make_chart(config, 1, 0)
    assert made.masks is not None
    sizes = {"rows": made.mask.shape[0], "cols": made.mask.shape[1], "curves": len(lines)}
    assert sizes.get(side, fixed) == fixed and made.masks.any((1, 2)).all()
