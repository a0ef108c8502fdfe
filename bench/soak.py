"""`mam group` for days: pictures of mixed sizes in one process, its memory and its programs.

python -m bench.soak [PICTURES]
"""

import ctypes
import gc
import sys
import tempfile
import time
from pathlib import Path

import jax
import numpy as np

from mam.core.whole_files import write_whole
from mam.data import CurvesConfig, make_curves, make_row, recipe
from mam.show.drawing_files import FILES
from mam.tasks.drawing import group_drawing

_TOLD = 1000  # pictures between two lines
_POOL = 60  # pictures that are made; those that are grouped are cut out of them


def _pool() -> list[tuple[str, np.ndarray]]:
    """Pictures of dashes and of lines, of many sizes."""
    dashes = recipe("pathfinder", "hard", 5)
    found = []
    for number in range(_POOL):
        found.append(("contours", make_row(dashes, number).clean))  # type: ignore[union-attr]
        side = 200 + 15 * number
        config = CurvesConfig(rows=side, cols=side, curves=(3, 3), width=(4, 8))
        mask = make_curves(config, 0, number).mask
        found.append(("curves", np.where(mask, 255, 0).astype(np.uint8)))
    return found


def _cut(pool: list[tuple[str, np.ndarray]], rng: np.random.Generator) -> tuple[str, np.ndarray]:
    """A picture of any size around something drawn: mostly small, one in fifty whole."""
    model, whole = pool[rng.integers(len(pool))]
    if rng.random() < 0.02:
        return model, whole
    size = np.exp(rng.uniform(np.log(40), np.log(130), 2)).astype(int)
    middle = rng.choice(np.argwhere(whole))
    top, left = np.clip(middle - size // 2, 0, whole.shape - size)
    return model, whole[top : top + size[0], left : left + size[1]]


def _resident() -> float:
    """Megabytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def _settled() -> float:
    """The same, without what the allocators hold and nobody uses."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return _resident()


def main(count: int = 2000) -> None:
    compiled = 0

    def listen(event: str, duration_secs: float, **details: object) -> None:
        nonlocal compiled
        compiled += event.endswith("backend_compile_duration")

    jax.monitoring.register_event_duration_secs_listener(listen)
    pool, rng = _pool(), np.random.default_rng(0)
    refused, begin = 0, time.perf_counter()
    print("pictures  seconds  MB  MB settled  programs  refused", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, count + 1):
            model, picture = _cut(pool, rng)
            try:
                found = group_drawing(picture, model=model)
                for ending in (".png", ".svg") if number % 20 == 0 else ():
                    write_whole(
                        Path(folder) / f"curves{ending}", FILES[ending].write(found, "a picture")
                    )
            except ValueError:  # nothing is drawn in this corner
                refused += 1
            if number % _TOLD == 0 or number == count:
                memory = f"{_resident():.0f}  {_settled():.0f}"
                spent = time.perf_counter() - begin
                print(f"{number}  {spent:.0f}  {memory}  {compiled}  {refused}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
