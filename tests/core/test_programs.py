"""A process lives, however many different programs it compiles."""

import subprocess
import sys

import jax
import numpy as np
import pytest

from mam.core import programs
from mam.core.programs import forget_old_programs, memory_maps, most_memory_maps

# Every pair of sizes is a structure of its own. They come round again, but by then their programs
# are forgotten, so that every call compiles, or loads what an earlier one left on the disk.
SOAK = """
import sys
import numpy as np
from mam import solve
from mam.core.programs import memory_maps
from mam.factors import Table
from mam.graph import GraphBuilder

most = 0
for call in range(int(sys.argv[1])):
    a, b = 2 + call % 120 // 38, 2 + call % 120 % 38
    builder = GraphBuilder()
    builder.variables("x", 1, a), builder.variables("y", 1, b)
    builder.add("t", Table.of([[0, 1]], np.arange(float(a * b)).reshape(a, b)))
    solution = solve(builder.build(), method="max-product", repair=False)
    assert solution.score == a * b - 1
    most = max(most, memory_maps())
print(most)
"""


def test_programs_are_forgotten_when_maps_run_short(monkeypatch: pytest.MonkeyPatch) -> None:
    assert memory_maps() < most_memory_maps()
    forget_old_programs()
    compiled = jax.jit(lambda x: x + 1)
    compiled(np.float32(1))
    assert compiled._cache_size() == 1
    monkeypatch.setattr(programs, "_NEW_PROGRAMS", 0)
    forget_old_programs()
    assert compiled._cache_size() == 1  # there are maps enough
    monkeypatch.setattr(programs, "most_memory_maps", lambda: 1)
    forget_old_programs()
    assert compiled._cache_size() == 0


@pytest.mark.slow
def test_a_thousand_calls_in_one_process() -> None:
    command = [sys.executable, "-c", SOAK, "1000"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert result.returncode == 0, result.stderr[-1000:]
    assert int(result.stdout) < 0.6 * most_memory_maps()
