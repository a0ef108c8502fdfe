"""cABC with the paper's own settings, batch by batch, for as long as there is time.

``python -m bench.paper_letters TRAIN TEST --rows 1684 --tests 200 --minutes 8`` learns a graph from
every letter of the first rows of TRAIN and answers the first images of TEST. If both are one file,
images are those after the rows that were learned from. The accuracy so far is printed after every
batch. ``--bank FILE`` keeps the graphs, and takes them if they are there.
"""

import argparse
import time
from itertools import islice
from pathlib import Path

from mam.data import CabcRow
from mam.tasks import cabc
from mam.tasks.rows import rows_of_kind
from mam.vision.elastic.letters.finder import ObjectFinder

_BATCH = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--rows", type=int, default=1684)
    parser.add_argument("--tests", type=int, default=200)
    parser.add_argument("--batch", type=int, default=_BATCH)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--bank", type=Path)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    finder = _finder(asked.train, asked.rows, asked.bank)
    first = asked.rows if asked.train == asked.test else 0
    rows = islice(_rows(asked.test), first, first + asked.tests)
    right = done = 0
    begin = time.perf_counter()
    while (some := list(islice(rows, asked.batch))) and time.monotonic() < end:
        names = [f"row {first + done + k}" for k in range(len(some))]
        answers = cabc.labels(some, finder, names)
        done += len(some)
        right += sum(
            not isinstance(answer, str) and answer.label == row.label
            for answer, row in zip(answers, some, strict=True)
        )
        spent = time.perf_counter() - begin
        print(f"{done} images, {100 * right / done:.2f} % right, {spent:.1f} s", flush=True)


def _finder(train: str, rows: int, kept: Path | None) -> ObjectFinder:
    if kept is not None and kept.exists():
        return ObjectFinder.load(kept, preset="paper")
    start = time.perf_counter()

    def tell(count: int) -> None:
        print(f"learned from {count} rows more, {time.perf_counter() - start:.1f} s", flush=True)

    finder = cabc.fit(islice(_rows(train), rows), tell, "paper")
    spent, graphs = time.perf_counter() - start, len(finder.bank_)
    print(f"{graphs} graphs in {spent:.1f} s, {graphs / spent:.1f} a second", flush=True)
    if kept is not None:
        finder.save(kept)
    return finder


def _rows(source: str) -> "islice[CabcRow]":
    return islice(rows_of_kind(source, CabcRow, "row of cABC"), None)


if __name__ == "__main__":
    main()
