"""The first picture of a process: few modules are loaded, and nothing is compiled."""

import json
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest
from PIL import Image

from mam.data import make_row, recipe
from tests.tasks.test_many_sizes import picture

MOST_SECONDS = 6.0  # of the CPU; 1.3 on a usual machine
SLOW_TO_LOAD = ("scipy.stats", "scipy.signal", "scipy.optimize", "scipy.interpolate", "pyarrow")
GROUP = """
import json, sys, time
import jax
compiled = []
jax.monitoring.register_event_duration_secs_listener(
    lambda event, seconds, **about: compiled.append(event) if "backend_compile" in event else None
)
from mam.cli import app
try:
    app(["group", sys.argv[1], "--json", "--out", sys.argv[1] + ".svg"])
except SystemExit as ended:
    assert not ended.code, ended.code
loaded = sorted(set(sys.modules) & set(sys.argv[2].split(",")))
told = {"loaded": loaded, "compiled": len(compiled), "seconds": time.process_time()}
print(json.dumps(told))
"""


def discs() -> np.ndarray:
    return make_row(recipe("pathfinder", "hard", 1), 24).image


@pytest.mark.skipif(jax.default_backend() != "cpu", reason="an accelerator prunes by programs")
@pytest.mark.parametrize("shown", ["strokes", "discs", "lines"])
def test_a_small_picture_is_grouped_soon(shown: str, tmp_path: Path) -> None:
    pixels = discs() if shown == "discs" else picture(0 if shown == "strokes" else 1)
    path = tmp_path / "picture.png"
    Image.fromarray(pixels).save(path)
    command = [sys.executable, "-c", GROUP, str(path), ",".join(SLOW_TO_LOAD)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    answer, told = map(json.loads, ran.stdout.strip().splitlines()[-2:])
    assert answer["curves"] and told["compiled"] == 0
    # Islands beyond listing and sets of few ask HiGHS, which is in scipy.optimize.
    assert shown == "discs" or told["loaded"] == []
    assert told["seconds"] < MOST_SECONDS
