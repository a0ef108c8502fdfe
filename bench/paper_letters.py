"""cABC with the paper's own settings, at any scale, for as long as there is time.

``python -m bench.paper_letters --train 45000 --test 1000 --workers 16 --minutes 9 --out now.json``
makes images while graphs are learned from them, then answers others. Instead of numbers,
``--train`` and ``--test`` take files, of which ``--rows`` and ``--tests`` say how many rows count.
If both are one file, images are those after the rows that were learned from.

Learning ends after ``--learning`` of the minutes at the latest, with what there is. Every figure is
printed and written to ``--out`` as soon as it is known. ``--bank FILE`` keeps the graphs and the
number of rows they come from. The same command again goes on from there, learning from the rows
that are left; with ``--learning 0`` it answers with what there is.
"""

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path

from mam.core.whole_files import write_whole
from mam.data import CabcRow, recipe
from mam.data.generate.make import chunk_records
from mam.data.schema import from_record
from mam.tasks import cabc
from mam.tasks.rows import rows_of_kind
from mam.vision.elastic.bank import Bank
from mam.vision.elastic.letters.finder import ObjectFinder

_CHUNK = 16  # rows that a worker makes at a time
_TOGETHER = 4096  # rows that are learned from between two looks; a bad letter costs as many
_BATCH = 48  # images answered between two looks


@dataclass(frozen=True)
class Told:
    """What is known so far: printed, and kept in a file."""

    out: Path | None
    begin: float = field(default_factory=time.perf_counter)
    known: dict[str, object] = field(default_factory=dict)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.begin

    def __call__(self, **news: object) -> None:
        self.known.update(news, seconds=round(self.seconds, 1))
        print(json.dumps({**news, "seconds": self.known["seconds"]}), flush=True)
        if self.out is not None:
            write_whole(self.out, json.dumps(self.known, indent=1).encode())


def main() -> None:
    asked = _asked()
    told = Told(asked.out)
    told(settings={name: str(value) for name, value in vars(asked).items()})
    finder = _finder(asked, told)
    same = asked.train == asked.test and not asked.train.isdigit()
    first = asked.rows or 0 if same else 0
    rows = _rows(asked, asked.test, asked.seed + 1, first, asked.tests)
    _answer(rows, finder, first, 60 * asked.minutes, told)


def _asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", default="45000")
    parser.add_argument("--test", default="1000")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--tests", type=int)
    parser.add_argument("--level", default="hard")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=8.0)
    parser.add_argument("--learning", type=float, default=0.6)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--bank", type=Path)
    return parser.parse_args()


def _rows(
    asked: argparse.Namespace, source: str, seed: int, first: int, most: int | None
) -> Iterator[CabcRow]:
    """Rows of a file, or generated ones, from the first wanted on."""
    if not source.isdigit():
        stop = None if most is None else first + most
        yield from islice(rows_of_kind(source, CabcRow, "row of cABC"), first, stop)
        return
    count = int(source)
    chunks = [(at, min(at + _CHUNK, count)) for at in range(first, count, _CHUNK)]
    for records in chunk_records(recipe("cabc", asked.level, seed), chunks, asked.workers):
        for record in records:
            row = from_record(CabcRow, record, "a generated row")
            assert isinstance(row, CabcRow)
            yield row


def _finder(asked: argparse.Namespace, told: Told) -> ObjectFinder:
    bank = _learned(asked, told)
    if asked.bank is not None:
        bank.save(asked.bank)
    return ObjectFinder.of(bank, preset="paper")


def _learned(asked: argparse.Namespace, told: Told) -> Bank:
    banks, begin, taken = [], told.seconds, 0
    if asked.bank is not None and asked.bank.exists():
        banks.append(Bank.load(asked.bank))
        taken = _rows_of(banks[0], asked)
        told(learned=taken, bank=str(asked.bank))
    left = None if asked.rows is None else max(asked.rows - taken, 0)
    rows = _rows(asked, asked.train, asked.seed, taken, left)
    learned, end = taken, 60 * asked.minutes * asked.learning

    def in_time() -> Iterator[CabcRow]:
        nonlocal taken
        for row in islice(rows, _TOGETHER):
            taken += 1
            yield row
            if told.seconds >= end:
                return

    def more(count: int) -> None:
        nonlocal learned
        learned += count
        told(learned=learned, learning_seconds=round(told.seconds - begin, 1))

    while told.seconds < end:
        try:
            banks.append(cabc.fit(in_time(), more, "paper").bank_)
        except ValueError as error:
            if "nothing to learn from" in str(error):
                break
            told(left_out=[*told.known.get("left_out", []), str(error)])  # type: ignore[misc]
    bank = cabc.joined_letters(banks, "paper")
    told(graphs=len(bank), edges=float(bank.edge_count.mean()))
    return replace(bank, provenance={"rows": taken, **_stream(asked)})


def _rows_of(bank: Bank, asked: argparse.Namespace) -> int:
    """How many of the rows asked for a bank was learned from."""
    known = _stream(asked)
    if any(bank.provenance.get(name) != value for name, value in known.items()):
        raise SystemExit(f"{asked.bank}: not learned from these rows ({known}); name another file")
    return int(bank.provenance["rows"])


def _stream(asked: argparse.Namespace) -> dict[str, object]:
    """What rows to learn from depend on, but for their number."""
    if asked.train.isdigit():
        return {"source": "generated", "seed": asked.seed, "level": asked.level}
    return {"source": asked.train}


def _answer(
    rows: Iterator[CabcRow], finder: ObjectFinder, first: int, end: float, told: Told
) -> None:
    right = done = bad = 0
    begin = told.seconds
    while told.seconds < end and (some := list(islice(rows, _BATCH))):
        names = [f"row {first + done + k}" for k in range(len(some))]
        answers = cabc.labels(some, finder, names)
        done += len(some)
        bad += sum(isinstance(answer, str) for answer in answers)
        right += sum(
            not isinstance(answer, str) and answer.label == row.label
            for answer, row in zip(answers, some, strict=True)
        )
        told(
            images=done,
            unreadable=bad,
            percent=round(100 * right / done, 2),
            answering_seconds=round(told.seconds - begin, 1),
        )


if __name__ == "__main__":
    main()
