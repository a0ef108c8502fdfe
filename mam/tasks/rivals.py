"""The challenges answered by a rival."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mam.core.progress import Advance
from mam.core.workers import cores
from mam.data.read.labelled import Labelled, read_labelled
from mam.rivals.data import reduced
from mam.rivals.predict import BATCH, Rival
from mam.tasks.accuracy import Answered, measure_accuracy
from mam.tasks.report import Report


def evaluate(
    source: str,
    rival: Rival,
    task: str,
    limit: int | None = None,
    advance: Advance = lambda count: None,
) -> Report:
    """Answer the rows of a data set of a task and compare with their labels."""
    rival.check_task(task)
    pictures = read_labelled(source, limit)
    if pictures.task != task:
        raise ValueError(f"{source}: a set of {pictures.task}, where one of {task} is wanted")
    rows = map(Labelled, pictures.pictures, pictures.labels.tolist())

    def answers(some: list[Labelled], first: int) -> list[Answered | str]:
        return answered(
            some, rival, [f"{source}: row {first + place}" for place in range(len(some))]
        )

    return measure_accuracy(rows, BATCH, answers, advance)


def answered(rows: Sequence[Labelled], rival: Rival, names: Sequence[str]) -> list[Answered | str]:
    """The answer of a rival to each row."""
    with ThreadPoolExecutor(cores()) as pool:
        images = pool.map(lambda row, name: reduced(row.png, rival.side, name), rows, names)
        return [Answered(int(logit > 0)) for logit in rival.logits(np.stack(list(images)))]
