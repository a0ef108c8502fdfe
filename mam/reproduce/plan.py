"""An experiment with levels as data: what is learned and tested, and what the paper found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from mam.reproduce.data_sets import DataSet
from mam.reproduce.steps import Step, StepFolder

OURS = "ours"  # the method that a row or a line has unless it names another
PAPER = "paper settings, measured"  # the method that is the paper's in every step


@dataclass(frozen=True)
class RivalScale:
    """How tiny the rivals are that a study learns itself: a check, and no measure of them."""

    images: int  # hard ones, learned from
    epochs: int = 1
    side: int = 16  # px to which images are reduced; 160 is the published one
    batch: int = 4
    kinds: tuple[str, ...] = ("h-cnn", "td-h-cnn", "resnet")


@dataclass(frozen=True)
class Scale:
    """How large an experiment is."""

    train: int  # images learned from, for the table
    test: int  # images of every level tested on
    counts: tuple[int, ...]  # images learned from, for the curves
    runs: int = 3  # of every point of a curve, each from images of its own
    parts: int = 10  # images that parts are learned from; 0: none are learned
    pictures: int = 3  # right answers shown of a level, and as many wrong ones
    # Images that slow methods learn from and are tested on, of the hardest level alone; None: as
    # the others.
    slow: tuple[int, int] | None = None
    rivals: RivalScale | None = None  # None: none are learned, figures of larger ones are given


class Measured(NamedTuple):
    """A row of the table that steps fill: a method, learned on a level, tested on all."""

    learn: str
    method: str = OURS


class Quoted(NamedTuple):
    """A row of the table that the paper gives."""

    learn: str
    model: str
    images: int  # that the model was learned from
    right: tuple[float, ...]  # per cent, by level tested on
    rival: bool = False


class ChartLine(NamedTuple):
    """A curve of the sample-efficiency chart."""

    learn: str  # the level learned on
    test: str
    method: str = OURS


class PaperPoints(NamedTuple):
    """Points of the chart that the paper gives in numbers."""

    name: str
    images: tuple[int, ...]
    accuracy: tuple[float, ...]  # per cent
    line: int | None = None  # number of the line they belong beside


class RivalPoint(NamedTuple):
    """What a rival learned from and how often it is right: measured, not quoted."""

    kind: str
    learn: str  # the level learned on
    images: int  # different ones
    right: Mapping[str, float]  # per cent, by level tested on


class Sample(NamedTuple):
    """Images to learn from: the block of a run, of so many rows of a level."""

    level: str
    count: int
    run: int = 0


@dataclass(frozen=True)
class Method:
    """A way to learn and to answer: functions that make the steps."""

    learn: Callable[["Study", Sample], Step]  # its file is the model
    evaluate: Callable[["Study", Step, str], Step]  # of a model on a level; gives a report
    slow: bool = False  # has fewer images where the scale says so


@dataclass(frozen=True)
class Challenge:
    """An experiment with levels: a table, a chart, and pictures."""

    kind: str  # of its data sets
    title: str
    about: str
    test_on: tuple[str, ...]
    decoded: tuple[str, ...]  # levels whose answers are drawn
    methods: Mapping[str, Method]  # by the names that rows and lines use
    rows: tuple[Measured | Quoted, ...]  # of the table, those of one level together
    lines: tuple[ChartLine, ...]
    known: tuple[PaperPoints, ...]
    scales: Mapping[str, Scale]
    drawings: Callable[["Study"], Mapping[str, Step]]  # by heading; their results are HTML
    notes: Callable[["Study"], Mapping[str, str]]  # settings worth a line on the page
    settings: Mapping[str, Any]  # all others, by the name of the method
    equip: Callable[[], Any] = lambda: None  # what the steps of one study share

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The rows that steps fill."""
        return tuple(row for row in self.rows if isinstance(row, Measured))

    @property
    def learn_on(self) -> tuple[str, ...]:
        """The levels learned on, in the order of the rows."""
        return tuple(dict.fromkeys(row.learn for row in self.measured))


@dataclass(frozen=True, eq=False)
class Study:
    """A challenge at one scale, with its data sets by level and the folder of its steps."""

    plan: Challenge
    store: StepFolder
    scale: Scale
    scale_name: str
    train: Mapping[str, DataSet]
    test: Mapping[str, DataSet]
    shared: Any = None  # of `Challenge.equip`
    rivals: tuple[RivalPoint, ...] | None = None  # given; None: those of the scale's own steps

    @property
    def measured(self) -> tuple[Measured, ...]:
        """The rows of the table that steps fill at this scale."""
        last = self.plan.learn_on[-1]
        return tuple(
            row for row in self.plan.measured if row.learn == last or self.slow(row) is None
        )

    def tested(self, row: Measured) -> tuple[str, ...]:
        """The levels that a row is tested on at this scale."""
        return self.plan.test_on if self.slow(row) is None else (row.learn,)

    def slow(self, row: Measured) -> tuple[int, int] | None:
        """How many images a row learns from and is tested on, if it has fewer than the others."""
        return self.scale.slow if self.plan.methods[row.method].slow else None
