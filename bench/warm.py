"""`mam group` in a process that has grouped a picture before: every picture of another size."""

import tempfile
import time
from pathlib import Path

import jax
import numpy as np

from mam.core.whole_files import write_whole
from mam.data import CurvesConfig, make_curves, make_row, recipe
from mam.show.drawing_files import FILES
from mam.tasks.drawing import group_drawing

SIZES = ((311, 302), (420, 333), (305, 517), (600, 480))


def _dashes(number: int, shape: tuple[int, int]) -> np.ndarray:
    """A hard contour image on a larger ground."""
    clean = make_row(recipe("pathfinder", "hard", 5), number).clean  # type: ignore[union-attr]
    ground = np.zeros(shape, np.uint8)
    ground[: clean.shape[0], : clean.shape[1]] = clean
    return ground


def _lines(number: int, shape: tuple[int, int]) -> np.ndarray:
    made = CurvesConfig(rows=shape[0], cols=shape[1], curves=(3, 3), width=(5, 8))
    return np.where(make_curves(made, 0, number).mask, 255, 0).astype(np.uint8)


def _grouped(picture: np.ndarray, model: str, folder: Path) -> tuple[float, float]:
    """Seconds by the clock, and of the CPU."""
    start = time.perf_counter(), time.process_time()
    found = group_drawing(picture, model=model)
    for ending in (".png", ".svg"):
        write_whole(folder / f"curves{ending}", FILES[ending].write(found, "the picture"))
    return time.perf_counter() - start[0], time.process_time() - start[1]


def main() -> None:
    compiled = 0

    def listen(event: str, duration: float, **details: object) -> None:
        nonlocal compiled
        compiled += event.endswith("backend_compile_duration")

    jax.monitoring.register_event_duration_secs_listener(listen)
    print(f"mam group, picture by picture, on {jax.devices()[0].device_kind}:")
    with tempfile.TemporaryDirectory() as folder:
        for model, make in (("contours", _dashes), ("curves", _lines)):
            first, _ = _grouped(make(0, (300, 300)), model, Path(folder))
            before, times = compiled, []
            for number, shape in enumerate(SIZES, 1):
                times.append(_grouped(make(number, shape), model, Path(folder)))
            each = ", ".join(f"{spent:.2f} ({own:.2f})" for spent, own in times)
            print(
                f"  {model}: {first:.2f} s the first, then {each} s (of the CPU) for new sizes,"
                f" {compiled - before} new programs"
            )


if __name__ == "__main__":
    main()
