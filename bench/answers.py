"""Whether an earlier version answers the same, row by row, and the CPU time of both.

python -m bench.answers FILE CHECKOUT [ROWS] [COLUMN]

The file holds rows of pathfinder (columns: clean, image) or of curves (mask, gaps).
"""

import hashlib
import json
import os
import subprocess
import sys
import time
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

_HERE = Path(__file__).resolve()


def tell(source: str, count: int, column: str) -> None:
    """Answer rows and print the answers with their times; in a process of either version."""
    from mam.data import CurvesRow, rows_of

    rows = list(islice(rows_of(source), count))
    work = _curves if isinstance(rows[0], CurvesRow) else _contours
    print(json.dumps(work(rows, column)))


def _curves(rows: list[Any], column: str) -> dict[str, Any]:
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    grouper, masks = CurveGrouper.load("curves"), [getattr(row, column) for row in rows]
    grouper.predict(masks[:1])
    times = [time.process_time()]
    found = grouper.predict(masks)
    times.append(time.process_time())
    labels = [one.labels.astype("int32").tobytes() for one in found]
    times.append(time.process_time())
    each = zip(found, labels, strict=True)
    answers = [[len(one), hashlib.md5(own).hexdigest()] for one, own in each]
    return {"answers": answers, "ms": _milliseconds(times, len(rows))}


def _contours(rows: list[Any], column: str) -> dict[str, Any]:
    from mam.tasks.pathfinder import predict
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    grouper = ContourGrouper.load("contours")
    predict(rows[:1], grouper, column)
    times = [time.process_time()]
    found = predict(rows, grouper, column)
    times.append(time.process_time())
    answers = [[bool(getattr(one, "same", False)), getattr(one, "proof", None)] for one in found]
    return {"answers": answers, "ms": _milliseconds(times, len(rows))}


def _milliseconds(times: list[float], count: int) -> list[float]:
    return [round(1e3 * (after - before) / count, 2) for before, after in pairwise(times)]


def main(source: str, checkout: str, count: str = "200", column: str = "") -> None:
    column = column or ("mask" if "curves" in Path(source).parts else "clean")
    told = []
    for folder in (_HERE.parents[1], Path(checkout).resolve()):
        command = [sys.executable, str(_HERE), "--tell", source, count, column]
        known = {**os.environ, "PYTHONPATH": str(folder)}
        ran = subprocess.run(command, env=known, capture_output=True, text=True, check=True)
        told.append(json.loads(ran.stdout.splitlines()[-1]))
    this, then = told
    differ = [
        n
        for n, both in enumerate(zip(this["answers"], then["answers"], strict=True))
        if both[0] != both[1]
    ]
    print(f"{source}, {column}: {len(this['answers'])} rows, {len(differ)} differ {differ[:20]}")
    print(f"  ms of the CPU a row (and for labels of curves): {this['ms']}, before {then['ms']}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--tell"]:
        tell(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main(*sys.argv[1:])
