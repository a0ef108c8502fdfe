"""The experiment on realistic images (paper, "Proof-of-concept using realistic images")."""

import json
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from mam.core.progress import Advance
from mam.data import Recipe
from mam.data.generate.objects import LEVELS
from mam.reproduce.data_sets import DataSet, generated_set, given_scenes, given_set
from mam.reproduce.drawn_answers import ShownRow, some_rows
from mam.reproduce.experiment import Experiment, Prepared
from mam.reproduce.object_figures import draw_answers
from mam.reproduce.page_settings import (
    NO_FIGURE,
    SETTINGS,
    settings_in_full,
    settings_table,
    time_told,
)
from mam.reproduce.steps import Step, StepFolder, distinct, with_needs
from mam.show.page import TableRow, page, paragraph, table
from mam.tasks import objects as task
from mam.vision.elastic.photographs.detector import ObjectDetector
from mam.vision.elastic.photographs.object_search import ObjectSearchConfig

_SEED = 101
_LEARNING, _FINDING = 2.0, 1.0  # seconds an image, two cores


@dataclass(frozen=True)
class ObjectScale:
    """How large the experiment is."""

    levels: tuple[str, ...]
    objects: int  # different ones
    scenes: int  # of each object; 70 % of them are learned from
    runs: int = 3  # each with its own choice of scenes
    pictures: int = 3  # found ones shown of a level, and as many missed ones


class QuotedIou(NamedTuple):
    """A row of the table that the paper gives; None: it gives no such figure."""

    name: str
    outline: float | None
    hull: float | None
    there: float | None


# Median over all objects (paper, "Results" of the realistic images).
_QUOTED = (QuotedIou("paper: 39 objects", None, 0.71, None),)
_TITLE = "Objects: where in the picture are they?"
_ABOUT = (
    "Elastic graphs of edges are learned from pictures with masks, one scene a pose; the "
    "objects are then looked for in other scenes. The measure is IoU with the true mask."
)
_IN_FULL = {"search": ObjectSearchConfig()}
_FIGURES = ("median_iou", "median_iou_hull", "there")
_SCALES = {
    "smoke": ObjectScale(("easy",), objects=2, scenes=3, runs=2, pictures=1),
    "small": ObjectScale(("easy", "medium", "hard"), objects=4, scenes=7),
    # 39 objects, 7,797 frames to learn from and 5,870 to test on.
    "paper": ObjectScale(("easy", "medium", "hard"), objects=39, scenes=97, pictures=6),
}


@dataclass(frozen=True, eq=False)
class ObjectsStudy:
    """Where in a photograph is an object? At one scale, with the folder of the steps."""

    store: StepFolder
    scale: ObjectScale
    scale_name: str
    sets: Mapping[str, DataSet]  # by level, or the user's own


def _prepared(
    store: StepFolder, size: ObjectScale, name: str, data: Path | None, rivals: Path | None
) -> Prepared:
    if rivals is not None:
        raise ValueError(f"--rivals {rivals}: this experiment has no rivals")
    study = ObjectsStudy(store, size, name, _data_sets(store, size, data))
    return Prepared(store, study_steps(study), partial(objects_page, study), lambda: summary(study))


def _data_sets(store: StepFolder, size: ObjectScale, data: Path | None) -> dict[str, DataSet]:
    if data is not None:
        hint = "it holds scene-*/frame-*.color.png with segm/ or masks/, or objects.parquet"
        file = data / "objects.parquet"
        return {"given": given_set(file, hint) if file.is_file() else given_scenes(data, hint)}
    sets = {}
    for level in size.levels:
        config = replace(LEVELS[level], objects=size.objects)
        rows = size.objects * size.scenes * config.frames
        made = Recipe("objects", config, _SEED)
        sets[level] = generated_set(store, f"objects {level}", made, rows)
    return sets


def learn(study: ObjectsStudy, level: str, run: int) -> Step:
    """Learn from the scenes that a run chose for it."""
    data = study.sets[level]

    def work(path: Path, advance: Advance) -> Any:
        rows = task.object_rows(str(data.path), task.RowChoice("train", seed=run))
        examples = task.examples_of(rows, str(data.path))
        detector = task.fit(examples, ObjectDetector(seed=run))
        detector.save(path)
        return {"images": len(examples)}

    settings = {"objects": "train", "run": run, "data": data.settings}
    rows = max(data.rows * 42 // 100, 1)  # 3 of 5 frames of 70 % of the scenes
    name = f"learn {level} run {run}"
    return Step(name, settings, work, rows, _LEARNING, ".safetensors", data.needs)


def evaluate(study: ObjectsStudy, level: str, run: int) -> Step:
    """Find the objects of the other scenes."""
    data, model = study.sets[level], learn(study, level, run)

    def work(path: Path, advance: Advance) -> Any:
        choice = task.RowChoice("test", seed=run)
        detector = ObjectDetector.load(study.store.file(model))
        report = task.evaluate(str(data.path), detector, choice, advance=advance)
        if not report.n:
            raise ValueError(f"{data.path}: no scenes are left to test on; give more")
        return json.loads(report.as_json())

    settings = {"model": model.settings, "data": data.settings, "test": run}
    rows = max(data.rows * 30 // 100, 1)
    name = f"{model.name}, test"
    return Step(name, settings, work, rows, _FINDING, needs=(model,))


def drawing(study: ObjectsStudy, level: str) -> Step:
    """Draw some objects that were found, and some that were missed."""
    data, tested = study.sets[level], evaluate(study, level, 0)

    def work(path: Path, advance: Advance) -> str:
        report = study.store.result(tested)
        source, choice = str(data.path), task.RowChoice("test")
        names = [str(getattr(row, "name", None)) for row in task.object_rows(source, choice)]
        found, missed = some_rows(report, study.scale.pictures, names)
        rows = enumerate(task.object_rows(source, choice))
        chosen = {number: row for number, row in rows if number in {*found, *missed}}
        shown = [
            ShownRow(n, chosen[n], "good: Found:" if n in found else "bad: Missed:")
            for n in found + missed
        ]
        detector = ObjectDetector.load(study.store.file(learn(study, level, 0)))
        said = f"Of {report['n']} pictures, {len(report['errors'])} have an IoU below one half."
        return paragraph(said) + draw_answers(shown, detector)

    settings = {"test": tested.settings, "pictures": study.scale.pictures, "of": "all objects"}
    return Step(f"pictures {level}", settings, work, needs=(tested,))


def study_steps(study: ObjectsStudy) -> list[Step]:
    """All steps, each after those it builds on."""
    ends = [one.step for one in study.sets.values() if one.step is not None]
    ends += [evaluate(study, level, run) for level in study.sets for run in range(study.scale.runs)]
    ends += [drawing(study, level) for level in study.sets]
    return distinct([one for end in ends for one in with_needs(end)])


def objects_page(study: ObjectsStudy, command: str) -> str:
    """The page that a command makes, as HTML; every step must be done."""
    said = " Generated scenes." if "given" not in study.sets else ""
    sections = [("Median IoU", _table(study))]
    sections += [
        (f"Found and missed, {level}", study.store.result(drawing(study, level)))
        for level in study.sets
    ]
    sections += [
        (SETTINGS, _settings(study, command)),
        ("Settings of the method, in full", settings_in_full({"ours": _IN_FULL})),
    ]
    return page(_TITLE, f"{_ABOUT}{said}", sections)


def summary(study: ObjectsStudy) -> dict[str, Any]:
    """The figures, as JSON."""
    return {
        "experiment": "objects",
        "scale": study.scale_name,
        "median_iou": {level: _runs(study, level, "median_iou") for level in study.sets},
        "median_iou_hull": {level: _runs(study, level, "median_iou_hull") for level in study.sets},
        "seconds": round(study.store.seconds(study_steps(study)), 1),
    }


def _runs(study: ObjectsStudy, level: str, figure: str) -> list[float]:
    """A figure of every run."""
    found = [
        study.store.result(evaluate(study, level, run))[figure] for run in range(study.scale.runs)
    ]
    return [round(one, 4) for one in found]


def _table(study: ObjectsStudy) -> str:
    rows = []
    for level in study.sets:
        cells = [_spread(_runs(study, level, name)) for name in _FIGURES]
        rows.append(TableRow([level, *cells], "ours"))
    for name, *quoted in _QUOTED:
        cells = [NO_FIGURE if one is None else f"{one:.2f}" for one in quoted]
        rows.append(TableRow([name, *cells], "other"))
    caption = (
        f"Mean and standard deviation of {study.scale.runs} runs, each with its own choice of "
        "70 % of the scenes to learn from. Outline: the learned outline, moved along with the "
        "parts; hull: their convex hull, the paper's mask; there: share of pictures whose "
        "object was said to be there. The paper's figure is for its own photographs."
    )
    return table(["pictures", "outline", "hull", "there"], rows, caption)


def _settings(study: ObjectsStudy, command: str) -> str:
    store, sets = study.store, study.sets
    files = [f"{level}: {data.path.name}, {data.rows:,} rows" for level, data in sets.items()]
    tested = {level: store.result(evaluate(study, level, 0))["n"] for level in sets}
    learned = {level: store.result(learn(study, level, 0))["images"] for level in sets}
    return settings_table(
        {
            "command": command,
            "experiment": f"objects, scale {study.scale_name}",
            "files": "; ".join(files),
            "learned from": ", ".join(f"{count:,} {level}" for level, count in learned.items()),
            "tested on": ", ".join(f"{count:,} {level}" for level, count in tested.items()),
            "choice": "the 3 frames of a training scene, and the 5 of a test scene, with the "
            "largest masks; of a single scene 70 % of the frames are learned from",
            "runs": f"{study.scale.runs}; run k splits the scenes with seed k",
            "time": time_told(store, study_steps(study)),
        }
    )


def _spread(values: list[float]) -> str:
    """Mean and standard deviation.

    >>> _spread([0.5, 0.7])
    '0.60 ± 0.14'
    """
    deviation = statistics.stdev(values) if len(values) > 1 else 0.0
    return f"{statistics.mean(values):.2f} ± {deviation:.2f}"


OBJECTS = Experiment(_SCALES, _prepared)
