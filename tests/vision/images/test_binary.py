"""Images of all sizes in arrays of few."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from mam.vision.images.binary import padded_batches

SIZES = st.sampled_from([(1,), (4,), (1, 4, 16), (2, 8)])


@given(st.lists(st.tuples(st.integers(1, 70), st.integers(1, 70)), max_size=20), SIZES)
def test_all_images_are_in_batches_as_small_as_can_be(
    shapes: list[tuple[int, int]], sizes: tuple[int, ...]
) -> None:
    images = [np.full(shape, number, np.int16) for number, shape in enumerate(shapes)]
    found = []
    for numbers, batch in padded_batches(images, sizes, np.int16(-1)):
        assert len(batch) == min(size for size in sizes if size >= len(numbers))
        assert (batch[len(numbers) :] == -1).all()
        for number, canvas in zip(numbers.tolist(), batch, strict=False):
            rows, cols = shapes[number]
            assert (canvas[:rows, :cols] == number).all()
            assert (canvas == number).sum() == rows * cols
        found += numbers.tolist()
    assert sorted(found) == list(range(len(images)))
