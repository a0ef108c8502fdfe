"""`mam evaluate curves` beside another tracer, on the same masks and the same metric.

python -m bench.curves FILE --rival FOLDER [--column mask] [--branches] [--limit N]
python -m bench.curves FILE --write FOLDER

FOLDER holds a file of lines for each row, named by the row's name with "-" for "/", or by its
number, 00000 and so on:

    NAME.json          a list of lines, each a list of [row, column]
    NAME.points.csv    columns curve, row and column, as `mam group --out .points.csv` writes them

Places are pixels, from 0 at the middle of the first. Every ink pixel goes to the line that covers
it, or to the nearest one, by the rule by which pixels of our own curves find owners. `--write`
writes the masks, as NAME.png, and our own lines in this form. Without a file a row has no line.
"""

import argparse
import csv
import json
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

from mam.data import CurvesRow, rows_of
from mam.tasks.curves import Scored, compared, curves_report, dice, mask_of, scores_of, set_of
from mam.vision.curves.line_forms import in_short_steps
from mam.vision.curves.owners import Trace, label_pixels
from mam.vision.curves.strands.curve_grouper import CurveGrouper
from mam.vision.curves.strands.width import relief

_STEP = 1.0  # px between points of a line


def file_name(row: CurvesRow, number: int) -> str:
    """What the files of a row are called.

    >>> file_name(CurvesRow(np.eye(2) > 0, np.eye(2, dtype=np.uint8), name="dots/3"), 0)
    'dots-3'
    """
    return row.name.replace("/", "-") if row.name else f"{number:05d}"


def read_lines(folder: Path, name: str) -> list[np.ndarray]:
    """The lines of a row; none where there is no file."""
    listed, table = folder / f"{name}.json", folder / f"{name}.points.csv"
    if listed.exists():
        found = [np.array(line, float) for line in json.loads(listed.read_text())]
    elif table.exists():
        points: dict[str, list[tuple[float, float]]] = {}
        with table.open(newline="") as file:
            for one in csv.DictReader(file):
                points.setdefault(one["curve"], []).append(
                    (float(one["row"]), float(one["column"]))
                )
        found = [np.array(line) for line in points.values()]
    else:
        return []
    for line in found:
        if line.ndim != 2 or line.shape[1] != 2 or not np.isfinite(line).all():
            raise ValueError(f"{folder}: a line of {name} is no list of rows and columns")
    return [line for line in found if len(line)]


def labelled(mask: np.ndarray, lines: Sequence[np.ndarray]) -> np.ndarray:
    """Give the ink of a mask to lines.

    >>> mask = np.zeros((9, 20), bool)
    >>> mask[1:4], mask[5:8] = True, True
    >>> found = labelled(mask, [np.array([[2.0, 0], [2, 19]]), np.array([[6.0, 0], [6, 19]])])
    >>> found[[2, 6], [5, 5]].tolist()
    [1, 2]
    """
    if not lines:
        return np.zeros(mask.shape, np.int32)
    even = [in_short_steps(line, _STEP) for line in lines]
    points = np.concatenate(even)
    radius = np.maximum(relief(mask).radius_at(points), 0.5)
    curve = np.repeat(np.arange(len(even)), [len(line) for line in even])
    return label_pixels(mask, Trace(points, radius, curve, np.full(len(curve), -1), curve))


def score_rival(row: CurvesRow, lines: Sequence[np.ndarray], mask: np.ndarray) -> Scored:
    """Measure lines as our own answers are measured."""
    found = labelled(mask, lines)
    ink = max(int(mask.sum()), 1)
    scores = dice(*compared(found, row)) if row.labels.any() else []
    return Scored(set_of(row), scores, False, float((found[mask] > 0).sum() / ink))


def write(rows: Sequence[CurvesRow], masks: Sequence[np.ndarray], own: CurveGrouper, to: Path):
    """Write masks and our own lines."""
    to.mkdir(parents=True, exist_ok=True)
    for number, (row, mask) in enumerate(zip(rows, masks, strict=True)):
        name = file_name(row, number)
        Image.fromarray(mask).save(to / f"{name}.png")
        [found] = own.predict([mask])
        lines = [line.round(2).tolist() for line in found.polylines]
        (to / f"{name}.json").write_text(json.dumps(lines))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Compare with another tracer's lines.")
    parser.add_argument("file")
    parser.add_argument("--rival", type=Path)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--column", default="mask")
    parser.add_argument("--branches", action="store_true")
    parser.add_argument("--limit", type=int)
    asked = parser.parse_args(arguments)
    if (asked.rival is None) == (asked.write is None):
        parser.error("give --rival FOLDER or --write FOLDER")
    rows = list(islice(rows_of(asked.file), asked.limit))
    names = [f"{asked.file}: row {number}" for number in range(len(rows))]
    masks = [mask_of(row, asked.column, name) for row, name in zip(rows, names, strict=True)]
    own = CurveGrouper.load("curves").set_params(branches=asked.branches)
    if asked.write is not None:
        write(rows, masks, own, asked.write)
        return
    known = [read_lines(asked.rival, file_name(row, number)) for number, row in enumerate(rows)]
    ours = scores_of(rows, own, asked.column, names)
    theirs = [score_rival(*one) for one in zip(rows, known, masks, strict=True)]
    print("| set | pictures | Dice | rival | right | rival |")
    print("|---|---|---|---|---|---|")
    reports = [curves_report(some, 1.0).figures for some in (ours, theirs)]
    for name in reports[0]["dice"]:
        count = sum(one.set == name and bool(one.dice) for one in ours)
        cells = [f"{one[what][name]:.4f}" for what in ("dice", "right") for one in reports]
        print(f"| {name} | {count} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
