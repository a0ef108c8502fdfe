"""What the challenges have in common: learn on some levels, test on all, learn from few images."""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from mam.data import AnyRow, recipe
from mam.reproduce.data_sets import DataSet, generated_set, given_set
from mam.reproduce.experiment import Experiment, with_needs
from mam.reproduce.steps import Step, StepFolder, Work, distinct
from mam.show.page import figure, figures, paragraph, picture
from mam.show.sheet import row_panels
from mam.tasks.report import Advance

_SEEDS = {"train": 101, "test": 102}  # of generated sets: no row is in both
_FILES = (
    "a folder of data sets holds LEVEL-train.parquet for easy, medium and hard, and "
    "LEVEL-test.parquet for every level to test on"
)


@dataclass(frozen=True)
class Scale:
    """How large an experiment is."""

    train: int  # images learned from, for the table
    test: int  # images of every level tested on
    counts: tuple[int, ...]  # images learned from, for the curves
    runs: int = 3  # of every point of a curve, each from images of its own
    parts: int = 10  # images that parts are learned from; 0: none are learned
    pictures: int = 3  # right answers shown of a level, and as many wrong ones


class ChartLine(NamedTuple):
    """A curve of the sample-efficiency chart."""

    learn: str  # the level learned on
    test: str
    method: str = ""  # other than the experiment's own


class PaperPoints(NamedTuple):
    """Points of the chart that the paper gives in numbers."""

    name: str
    images: tuple[int, ...]
    accuracy: tuple[float, ...]  # per cent
    line: int | None = None  # number of the line they belong beside


class ShownRow(NamedTuple):
    """A row whose answer is drawn."""

    number: int
    row: AnyRow
    verdict: str  # for the figure's caption


@dataclass(frozen=True)
class Published:
    """The paper's figures, per cent."""

    rival: str  # name of the neural network
    rival_images: int
    images: int  # that its model was learned from
    ours: Mapping[str, tuple[float, ...]]  # its model: level learned on -> levels tested on
    rivals: Mapping[str, tuple[float, ...]]
    known: tuple[PaperPoints, ...]


@dataclass(frozen=True, eq=False)
class Study(Experiment):
    """An experiment with levels: which steps it takes, and what they gave."""

    scale: Scale
    scale_name: str
    train: Mapping[str, DataSet]
    test: Mapping[str, DataSet]

    kind: ClassVar[str]
    title: ClassVar[str]
    about: ClassVar[str]
    learn_on: ClassVar[tuple[str, ...]]
    test_on: ClassVar[tuple[str, ...]]
    decoded: ClassVar[tuple[str, ...]]  # levels whose answers are drawn
    lines: ClassVar[tuple[ChartLine, ...]]
    scales: ClassVar[Mapping[str, Scale]]
    published: ClassVar[Published]

    @classmethod
    def prepared(cls, store: StepFolder, size: Scale, name: str, data: Path | None) -> "Study":
        """The experiment of a given size, with its data sets."""
        most = size.runs * max(size.counts, default=0)
        curves = {line.learn for line in cls.lines}

        def found(level: str, use: str, count: int) -> DataSet:
            if data is not None:
                return given_set(data / f"{level}-{use}.parquet", _FILES)
            made = recipe(cls.kind, level, _SEEDS[use])
            return generated_set(store, f"{cls.kind} {level} {use}", made, count)

        train = {
            level: found(
                level, "train", max(size.train, size.parts, most if level in curves else 0)
            )
            for level in cls.learn_on
        }
        test = {level: found(level, "test", size.test) for level in cls.test_on}
        return cls(store, size, name, train, test)

    @abstractmethod
    def learn(self, level: str, count: int, run: int, method: str = "") -> Step:
        """The step that learns a model from ``count`` images of a level."""

    @abstractmethod
    def evaluate(self, model: Step, level: str) -> Step:
        """The step that tests a model on a level; its result is a report."""

    @abstractmethod
    def drawings(self) -> Mapping[str, Step]:
        """The steps that draw, by the heading of their section; results are HTML."""

    @abstractmethod
    def notes(self) -> Mapping[str, str]:
        """Settings worth a line on the page."""

    def model(self, level: str) -> Step:
        """The step that learns the model of the table."""
        return self.learn(level, self.learned_from(level), 0)

    def learned_from(self, level: str) -> int:
        """The images learned from for the table; a smaller file is used whole."""
        return min(self.scale.train, self.train[level].rows)

    def tested_on(self, level: str) -> int:
        """The images of a level tested on."""
        return min(self.scale.test, self.test[level].rows)

    @cached_property
    def table(self) -> dict[tuple[str, str], Step]:
        """The evaluations of the table: (level learned on, level tested on)."""
        # The hardest first: array sizes only grow, and each size is compiled anew.
        return {
            (level, tested): self.evaluate(self.model(level), tested)
            for level in reversed(self.learn_on)
            for tested in reversed(self.test_on)
        }

    def curve(self, line: ChartLine) -> dict[int, list[Step]]:
        """The evaluations of a curve: images learned from -> a step for each run."""
        source = self.train[line.learn]
        return {
            count: [
                self.evaluate(self.learn(line.learn, count, run, line.method), line.test)
                for run in range(self.scale.runs)
            ]
            for count in self.scale.counts
            if count <= source.rows
        }

    def steps(self) -> list[Step]:
        """All steps, each after those it builds on."""
        sets = [one.step for one in [*self.train.values(), *self.test.values()]]
        ends = list(self.table.values())
        for line in self.lines:
            ends += [step for several in self.curve(line).values() for step in several]
        ends += [self.images_step(), *self.drawings().values()]
        return distinct([*filter(None, sets), *(one for end in ends for one in with_needs(end))])

    def images_step(self) -> Step:
        """The step that draws an image of every level."""

        def work(path: Path, advance: Advance) -> str:
            shown = []
            for level, data in self.test.items():
                [row] = data.read([0])
                caption, panels = row_panels(row)
                shown += [figure(picture(one, level), f"{level}: {caption}") for one in panels]
            return figures(shown)

        settings = {"images": [data.settings for data in self.test.values()]}
        return Step(f"pictures of {self.kind}", settings, work)

    def answers_step(self, work: Work) -> Step:
        """The step that draws answers of the model learned on hard images."""
        needs = tuple(self.table["hard", level] for level in self.decoded)
        settings = {
            "tests": [step.settings for step in needs],
            "pictures": self.scale.pictures,
        }
        return Step("pictures of answers", settings, work, needs=needs)

    def draw_answers(self, draw: Callable[[list[ShownRow]], str]) -> str:
        """Draw some right and some wrong answers of every level."""
        html = []
        for level in self.decoded:
            report = self.store.result(self.table["hard", level])
            right, wrong = some_rows(report, self.scale.pictures)
            rows = self.test[level].read(right + wrong)
            shown = [
                ShownRow(number, row, "good: Right:" if number in right else "bad: Wrong:")
                for number, row in zip(right + wrong, rows, strict=True)
            ]
            said = f"{len(report['errors'])} of {report['n']} answers are wrong."
            html.append(paragraph(f"Learned on hard, tested on {level}: {said}") + draw(shown))
        return "".join(html)

    def right(self, step: Step) -> float:
        """Per cent of the rows that an evaluation answered right."""
        return 100 * self.store.result(step)["accuracy"]

    def points(self, line: ChartLine) -> list[tuple[int, float, float]]:
        """A curve as images learned from, mean accuracy and its standard deviation, per cent."""
        found = []
        for count, steps in self.curve(line).items():
            right = np.array([self.right(step) for step in steps])
            spread = float(right.std(ddof=1)) if len(right) > 1 else 0.0
            found.append((count, float(right.mean()), spread))
        return found


def some_rows(report: Mapping[str, Any], count: int) -> tuple[list[int], list[int]]:
    """The first rows that a report calls right, and the first it calls wrong.

    >>> some_rows({"n": 3, "errors": [1], "skipped": {"0": "no marker"}}, 2)
    ([2, 3], [1])
    """
    skipped = {int(row) for row in report["skipped"]}
    wrong = set(report["errors"])
    rows = [row for row in range(report["n"] + len(skipped)) if row not in skipped]
    right = [row for row in rows if row not in wrong]
    return right[:count], sorted(wrong)[:count]
