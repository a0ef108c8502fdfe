"""Accuracy on cABC by cross-validation: every row is answered by a bank that never saw it.

``python -m bench.letter_folds FILE --folds 5 --limit 100`` learns a bank from four fifths of the
rows and answers 100 of the others, for each fifth in turn; row n is in the fold n modulo 5.
``--rows M`` learns from the first M of these four fifths only, ``--only K`` does one fold, and
``--causes`` counts at which stage wrong answers lost the pair.
"""

import argparse
import time
from collections import Counter
from collections.abc import Sequence

import numpy as np

from mam.data import CabcRow
from mam.tasks import cabc
from mam.tasks.cabc_causes import cause_of, overlaps_of
from mam.tasks.rows import rows_of_kind
from mam.vision.elastic.letters.finder import ObjectFinder

_BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--rows", type=int)
    parser.add_argument("--only", type=int)
    parser.add_argument("--causes", action="store_true")
    asked = parser.parse_args()
    rows = list(rows_of_kind(asked.file, CabcRow, "row of cABC"))
    right: list[bool] = []
    causes: Counter[str] = Counter()
    for fold in range(asked.folds) if asked.only is None else [asked.only]:
        learned, held = split(len(rows), asked.folds, fold)
        finder = cabc.fit(rows[n] for n in learned[: asked.rows])
        begin = time.process_time()
        wrong, answered = errors(rows, held[: asked.limit], finder)
        spent = (time.process_time() - begin) / max(answered, 1)
        right += [False] * len(wrong) + [True] * (answered - len(wrong))
        print(f"fold {fold}: {len(finder.bank_)} graphs, {answered} rows, wrong {wrong}")
        print(f"  {tell(right)} so far, {spent:.2f} s of CPU time an image", flush=True)
        if asked.causes:
            causes.update(cause_of(overlaps_of(rows[n], finder, f"row {n}")) for n in wrong)
    print(f"{asked.file}: {tell(right)}", {str(key): n for key, n in causes.items()} or "")


def split(count: int, folds: int, fold: int) -> tuple[list[int], list[int]]:
    """Which rows are learned from, and which are held out."""
    if not 0 <= fold < folds or folds < 2:
        raise ValueError(f"fold {fold} of {folds}: folds are counted from 0, and at least two")
    number = range(count)
    return [n for n in number if n % folds != fold], [n for n in number if n % folds == fold]


def errors(rows: Sequence[CabcRow], held: list[int], finder: ObjectFinder) -> tuple[list[int], int]:
    """The rows that are answered wrongly, and how many are answered at all."""
    wrong, answered = [], 0
    for start in range(0, len(held), _BATCH):
        some = held[start : start + _BATCH]
        found = cabc.labels([rows[n] for n in some], finder, [f"row {n}" for n in some])
        for n, one in zip(some, found, strict=True):
            if not isinstance(one, str):
                answered += 1
                wrong += [n] if one.label != rows[n].label else []
    return wrong, answered


def tell(right: Sequence[bool]) -> str:
    """A share with its standard error.

    >>> tell([True, True, True, False])
    '75.0 % of 4 right (+- 21.7)'
    """
    share = float(np.mean(right)) if len(right) else 0.0
    error = float(np.sqrt(share * (1 - share) / max(len(right), 1)))
    return f"{100 * share:.1f} % of {len(right)} right (+- {100 * error:.1f})"


if __name__ == "__main__":
    main()
