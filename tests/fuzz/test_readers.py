"""Readers of data answer anything: what is in it, or an error that names the file."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import measured
from tests.fuzz.data_kinds import DATA
from tests.fuzz.kinds import LOADS
from tests.fuzz.mad_bytes import mutated
from tests.fuzz.run_kinds import RUNS
from tests.fuzz.test_model_files import FEW as FEW_MODELS
from tests.fuzz.test_model_files import MANY as MANY_MODELS

KINDS = DATA | RUNS
FEW, MANY = 15, 200  # of each kind


@pytest.mark.filterwarnings("ignore::UserWarning")  # Pillow's, of metadata that nobody reads
@pytest.mark.parametrize("count", [FEW, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", KINDS)
def test_mutated_files_are_read_or_refused(name: str, count: int, tmp_path: Path) -> None:
    pytest.importorskip("dask_jobqueue" if name == "queue" else "numpy")
    kind = KINDS[name]
    files = kind.make(tmp_path)
    whole = {path: path.read_bytes() for path in files}
    assert measured.answer(kind.read, tmp_path) == "read"
    said: Counter[str] = Counter()
    for seed in range(count):
        rng = np.random.default_rng([count, seed])
        path = files[rng.integers(len(files))]
        path.write_bytes(kind.mend(mutated(whole[path], rng, kind.text)))
        try:
            said[measured.answer(kind.read, tmp_path)] += 1
        except Exception as error:
            raise AssertionError(f"{path.name}, count {count}, seed {seed}: {error!r}") from error
        path.write_bytes(whole[path])
    print(said)
    assert not kind.refuses or said["refused"] > 0.05 * count


def test_as_many_files_as_the_page_tells() -> None:
    few, many = (
        len(KINDS) * own + len(LOADS) * models
        for own, models in ((FEW, FEW_MODELS), (MANY, MANY_MODELS))
    )
    print(few, many)
    assert few >= 500 and many >= 10_000
    page = Path(__file__).parents[2] / "docs" / "results.md"
    told = re.search(r"slow`: ([\d,]+) mutated files of (\d+) kinds", page.read_text())
    assert told is not None
    assert told.groups() == (f"{many:,}", str(len(KINDS) + len(LOADS)))


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
def test_memory_is_measured_for_each_file(tmp_path: Path) -> None:
    def takes(size: float) -> None:
        np.ones(int(size), np.uint8)

    for _ in range(2):  # the second is no larger than the first
        with pytest.raises(AssertionError):
            measured.answer(lambda path: takes(1.2 * measured.MOST_BYTES), tmp_path)
        assert measured.answer(lambda path: takes(0.5 * measured.MOST_BYTES), tmp_path) == "read"
