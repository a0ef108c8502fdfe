"""Whether an earlier version answers the same, row by row, and the CPU time of both.

python -m bench.answers FILE CHECKOUT [ROWS] [COLUMN]

The file holds rows of pathfinder (columns: clean, image), of curves (mask, gaps), of cABC or of
objects. Letters are looked for with the bundled bank; an object with what the first eight rows of
the file teach, each version by itself.
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
_KNOWN = 8  # rows that objects are learned from


def tell(source: str, count: int, column: str) -> None:
    """Answer rows and print the answers with their times; in a process of either version."""
    from mam.data import rows_of

    rows = list(islice(rows_of(source), count))
    works = {"CurvesRow": _curves, "CabcRow": _letters, "ObjectRow": _objects}
    print(json.dumps(works.get(type(rows[0]).__name__, _contours)(rows, column)))


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


def _letters(rows: list[Any], column: str) -> dict[str, Any]:
    from mam.tasks.cabc import predict
    from mam.vision.elastic.letters.finder import ObjectFinder

    finder, names = ObjectFinder.load("letters"), [f"row {n}" for n in range(len(rows))]
    predict([rows[0].image], finder, names[:1])
    times = [time.process_time()]
    found = predict([row.image for row in rows], finder, names)
    times.append(time.process_time())
    answers = [
        str(one) if isinstance(one, ValueError) else [one.label, round(float(one.log_odds), 3)]
        for one in found
    ]
    return {"answers": answers, "ms": _milliseconds(times, len(rows))}


def _objects(rows: list[Any], column: str) -> dict[str, Any]:
    from mam.vision.elastic.photographs.detector import ObjectDetector

    known = rows[:_KNOWN]
    detector = ObjectDetector(thresholds=False).fit(
        [row.image for row in known],
        [row.mask for row in known],
        names=[row.name for row in known],
    )
    detector.find(rows[0].image)
    times = [time.process_time()]
    found = [detector.find(row.image) for row in rows[_KNOWN:]]
    times.append(time.process_time())
    answers = [
        [[one.name, round(float(one.score), 3), one.vertices.tolist()] for one in each]
        for each in found
    ]
    return {"answers": answers, "ms": _milliseconds(times, len(found))}


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
