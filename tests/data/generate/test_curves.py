"""The curves generator keeps its promises on every row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from mam.data import CurvesConfig, make_curves
from mam.data.generate.curves import LEVELS
from mam.data.raster import distance_to

rows = st.integers(0, 10_000)


@settings(max_examples=20)
@given(st.sampled_from(sorted(LEVELS)), rows)
def test_labels_live_on_the_mask(level: str, row: int) -> None:
    config = LEVELS[level]
    made = make_curves(config, 0, row)
    assert not made.labels[~made.mask].any()
    assert made.labels.max() <= config.curves[1]
    if not config.noise:
        assert np.array_equal(made.labels > 0, made.mask)


@settings(max_examples=20)
@given(st.integers(2, 24), rows)
def test_curves_have_the_width_asked_for(width: int, row: int) -> None:
    config = CurvesConfig(
        curves=(1, 1), width=(width, width), bend=0.0, length=(0.2, 0.2)
    )  # too short to cross itself
    mask = make_curves(config, 0, row).mask
    inside = distance_to(~np.pad(mask, 1))
    # Half the width at the middle line; a pixel's centre may miss it by half a pixel.
    assert np.quantile(inside[inside > 0], 0.98) == pytest.approx(width / 2, abs=1.5)


@given(rows)
def test_a_plain_single_curve_is_in_one_piece(row: int) -> None:
    made = make_curves(CurvesConfig(curves=(1, 1)), 1, row)
    assert ndimage.label(made.mask, np.ones((3, 3)))[1] == 1


def test_the_upper_curve_owns_the_crossing() -> None:
    # The last curve is drawn over all others: alone or not, its pixels are the same.
    for row in range(10):
        made = make_curves(CurvesConfig(curves=(3, 3)), 2, row)
        top = made.labels == 3
        assert ndimage.label(top, np.ones((3, 3)))[1] == 1


def test_gaps_cut_the_lower_curve_only() -> None:
    cut = plain = 0
    for row in range(10):
        without = make_curves(CurvesConfig(curves=(3, 3)), 3, row)
        with_gaps = make_curves(CurvesConfig(curves=(3, 3), gaps=True), 3, row)
        gone = without.mask & ~with_gaps.mask
        assert not (with_gaps.mask & ~without.mask).any()
        kept = with_gaps.labels[with_gaps.mask]
        assert np.array_equal(kept, without.labels[with_gaps.mask])
        # One pixel wide: nothing survives an erosion.
        assert not ndimage.binary_erosion(gone, np.ones((3, 3))).any()
        cut += int(gone.any())
        plain += int(ndimage.label(with_gaps.mask)[1] > ndimage.label(without.mask)[1])
    assert cut >= 8 and plain >= 5


def test_breaks_and_noise_change_what_they_say() -> None:
    plain = make_curves(CurvesConfig(curves=(2, 2)), 4, 0)
    broken = make_curves(CurvesConfig(curves=(2, 2), breaks=4.0), 4, 0)
    assert broken.mask.sum() < plain.mask.sum()
    noisy = make_curves(CurvesConfig(curves=(2, 2), noise=0.05), 4, 0)
    flipped = (noisy.mask ^ plain.mask).mean()
    assert flipped == pytest.approx(0.05, abs=0.005)


@pytest.mark.parametrize(
    "wrong",
    [{"curves": (0, 2)}, {"curves": (2, 9)}, {"width": (1, 4)}, {"noise": 0.6}, {"rows": 10}],
    ids=str,
)
def test_wrong_configurations_are_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"must|needed|needs"):
        CurvesConfig(**wrong)
