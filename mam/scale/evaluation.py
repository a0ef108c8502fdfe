"""Evaluations as jobs: every row is answered where it lies, and the report is made of the answers.

The report is that of ``mam.tasks``, of the same answers, whichever way they came.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mam.scale.answers import answers_in
from mam.scale.job import AnswerItems, Item, ItemAnswer
from mam.tasks.accuracy import Answered, accuracy_report
from mam.tasks.report import Report

_BATCH = 64


@dataclass(frozen=True)
class EvaluateJob:
    """The rows of a challenge, answered by a model and compared with the truth."""

    task: str  # pathfinder, cabc, curves, objects or rival
    model: str
    options: tuple[tuple[str, Any], ...] = ()
    batch: int = _BATCH

    @property
    def models(self) -> tuple[str, ...]:
        """The one model."""
        return (self.model,)

    def settings(self) -> Mapping[str, Any]:
        """All but the model's content."""
        return {"task": self.task, "model": self.model, **dict(self.options)}

    def open(self, models: Mapping[str, Path]) -> AnswerItems:
        """Load the model."""
        return _TASKS[self.task](models[self.model], **dict(self.options))


def _pathfinder(model: Path, input: str) -> AnswerItems:
    from mam.tasks.pathfinder import MarkedRow, labels
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    grouper = ContourGrouper.load(model)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        rows = _rows(items, MarkedRow, "pathfinder image")
        return _compared(rows, labels(rows, grouper, input))

    return work


def _cabc(model: Path, preset: str, bound: bool) -> AnswerItems:
    from mam.data import CabcRow
    from mam.tasks.cabc import labels
    from mam.vision.elastic.letters.finder import ObjectFinder

    finder = ObjectFinder.load(model, preset=preset, bound=bound)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        rows = _rows(items, CabcRow, "row of cABC")
        return _compared(rows, labels(rows, finder, [item.name for item in items]))

    return work


def _curves(model: Path, column: str, branches: bool, appearance: bool) -> AnswerItems:
    from mam.data import CurvesRow
    from mam.tasks.curves import scores_of
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    grouper = CurveGrouper.load(model).set_params(branches=branches)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        rows = _rows(items, CurvesRow, "image of curves")
        scored = scores_of(rows, grouper, column, [item.name for item in items], appearance)
        return [ItemAnswer(one._asdict()) for one in scored]

    return work


def _objects(model: Path, source: str, name: str | None, **settings: Any) -> AnswerItems:
    from mam.tasks.objects import Finding
    from mam.vision.elastic.photographs.detector import ObjectDetector

    finding = Finding(ObjectDetector.load(model, **settings), source, name)

    def answer(item: Item) -> ItemAnswer:
        found = finding(item.value)
        if isinstance(found, str):
            return ItemAnswer({"skipped": found})
        return ItemAnswer({"found": None if found is None else found._asdict()})

    return lambda items: [answer(item) for item in items]


def _rival(model: Path, of: str) -> AnswerItems:
    from mam.data.read.labelled import labelled
    from mam.rivals.predict import Rival
    from mam.tasks.rivals import answered

    rival = Rival.load(model)
    rival.check_task(of)

    def work(items: Sequence[Item]) -> list[ItemAnswer]:
        rows = [labelled(item.value, of, item.name) for item in items]
        return _compared(rows, answered(rows, rival, [item.name for item in items]))

    return work


_TASKS: Mapping[str, Callable[..., AnswerItems]] = {
    "pathfinder": _pathfinder,
    "cabc": _cabc,
    "curves": _curves,
    "objects": _objects,
    "rival": _rival,
}


def _rows(items: Sequence[Item], kind: Any, what: str) -> list[Any]:
    for item in items:
        if not isinstance(item.value, kind):
            raise ValueError(f"{item.name}: is no {what}")
    return [item.value for item in items]


def _compared(rows: Sequence[Any], found: Sequence[Answered | str]) -> list[ItemAnswer]:
    return [
        ItemAnswer(None, one)
        if isinstance(one, str)
        else ItemAnswer({"truth": int(row.label), "answer": one.label, "proved": one.proved})
        for row, one in zip(rows, found, strict=True)
    ]


def report_of(task: str, folder: Path, seconds: float) -> Report:
    """The report of an evaluation whose answers are in a folder."""
    if task == "curves":
        from mam.tasks.curves import Scored, curves_report

        found = (answer for _, answer in answers_in(folder))
        scored = (Scored(**one.value) if one.value is not None else _why(one) for one in found)
        return curves_report(scored, seconds)
    if task == "objects":
        from mam.tasks.objects import objects_report

        return objects_report((_scored(answer) for _, answer in answers_in(folder)), seconds)
    return accuracy_report(_pairs(folder), seconds)


def _why(answer: ItemAnswer) -> str:
    return answer.error or "no answer"


def _scored(answer: ItemAnswer) -> Any:
    from mam.tasks.objects import ScoredObject

    if answer.value is None:
        return _why(answer)
    if (found := answer.value.get("found")) is not None:
        return ScoredObject(**found)
    return answer.value.get("skipped")


def _pairs(folder: Path) -> Iterator[tuple[int, Answered | str]]:
    for _, answer in answers_in(folder):
        if answer.value is None:
            yield 0, _why(answer)
        else:
            value = answer.value
            yield value["truth"], Answered(value["answer"], value["proved"])
