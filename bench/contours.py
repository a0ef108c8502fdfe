"""Hard images (300 x 300) a second, from image to answer, stage by stage; compilations counted.

Of the first pass, in which islands are new, and of a second one; then by a process for each core.
On a machine that others use CPU time tells more than the clock.
"""

import time
from collections.abc import Callable
from typing import TypeVar

import jax
import numpy as np

from mam.core.workers import Workers, cores
from mam.data import CurvesConfig, PathfinderRow, make_curves, make_row, recipe
from mam.tasks.pathfinder import predict
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.poses import find_poses
from mam.vision.curves.strokes.stroke_pairs import find_pairs
from mam.vision.parts.sparsifier import Sparsifier

_T = TypeVar("_T")


def _row(number: int) -> PathfinderRow:
    return make_row(recipe("pathfinder", "hard", 5), number)  # type: ignore[return-value]


def _ropes(number: int) -> np.ndarray:
    """The mask of three ropes in a photograph of 896 x 672 px."""
    photograph = CurvesConfig(rows=672, cols=896, curves=(3, 3), width=(10, 14), bend=0.006)
    return make_curves(photograph, 0, number).mask


def _made(make: Callable[[int], _T], count: int) -> list[_T]:
    """What a process for each core makes."""
    return list(Workers(cores()).each(make, ((number,) for number in range(count))))


def _once(function: Callable[[], object]) -> tuple[float, float, object]:
    """Seconds by the clock, of this process's CPU, and what was found."""
    start = time.perf_counter(), time.process_time()
    found = function()
    return time.perf_counter() - start[0], time.process_time() - start[1], found


def _timed(function: Callable[[], object]) -> tuple[float, object]:
    """Seconds of the CPU of a second call."""
    function()
    _, spent, found = _once(function)
    return spent, found


def _judged(answers: object, rows: list[PathfinderRow]) -> str:
    """How many answers are right, and how many proved."""
    found = list(zip(answers, rows, strict=True))  # type: ignore[call-overload]
    right = np.mean([answer.same == bool(row.label) for answer, row in found])
    proved = np.mean([bool(answer.proof) for answer, _ in found])
    return f"{100 * right:.1f} % right, {100 * proved:.1f} % proved"


def main(count: int | None = None) -> None:
    on_cpu = jax.default_backend() == "cpu"
    count = count or (256 if on_cpu else 512 * cores())
    rows = _made(_row, count)
    compiled = 0

    def listen(event: str, duration: float, **details: object) -> None:
        nonlocal compiled
        compiled += event.endswith("backend_compile_duration")

    jax.monitoring.register_event_duration_secs_listener(listen)
    print(f"contours, {count} hard images on {jax.devices()[0].device_kind}:")
    for input in ("clean", "image"):
        for jobs in (1, cores()):
            grouper = ContourGrouper.load("contours").set_params(n_jobs=jobs)
            some = rows[: len(rows) if jobs > 1 else 3000]
            for which in ("first", "second"):
                spent, own, answers = _once(
                    lambda input=input, by=grouper, some=some: predict(some, by, input)
                )
                print(f"  {input}, n_jobs {jobs}, {which} pass:", end=" ")
                print(f"{len(some) / spent:.1f} images/s", end=", ")
                print(f"{1e3 * own / len(some):.2f} ms of the CPU each,")
                print(f"    {_judged(answers, some)}, {compiled} compilations so far")
    grouper = ContourGrouper.load("contours")
    parts, rows, count = grouper.parts, rows[:1024], min(count, 1024)
    weights = [np.where(row.clean > 26, row.clean, 0) for row in rows]
    sparsifier = Sparsifier(parts)
    sparse, placements = _timed(lambda: sparsifier.transform([w > 0 for w in weights]))
    pose, poses = _timed(lambda: find_poses(weights, placements, parts))  # type: ignore
    pair, _ = _timed(lambda: find_pairs(poses, 18.0))  # type: ignore
    for name, spent in (("sparsify", sparse), ("poses", pose), ("pairs", pair)):
        print(f"  {name}: {1e3 * spent / count:.2f} ms of the CPU an image")
    _curves(16 * cores())


def _curves(count: int) -> None:
    masks = _made(_ropes, count)
    grouper = CurveGrouper.load("curves")
    some = masks[:32]
    spent, found = _timed(lambda: grouper.predict(some))
    _, own, _ = _once(lambda: [one.labels for one in found])  # type: ignore[attr-defined]
    spent, own = (1e3 * seconds / len(some) for seconds in (spent, own))
    each = f"{spent:.0f} ms of the CPU an image, {own:.0f} for labels"
    print(f"curves, {len(some)} masks of 896 x 672: {each}")
    grouper.set_params(n_jobs=cores()).predict(masks)
    spent, _, _ = _once(lambda: grouper.predict(masks))
    print(f"  {count} of them, n_jobs {cores()}: {count / spent:.1f} images/s")


if __name__ == "__main__":
    main()
