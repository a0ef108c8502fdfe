"""Worker processes: order, errors, how they end, and groupers that use them."""

import copy
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam import ContourGrouper, CurveGrouper
from mam.core.parcels import pack, unpack
from mam.core.workers import Workers, cores, worker_count
from mam.data import make_row, recipe
from mam.data.generate.charts import ChartsConfig, make_chart
from mam.tasks.pathfinder import INPUTS, predict
from mam.vision.images.discs import lift_discs
from mam.vision.parts.masks import Parts
from mam.vision.parts.sparsifier import Sparsifier


@pytest.fixture(scope="module")
def two() -> Iterator[Workers]:
    workers = Workers(2)
    yield workers
    workers.end()


def slow_square(number: int, seconds: float) -> int:
    time.sleep(seconds)
    return number**2


def refuse(number: int) -> int:
    if number == 3:
        raise ValueError(f"{number} is not wanted")
    return number


def die(number: int) -> int:
    if number == 2:
        os._exit(3)
    return number


def backend() -> str:
    import jax

    return jax.default_backend()


def heeds_ctrl_c(number: int) -> bool:
    return signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_answers_come_in_order_and_calls_are_made_a_little_ahead(two: Workers) -> None:
    made: list[int] = []

    def calls() -> Iterator[tuple[int, float]]:
        for number in range(12):
            made.append(number)
            yield number, 0.05 if number == 0 else 0.0

    ahead = []
    for place, found in enumerate(two.each(slow_square, calls())):
        assert found == place**2
        ahead.append(len(made) - place)
    assert 2 < max(ahead) <= 5 and made == list(range(12))


def test_an_error_of_a_worker_is_told_and_others_can_be_asked(two: Workers) -> None:
    with pytest.raises(ValueError, match="3 is not wanted"):
        list(two.each(refuse, [(number,) for number in range(9)]))
    assert list(two.each(refuse, [(1,), (2,)])) == [1, 2]


def test_a_worker_that_dies_is_told_and_new_ones_start(two: Workers) -> None:
    with pytest.raises(OSError, match="a worker process was ended, perhaps for want of memory"):
        list(two.each(die, [(number,) for number in range(6)]))
    assert list(two.each(die, [(0,), (1,)])) == [0, 1]


def test_ctrl_c_is_for_the_parent_alone() -> None:
    # In a process of its own: here Python's tracker of resources, which lets Ctrl-C through, runs.
    asking = (
        "from mam.core.workers import Workers; from tests.core.test_workers import heeds_ctrl_c\n"
        "if __name__ == '__main__':\n"
        "    workers = Workers(2)\n"
        "    print(list(workers.each(heeds_ctrl_c, [(k,) for k in range(4)])))\n"
        "    workers.end()\n"
    )
    done = subprocess.run([sys.executable, "-c", asking], capture_output=True, text=True)
    assert done.stdout == f"{[False] * 4}\n", done.stderr


def test_workers_leave_accelerators_alone(two: Workers) -> None:
    assert list(two.each(backend, [()])) == ["cpu"]


def test_who_stops_before_the_end_does_not_wait() -> None:
    workers = Workers(2)
    answers = workers.each(
        slow_square, [(number, 0.0 if number < 1 else 60.0) for number in range(9)]
    )
    assert next(answers) == 0
    begin = time.monotonic()
    answers.close()
    assert time.monotonic() - begin < 20 and workers._pool is None


@pytest.mark.parametrize(("jobs", "count"), [(None, 1), (1, 1), (7, 7), (-1, cores())])
def test_jobs_are_counted_as_scikit_learn_does(jobs: int | None, count: int) -> None:
    assert worker_count(jobs) == count
    assert worker_count(-cores() - 5) == 1


def same(one: Any, other: Any) -> bool:
    pairs = [(one.group, other.group), (one.on, other.on), (one.links.stroke, other.links.stroke)]
    alike = all(np.array_equal(left, right) for left, right in pairs)
    return alike and one.score == other.score and one.proof == other.proof


def test_contours_are_the_same_for_any_number_of_jobs() -> None:
    rows = [make_row(recipe("pathfinder", "hard", 6), number) for number in range(9)]
    lifted = [lift_discs(row.image, row.markers) for row in rows]
    images, hidden = [one.image for one in lifted], [one.hidden for one in lifted]
    grouper = ContourGrouper.load("contours")
    alone = grouper.predict(images, hidden)
    together = grouper.set_params(n_jobs=2).predict(images, hidden)
    assert len(alone) == len(together) == 9
    assert all(same(*both) for both in zip(alone, together, strict=True))
    grouper._kept_workers.end()


def test_curves_are_the_same_for_any_number_of_jobs() -> None:
    rows = [make_chart(ChartsConfig(cols=(360, 420)), 3, number)[0] for number in range(5)]
    masks, pictures = [row.mask for row in rows], [row.image for row in rows]
    pictures[2] = None
    grouper = CurveGrouper.load("curves")
    alone = grouper.predict(masks, pictures)
    together = grouper.set_params(n_jobs=2).predict(masks, pictures)
    assert all(same(*both) for both in zip(alone, together, strict=True))
    assert all((a.labels == b.labels).all() for a, b in zip(alone, together, strict=True))
    with pytest.raises(ValueError, match="5 images, but pictures of 4"):
        grouper.predict(masks, pictures[:4])
    grouper._kept_workers.end()


@pytest.mark.parametrize("input", INPUTS)
def test_rows_are_answered_alike_for_any_number_of_jobs(input: str) -> None:
    rows = [make_row(recipe("pathfinder", "hard", 6), number) for number in range(8)]
    grouper = ContourGrouper.load("contours")
    alone = predict(rows, grouper, input)
    assert predict(rows, grouper.set_params(n_jobs=2), input) == alone
    grouper._kept_workers.end()


def test_a_piece_names_its_images_by_their_numbers_in_the_whole() -> None:
    good = np.zeros((20, 20), np.uint8)
    with pytest.raises(ValueError, match="image 129"):
        ContourGrouper.load("contours").predict([good, np.full((20, 20), np.nan)], first=128)
    parts = Parts.load("pathfinder-parts")
    with pytest.raises(ValueError, match="image 129"):
        Sparsifier(parts).transform_by_seed(
            [good, good + np.arange(20, dtype=np.uint8)], [0], None, 128
        )


def test_groupings_can_be_copied_and_pickled() -> None:
    [found] = CurveGrouper.load("curves").predict([np.eye(40, 70, dtype=bool)])
    for again in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert same(found, again) and again.pixels.dtype == bool
        assert np.array_equal(again.pixels, found.pixels)
        assert np.array_equal(again.labels, found.labels)


@given(
    st.sampled_from([np.uint8, bool, np.float32, np.int64]),
    st.tuples(st.integers(0, 12), st.integers(0, 12)),
    st.sampled_from([0.0, 0.05, 0.5, 1.0]),
    st.integers(0, 99),
)
def test_what_is_packed_comes_out_as_it_was(
    kind: type, shape: tuple[int, int], share: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    pixels = (random.integers(1, 200, shape) * (random.random(shape) < share)).astype(kind)
    for image in (pixels, pixels.T, pixels[::2, 1::2]):
        again, name = unpack(pickle.loads(pickle.dumps(pack([image, "name"]))))
        assert name == "name" and again.dtype == image.dtype and np.array_equal(again, image)


def test_no_jobs_are_refused() -> None:
    with pytest.raises(ValueError, match="n_jobs must be a number of processes, or -1"):
        CurveGrouper.load("curves").set_params(n_jobs=0).predict([np.eye(9, dtype=bool)])


def test_an_image_that_is_refused_is_named_by_its_own_number() -> None:
    images = [np.zeros((40, 40), bool) for _ in range(140)]
    images[135][4:36, 4:36] = True
    grouper = ContourGrouper.load("contours")
    sparsifier = Sparsifier(grouper.parts, max_candidates=3)
    with pytest.raises(ValueError, match="image 135: "):
        sparsifier.transform(images)
    grouper._sparsifier.set_params(max_candidates=3)
    with pytest.raises(ValueError, match="image 135: "):
        grouper.predict([255 * image.astype(np.uint8) for image in images])
