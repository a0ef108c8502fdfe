"""How often a model answers yes or no rightly: the loop that the challenges share."""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, NamedTuple

from mam.core.programs import Stopwatch
from mam.core.progress import Advance
from mam.tasks.report import Report


class Answered(NamedTuple):
    """The label that a model gives a row."""

    label: int
    # Whether what it follows from is proved to be the best of its models; None: not known. Of
    # letters, these are the places of the two that were chosen: see each task's ``evaluate``.
    proved: bool | None = None


# Rows and the number of the first -> the answer to each, or why it has none.
Answers = Callable[[list[Any], int], list[Answered | str]]


def measure_accuracy(
    rows: Iterable[Any], size: int, answers: Answers, advance: Advance = lambda count: None
) -> Report:
    """Answer rows, ``size`` at a time, and compare with their labels."""
    watch, coming = Stopwatch(), iter(rows)
    compared: list[tuple[int, Answered | str]] = []
    while some := list(islice(coming, size)):
        with watch:
            found = answers(some, len(compared))
        compared += zip((row.label for row in some), found, strict=True)
        advance(len(some))
    return accuracy_report(compared, watch.seconds, watch.compiling)


def accuracy_report(
    compared: Iterable[tuple[int, Answered | str]], seconds: float, compiling: float = 0.0
) -> Report:
    """Report on the true label of each row and the answer to it, or why it has none.

    ``proved`` is the share of the answers that follow from what is proved, where the model says
    so. Rows without an answer are skipped and reported.
    """
    errors: list[int] = []
    skipped: dict[int, str] = {}
    proofs: list[bool] = []
    number = -1
    for number, (label, answer) in enumerate(compared):
        if isinstance(answer, str):
            skipped[number] = answer
            continue
        if answer.proved is not None:
            proofs.append(answer.proved)
        if answer.label != label:
            errors.append(number)
    answered = number + 1 - len(skipped)
    figures = {"accuracy": 1 - len(errors) / answered if answered else 0.0}
    if proofs:
        figures["proved"] = sum(proofs) / len(proofs)
    return Report(figures, answered, seconds, tuple(errors), skipped, compiling=compiling)
