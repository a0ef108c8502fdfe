"""What looks at ON pixels alone, against filters over all pixels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from mam.vision.images import thin_masks
from mam.vision.images.thin_masks import box_of, depths, grown, pinholes, places, ridges

FOUR, EIGHT = ndimage.generate_binary_structure(2, 1), np.ones((3, 3), bool)


def blobs(seed: int) -> np.ndarray:
    """Blobs and lines of any size, with holes, up to the picture's edge; now and then none."""
    random = np.random.default_rng(seed)
    noise = random.random(random.integers(1, 40, 2))
    smooth = ndimage.uniform_filter(noise, int(random.integers(1, 5)))
    return smooth > random.uniform(0.3, 0.7)


@settings(max_examples=100)
@given(st.integers(0, 10**6))
def test_each_is_what_a_filter_says(seed: int) -> None:
    mask = blobs(seed)
    assert places(mask).tolist() == np.argwhere(mask).tolist()
    assert (grown(mask) == ndimage.binary_dilation(mask, EIGHT)).all()
    deep = ndimage.distance_transform_edt(np.pad(mask, 1))[1:-1, 1:-1]
    assert (depths(mask) == deep).all()
    assert (ridges(deep) == ((deep > 0) & (deep >= ndimage.maximum_filter(deep, 3)))).all()
    label, _ = ndimage.label(~mask, FOUR)
    small = np.bincount(label.ravel()) <= 2
    small[0] = False
    assert (pinholes(mask) == small[label]).all()


@given(st.integers(0, 10**6))
def test_a_box_holds_all_and_touches_them(seed: int) -> None:
    mask = blobs(seed)
    inner = mask[box_of(mask)]
    assert inner.sum() == mask.sum()
    if mask.any():
        assert inner[0].any() and inner[-1].any() and inner[:, 0].any() and inner[:, -1].any()


def test_thick_ink_is_measured_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    mask = blobs(11)
    known = depths(mask)
    monkeypatch.setattr(thin_masks, "_LOOKS", 0)
    assert mask.any() and (depths(mask) == known).all()
