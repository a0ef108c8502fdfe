"""What a challenge takes: learn on some levels, test on all, learn from few images."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mam.core.progress import Advance
from mam.data import recipe
from mam.reproduce.data_sets import DataSet, generated_set, given_set
from mam.reproduce.drawn_answers import ShownRow, some_rows
from mam.reproduce.plan import OURS, Challenge, ChartLine, Measured, Sample, Scale, Study
from mam.reproduce.rivals import read_rivals, rival_steps
from mam.reproduce.steps import Step, StepFolder, distinct, with_needs
from mam.show.page import figure, figures, paragraph, picture
from mam.show.sheet import row_panels
from mam.tasks.report import Report
from mam.vision.parts.part_learning import PartLearner
from mam.vision.parts.training import binary_images

_SEEDS = {"train": 101, "test": 102}  # of generated sets: no row is in both
_FILES = (
    "a folder of data sets holds LEVEL-train.parquet for easy, medium and hard, and "
    "LEVEL-test.parquet for every level to test on"
)


def open_study(
    plan: Challenge,
    store: StepFolder,
    size: Scale,
    name: str,
    data: Path | None = None,
    rivals: Path | None = None,
) -> Study:
    """A challenge of a given size, on generated or given data, beside rivals that are given."""
    most = size.runs * max(size.counts, default=0)
    curves = {line.learn for line in plan.lines}

    def found(level: str, use: str, count: int) -> DataSet:
        if data is not None:
            return given_set(data / f"{level}-{use}.parquet", _FILES)
        made = recipe(plan.kind, level, _SEEDS[use])
        return generated_set(store, f"{plan.kind} {level} {use}", made, count)

    train = {
        level: found(level, "train", max(size.train, size.parts, most if level in curves else 0))
        for level in plan.learn_on
    }
    test = {level: found(level, "test", size.test) for level in plan.test_on}
    known = None if rivals is None else read_rivals(rivals, plan.kind)
    return Study(plan, store, size, name, train, test, plan.equip(), known)


def learned_from(study: Study, row: Measured) -> int:
    """The images learned from for a row of the table; a smaller file is used whole."""
    slow = study.slow(row)
    return min(study.scale.train if slow is None else slow[0], study.train[row.learn].rows)


def tested_on(study: Study, level: str, method: str = OURS) -> int:
    """The images of a level that a method is tested on."""
    slow = study.slow(Measured(level, method))
    return min(study.scale.test if slow is None else slow[1], study.test[level].rows)


def model_step(study: Study, row: Measured) -> Step:
    """The step that learns the model of a row of the table."""
    sample = Sample(row.learn, learned_from(study, row))
    return study.plan.methods[row.method].learn(study, sample)


def row_step(study: Study, row: Measured, level: str) -> Step:
    """The evaluation of a row of the table on a level."""
    return study.plan.methods[row.method].evaluate(study, model_step(study, row), level)


def table_steps(study: Study) -> dict[tuple[Measured, str], Step]:
    """The evaluations of the table, by row and level tested on."""
    # The hardest first: array sizes only grow, and each size is compiled anew.
    return {
        (row, level): row_step(study, row, level)
        for row in reversed(study.measured)
        for level in reversed(study.tested(row))
    }


def curve_steps(study: Study, line: ChartLine) -> dict[int, list[Step]]:
    """The evaluations of a curve: images learned from -> a step for each run."""
    method = study.plan.methods[line.method]
    return {
        count: [
            method.evaluate(study, method.learn(study, Sample(line.learn, count, run)), line.test)
            for run in range(study.scale.runs)
        ]
        for count in study.scale.counts
        if count <= study.train[line.learn].rows
    }


def study_steps(study: Study) -> list[Step]:
    """All steps, each after those it builds on."""
    sets = [one.step for one in [*study.train.values(), *study.test.values()]]
    ends = list(table_steps(study).values())
    for line in study.plan.lines:
        ends += [step for several in curve_steps(study, line).values() for step in several]
    ends += [images_step(study), *rival_steps(study), *study.plan.drawings(study).values()]
    return distinct([*filter(None, sets), *(one for end in ends for one in with_needs(end))])


def evaluation(
    study: Study,
    model: Step,
    level: str,
    cost: float,
    measure: Callable[[int, Advance], Report],
    method: str = OURS,
) -> Step:
    """The step that tests a model on a level, ``cost`` seconds an image.

    ``measure`` is given the number of images.
    """
    data, count = study.test[level], tested_on(study, level, method)

    def work(path: Path, advance: Advance) -> Any:
        return json.loads(measure(count, advance).as_json())

    settings = {"model": model.settings, "images": count, "data": data.settings}
    needs = (model, *data.needs)
    return Step(f"{model.name}, test {level}", settings, work, count, cost, needs=needs)


def parts_step(
    study: Study, name: str, learner: Callable[[], PartLearner], cost: float
) -> Step | None:
    """The step that learns parts, ``cost`` seconds an image; None: this scale learns none."""
    data = study.train["hard"]
    count = min(study.scale.parts, data.rows)
    if not count:
        return None

    def work(path: Path, advance: Advance) -> Any:
        rows = data.read(data.block(count, 0))
        masks = [mask for row in rows for mask in binary_images(row, str(data.path))]
        learned = learner().fit(masks[:count])
        learned.parts_.save(path)
        return {"usage": learned.usage_.tolist()}

    settings = {name: count, "data": data.settings}
    return Step(name, settings, work, count, cost, ".safetensors", data.needs)


def images_step(study: Study) -> Step:
    """The step that draws an image of every level."""

    def work(path: Path, advance: Advance) -> str:
        shown = []
        for level, data in study.test.items():
            [row] = data.read([0])
            caption, panels = row_panels(row)
            shown += [figure(picture(one, level), f"{level}: {caption}") for one in panels]
        return figures(shown)

    settings = {"images": [data.settings for data in study.test.values()]}
    needs = tuple(need for data in study.test.values() for need in data.needs)
    return Step(f"pictures of {study.plan.kind}", settings, work, needs=needs)


def answers_step(study: Study, row: Measured, draw: Callable[[list[ShownRow]], str]) -> Step:
    """The step that draws some right and some wrong answers of a row, of every level."""
    tests = {level: row_step(study, row, level) for level in study.plan.decoded}

    def work(path: Path, advance: Advance) -> str:
        html = []
        for level, step in tests.items():
            report = study.store.result(step)
            right, wrong = some_rows(report, study.scale.pictures)
            rows = study.test[level].read(right + wrong)
            shown = [
                ShownRow(number, one, "good: Right:" if number in right else "bad: Wrong:")
                for number, one in zip(right + wrong, rows, strict=True)
            ]
            said = f"{len(report['errors'])} of {report['n']} answers are wrong."
            html.append(paragraph(f"Learned on {row.learn}, tested on {level}: {said}"))
            html.append(draw(shown))
        return "".join(html)

    settings = {
        "tests": [step.settings for step in tests.values()],
        "pictures": study.scale.pictures,
    }
    return Step("pictures of answers", settings, work, needs=tuple(tests.values()))


def right(study: Study, step: Step) -> float:
    """Per cent of the rows that an evaluation answered right."""
    return 100 * study.store.result(step)["accuracy"]


def points(study: Study, line: ChartLine) -> list[tuple[int, float, float]]:
    """A curve as images learned from, mean accuracy and its standard deviation, per cent."""
    found = []
    for count, steps in curve_steps(study, line).items():
        each = np.array([right(study, step) for step in steps])
        spread = float(each.std(ddof=1)) if len(each) > 1 else 0.0
        found.append((count, float(each.mean()), spread))
    return found
