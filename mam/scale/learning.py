"""Learning as a job: what each row teaches alone is found where it lies, then put together.

The model is that of one process, array for array: rows are put together in their order.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mam.scale.answers import answers_in, is_aside
from mam.scale.job import AnswerItems, Item, ItemAnswer

if TYPE_CHECKING:
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper
    from mam.vision.curves.strokes.poses import Poses
    from mam.vision.elastic.bank import Bank

_BATCH = 32


@dataclass(frozen=True)
class LearnJob:
    """What the rows of a data set teach, each alone."""

    task: str  # contours, letters or masks
    options: tuple[tuple[str, Any], ...] = ()
    models: tuple[str, ...] = ()  # the parts, for contours
    batch: int = _BATCH

    def settings(self) -> Mapping[str, Any]:
        """All but the content of the parts."""
        return {"task": self.task, "models": list(self.models), **dict(self.options)}

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        """Make what learns from rows."""
        return _TASKS[self.task](*(models[name] for name in self.models), **dict(self.options))


def _contours(parts: Path, **options: Any) -> AnswerItems:
    from mam.tasks.pathfinder import lesson_of, with_contours
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    grouper = ContourGrouper(parts, **options)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        rows = [row for item in items for row in with_contours([item.value], item.name)]
        pictures, courses = zip(*(lesson_of(row, grouper) for row in rows), strict=True)
        return [
            ItemAnswer(
                {
                    "contours": [course.tolist() for course in own],
                    "strokes": [_listed(poses) for poses in by_seed],
                }
            )
            for by_seed, own in zip(grouper.strokes(pictures), courses, strict=True)
        ]

    return work


def contours_from(folder: Path, grouper: "ContourGrouper") -> "ContourGrouper":
    """Learn how strokes continue each other from the answers of a ``contours`` job."""
    from mam.tasks.pathfinder import fit_strokes

    strokes, courses = [], []
    for value in _values(folder):
        strokes.append(tuple(_poses(one) for one in value["strokes"]))
        courses.append([np.reshape(np.array(one, float), (-1, 2)) for one in value["contours"]])
    return fit_strokes(strokes, courses, grouper)


def _listed(poses: "Poses") -> dict[str, list[Any]]:
    return {one.name: getattr(poses, one.name).tolist() for one in fields(poses)}


def _poses(listed: Mapping[str, list[Any]]) -> "Poses":
    from mam.vision.curves.strokes.poses import Poses

    whole, wide = ("image", "type", "place"), ("middle", "place")
    arrays = {
        name: np.array(values, np.int64 if name in whole else np.float64)
        for name, values in listed.items()
    }
    return Poses(**arrays | {name: arrays[name].reshape(-1, 2) for name in wide})


def _letters(preset: str) -> AnswerItems:
    from mam.data import CabcRow
    from mam.tasks.cabc import learn_letters, letter_learner

    learn = letter_learner(preset)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        for item in items:
            if not isinstance(item.value, CabcRow):
                raise ValueError(f"{item.name}: is no row of cABC")
        bank = learn_letters(items, learn)
        return _graphs(bank, 2)

    return work


def _masks() -> AnswerItems:
    from mam.tasks.learning import learn_masks

    return lambda items: _graphs(learn_masks(items), 1)


def _graphs(bank: "Bank", each: int) -> list[ItemAnswer]:
    """The graphs of every row, of which it has so many."""
    from mam.vision.elastic.bank_schema import ARRAYS

    found = []
    for first in range(0, len(bank), each):
        own = bank.take(np.arange(first, first + each))
        found.append(ItemAnswer({name: getattr(own, name).tolist() for name in ARRAYS}))
    return found


def bank_from(folder: Path, source: str, letters: str | None) -> "Bank":
    """The bank of the answers of a ``letters`` job of that preset, or of a ``masks`` job."""
    from mam.tasks.cabc import joined_letters
    from mam.tasks.learning import told_of
    from mam.vision.elastic.bank import Bank

    banks = [_bank(value) for value in _values(folder)]
    bank = Bank.joined(banks) if letters is None else joined_letters(banks, letters)
    return told_of(bank, source, letters)


def _bank(listed: Mapping[str, list[Any]]) -> "Bank":
    from mam.data.raster import disc
    from mam.vision.elastic.bank import Bank
    from mam.vision.elastic.letters.letter_learning import PART_RADIUS

    kinds = {"vertex_count": np.int32, "edge_count": np.int32, "radius": np.uint8}
    arrays = {name: np.array(own, kinds.get(name, np.int16)) for name, own in listed.items()}
    return Bank.of_arrays({**arrays, "mask": disc(PART_RADIUS)}, {})


def _values(folder: Path) -> Iterator[Mapping[str, Any]]:
    """What every row taught; one that taught nothing is an error, as in one process."""
    for name, answer in answers_in(folder):
        if answer.value is None:
            where = "" if name in str(answer.error) else f"{name}: "
            anew = f"; remove {folder} to have it tried anew" if is_aside(answer.error) else ""
            raise ValueError(f"{where}{answer.error}{anew}")
        yield answer.value


_TASKS: Mapping[str, Callable[..., AnswerItems]] = {
    "contours": _contours,
    "letters": _letters,
    "masks": _masks,
}
