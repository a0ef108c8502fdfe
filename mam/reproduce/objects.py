"""The experiment on realistic images (paper, "Proof-of-concept using realistic images")."""

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from mam.data import Recipe
from mam.data.objects import LEVELS
from mam.reproduce.challenge import NO_FIGURE
from mam.reproduce.data_sets import DataSet, generated_set, given_scenes, given_set
from mam.reproduce.experiment import Experiment, with_needs
from mam.reproduce.object_figures import draw_answers
from mam.reproduce.steps import Step, StepFolder, distinct
from mam.reproduce.study import ShownRow, some_rows
from mam.reproduce.versions import device_and_versions
from mam.show.page import TableRow, page, paragraph, table
from mam.tasks import objects as task
from mam.tasks.report import Advance
from mam.vision.elastic.photographs.detector import ObjectDetector

_SEED = 101
_PAPER = 0.71  # median IoU over all objects (paper, "Results" of the realistic images)
_LEARNING, _FINDING = 2.0, 1.0  # seconds an image, two cores


@dataclass(frozen=True)
class ObjectScale:
    """How large the experiment is."""

    levels: tuple[str, ...]
    objects: int  # different ones
    scenes: int  # of each object; 70 % of them are learned from
    runs: int = 3  # each with its own choice of scenes
    pictures: int = 3  # found ones shown of a level, and as many missed ones


@dataclass(frozen=True, eq=False)
class ObjectsStudy(Experiment):
    """Where in a photograph is an object?"""

    scale: ObjectScale
    scale_name: str
    sets: Mapping[str, DataSet]  # by level, or the user's own

    title: ClassVar[str] = "Objects: where in the picture are they?"
    about: ClassVar[str] = (
        "Elastic graphs of edges are learned from pictures with masks, one scene a pose; the "
        "objects are then looked for in other scenes. The measure is IoU with the true mask."
    )
    scales: ClassVar[Mapping[str, ObjectScale]] = {
        "smoke": ObjectScale(("easy",), objects=2, scenes=3, runs=2, pictures=1),
        "small": ObjectScale(("easy", "medium", "hard"), objects=4, scenes=7),
        # 39 objects, 7,797 frames to learn from and 5,870 to test on.
        "paper": ObjectScale(("easy", "medium", "hard"), objects=39, scenes=97),
    }

    @classmethod
    def prepared(
        cls, store: StepFolder, size: ObjectScale, name: str, data: Path | None
    ) -> "ObjectsStudy":
        """The experiment of a given size, with its data sets."""
        if data is not None:
            hint = "it holds scene-*/frame-*.color.png with segm/ or masks/, or objects.parquet"
            file = data / "objects.parquet"
            given = given_set(file, hint) if file.is_file() else given_scenes(data, hint)
            return cls(store, size, name, {"given": given})
        sets = {}
        for level in size.levels:
            config = replace(LEVELS[level], objects=size.objects)
            rows = size.objects * size.scenes * config.frames
            made = Recipe("objects", config, _SEED)
            sets[level] = generated_set(store, f"objects {level}", made, rows)
        return cls(store, size, name, sets)

    def learn(self, level: str, run: int) -> Step:
        """Learn from the scenes that a run chose for it."""
        data = self.sets[level]

        def work(path: Path, advance: Advance) -> Any:
            rows = task.object_rows(str(data.path), task.RowChoice("train", seed=run))
            examples = task.examples_of(rows, str(data.path))
            detector = ObjectDetector(seed=run).fit_examples(examples)
            detector.save(path)
            return {"images": len(examples)}

        settings = {"objects": "train", "run": run, "data": data.settings}
        rows = max(data.rows * 42 // 100, 1)  # 3 of 5 frames of 70 % of the scenes
        return Step(f"learn {level} run {run}", settings, work, rows, _LEARNING, ".safetensors")

    def evaluate(self, level: str, run: int) -> Step:
        """Find the objects of the other scenes."""
        data, model = self.sets[level], self.learn(level, run)

        def work(path: Path, advance: Advance) -> Any:
            choice = task.RowChoice("test", seed=run)
            detector = ObjectDetector.load(self.store.file(model))
            report = task.evaluate(str(data.path), detector, choice, advance=advance)
            if not report.n:
                raise ValueError(f"{data.path}: no scenes are left to test on; give more")
            return json.loads(report.as_json())

        settings = {"model": model.settings, "data": data.settings, "test": run}
        rows = max(data.rows * 30 // 100, 1)
        name = f"{model.name}, test"
        return Step(name, settings, work, rows, _FINDING, needs=(model,))

    def drawing(self, level: str) -> Step:
        """Draw some objects that were found, and some that were missed."""
        data, tested = self.sets[level], self.evaluate(level, 0)

        def work(path: Path, advance: Advance) -> str:
            report = self.store.result(tested)
            found, missed = some_rows(report, self.scale.pictures)
            choice = task.RowChoice("test")
            rows = enumerate(task.object_rows(str(data.path), choice))
            chosen = {number: row for number, row in rows if number in {*found, *missed}}
            shown = [
                ShownRow(n, chosen[n], "good: Found:" if n in found else "bad: Missed:")
                for n in found + missed
            ]
            detector = ObjectDetector.load(self.store.file(self.learn(level, 0)))
            said = f"Of {report['n']} pictures, {len(report['errors'])} have an IoU below one half."
            return paragraph(said) + draw_answers(shown, detector)

        settings = {"test": tested.settings, "pictures": self.scale.pictures}
        return Step(f"pictures {level}", settings, work, needs=(tested,))

    def steps(self) -> list[Step]:
        """All steps, each after those it builds on."""
        ends = [one.step for one in self.sets.values() if one.step is not None]
        ends += [self.evaluate(level, run) for level in self.sets for run in range(self.scale.runs)]
        ends += [self.drawing(level) for level in self.sets]
        return distinct([one for end in ends for one in with_needs(end)])

    def page(self) -> str:
        """The page, as HTML; every step must be done."""
        said = " Generated scenes." if "given" not in self.sets else ""
        sections = [("Median IoU", self._table())]
        sections += [
            (f"Found and missed, {level}", self.store.result(self.drawing(level)))
            for level in self.sets
        ]
        return page(self.title, f"{self.about}{said}", [*sections, self._settings()])

    def summary(self) -> dict[str, Any]:
        """The figures, as JSON."""
        return {
            "experiment": "objects",
            "scale": self.scale_name,
            "median_iou": {level: self._runs(level, "median_iou") for level in self.sets},
            "median_iou_hull": {level: self._runs(level, "median_iou_hull") for level in self.sets},
            "seconds": round(self.seconds(self.steps()), 1),
        }

    def _runs(self, level: str, figure: str) -> list[float]:
        """A figure of every run."""
        found = [
            self.store.result(self.evaluate(level, run))[figure] for run in range(self.scale.runs)
        ]
        return [round(one, 4) for one in found]

    def _table(self) -> str:
        rows = []
        for level in self.sets:
            cells = [_spread(self._runs(level, name)) for name in _FIGURES]
            rows.append(TableRow([level, *cells], "ours"))
        rows.append(TableRow(["paper: 39 objects", NO_FIGURE, f"{_PAPER:.2f}", NO_FIGURE], "other"))
        caption = (
            f"Mean and standard deviation of {self.scale.runs} runs, each with its own choice of "
            "70 % of the scenes to learn from. Outline: the learned outline, moved along with the "
            "parts; hull: their convex hull, the paper's mask; there: share of pictures whose "
            "object was said to be there. The paper's figure is for its own photographs."
        )
        return table(["pictures", "outline", "hull", "there"], rows, caption)

    def _settings(self) -> tuple[str, str]:
        steps = self.steps()
        files = "; ".join(
            f"{level}: {data.path.name}, {data.rows:,} rows" for level, data in self.sets.items()
        )
        tested = {level: self.store.result(self.evaluate(level, 0))["n"] for level in self.sets}
        learned = {level: self.store.result(self.learn(level, 0))["images"] for level in self.sets}
        told = {
            "experiment": f"objects, scale {self.scale_name}",
            "files": files,
            "learned from": ", ".join(f"{count:,} {level}" for level, count in learned.items()),
            "tested on": ", ".join(f"{count:,} {level}" for level, count in tested.items()),
            "choice": "the 3 frames of a training scene, and the 5 of a test scene, with the "
            "largest masks",
            "runs": f"{self.scale.runs}; run k splits the scenes with seed k",
            "time": f"{self.seconds(steps):,.0f} s for {len(steps)} steps, compiling included",
            **device_and_versions(),
        }
        rows = [TableRow([name, said]) for name, said in told.items()]
        return "Settings, versions and times", table(["what", "setting"], rows)


_FIGURES = ("median_iou", "median_iou_hull", "there")


def _spread(values: list[float]) -> str:
    """Mean and standard deviation.

    >>> _spread([0.5, 0.7])
    '0.60 ± 0.14'
    """
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {deviation:.2f}"
