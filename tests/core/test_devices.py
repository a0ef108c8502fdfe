"""Which programs run where."""

from types import SimpleNamespace

import jax
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mam.core.devices import on_one_gpu, warps


@pytest.mark.parametrize(
    ("several", "taken"),
    [
        (["9.0"], True),
        (["8.0"], True),
        (["7.5"], False),  # Triton is for what came after
        (["gfx942"], True),  # others number theirs differently
        (["9.0", "9.0"], False),
    ],
)
def test_a_gpu_takes_programs(
    monkeypatch: pytest.MonkeyPatch, several: list[str], taken: bool
) -> None:
    assert not on_one_gpu()  # tests run on a CPU
    gpus = [SimpleNamespace(platform="gpu", compute_capability=one) for one in several]
    monkeypatch.setattr(jax, "devices", lambda: gpus)
    assert on_one_gpu() == taken


@given(st.integers(0, 20), st.integers(0, 7))
def test_programs_have_no_more_warps_than_a_gpu_runs(lanes: int, each: int) -> None:
    assert 1 <= warps(2**lanes, 2**each) <= 32
    assert warps(4096, 64) == 32 and warps(1024, 64) == 16
