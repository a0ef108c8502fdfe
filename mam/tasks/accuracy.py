"""How often a model answers yes or no rightly: the loop that the challenges share."""

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from mam.tasks.report import Advance, Report

# Rows and the number of the first -> the label of each, or why it has none.
Answers = Callable[[list[Any], int], list[int | str]]


def measure_accuracy(
    rows: Iterable[Any], size: int, answers: Answers, advance: Advance = lambda count: None
) -> Report:
    """Answer rows, ``size`` at a time, and compare with their labels.

    Rows without an answer are skipped and reported.
    """
    errors: list[int] = []
    skipped: dict[int, str] = {}
    seconds, done, coming = 0.0, 0, iter(rows)
    while some := list(islice(coming, size)):
        begin = time.perf_counter()
        found = answers(some, done)
        seconds += time.perf_counter() - begin
        for number, (row, label) in enumerate(zip(some, found, strict=True), done):
            if isinstance(label, str):
                skipped[number] = label
            elif label != row.label:
                errors.append(number)
        done += len(some)
        advance(len(some))
    answered = done - len(skipped)
    accuracy = 1 - len(errors) / answered if answered else 0.0
    return Report({"accuracy": accuracy}, answered, seconds, tuple(errors), skipped)
