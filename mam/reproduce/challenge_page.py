"""The page of a challenge: the paper's table and chart, ours beside them, pictures, settings."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

from mam.reproduce.data_sets import DataSet
from mam.reproduce.experiment import Experiment, Prepared
from mam.reproduce.page_settings import (
    NO_FIGURE,
    SETTINGS,
    settings_in_full,
    settings_table,
    time_told,
)
from mam.reproduce.plan import (
    OURS,
    Challenge,
    ChartLine,
    Measured,
    Quoted,
    RivalPoint,
    Scale,
    Study,
)
from mam.reproduce.rivals import NAMES, rival_points, rival_steps
from mam.reproduce.steps import StepFolder
from mam.reproduce.study import (
    images_step,
    learned_from,
    open_study,
    points,
    right,
    study_steps,
    table_steps,
    tested_on,
)
from mam.show.chart import Series, line_chart
from mam.show.page import TableRow, figure, page, paragraph, table


def challenge(plan: Challenge) -> Experiment:
    """A challenge as an experiment."""

    def prepared(
        store: StepFolder, size: Scale, name: str, data: Path | None, rivals: Path | None
    ) -> Prepared:
        study = open_study(plan, store, size, name, data, rivals)
        return Prepared(
            store,
            study_steps(study),
            partial(challenge_page, study),
            lambda: summary(study),
        )

    return Experiment(plan.scales, prepared)


def challenge_page(study: Study, command: str) -> str:
    """The page that a command makes, as HTML; every step must be done."""
    plan, store = study.plan, study.store
    given = all(one.step is None for one in study.test.values())
    source = "files given" if given else "our generator"
    lead = f"{plan.about} Scale: {study.scale_name}; images: {source}."
    sections = [
        ("Learned on one level, tested on all", generalisation(study)),
        ("Learned from few images", efficiency(study)),
        ("Test images", store.result(images_step(study))),
        *((name, store.result(step)) for name, step in plan.drawings(study).items()),
        (SETTINGS, settings(study, command)),
        ("Settings of the methods, in full", settings_in_full(plan.settings)),
    ]
    return page(plan.title, lead, sections)


def summary(study: Study) -> dict[str, Any]:
    """The figures, as JSON."""
    plan, steps = study.plan, table_steps(study)
    return {
        "experiment": plan.kind,
        "scale": study.scale_name,
        "table": {
            _with_method(row.learn, row.method): {
                tested: round(right(study, steps[row, tested]), 2) for tested in study.tested(row)
            }
            for row in study.measured
        },
        "curves": [_curve(line, points(study, line)) for line in plan.lines],
        "rivals": [
            {**point._asdict(), "right": {at: round(one, 2) for at, one in point.right.items()}}
            for point in rival_points(study)
        ],
        "seconds": round(study.store.seconds(study_steps(study)), 1),
    }


def _curve(line: ChartLine, found: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    return {
        "learned_on": line.learn,
        "tested_on": line.test,
        "method": line.method,
        "images": [count for count, _, _ in found],
        "mean": [round(mean, 2) for _, mean, _ in found],
        "deviation": [round(spread, 2) for _, _, spread in found],
    }


def _with_method(words: str, method: str) -> str:
    return words if method == OURS else f"{words} ({method})"


def generalisation(study: Study) -> str:
    """The table: what was measured, and what the paper gives."""
    plan, steps = study.plan, table_steps(study)

    def shown(row: Measured | Quoted) -> tuple[str, Sequence[float | None], str]:
        """The model, its figures, and how the row looks."""
        if isinstance(row, Quoted):
            return f"{row.model}, {row.images:,}", row.right, "other" if row.rival else ""
        tests = study.tested(row)
        found = [right(study, steps[row, at]) if at in tests else None for at in plan.test_on]
        return f"{row.method}, {learned_from(study, row):,}", found, "ours"

    rows = []
    there = [row for row in plan.rows if isinstance(row, Quoted) or row in study.measured]
    for level, several in groupby(there, lambda row: row.learn):
        told = [*map(shown, several), *_rival_rows(study, level)]
        for number, (model, found, look) in enumerate(told):
            right_shares = [NO_FIGURE if one is None else f"{one:.2f}" for one in found]
            cells = ["" if number else level, model, *right_shares]
            rows.append(TableRow(cells, look if number else f"first {look}".strip()))
    tested = ", ".join(f"{tested_on(study, level):,} {level}" for level in plan.test_on)
    worst = 50 / math.sqrt(min(tested_on(study, level) for level in plan.test_on))
    caption = (
        f"Per cent right. Ours: tested on {tested} images, so that chance moves a figure near 50 % "
        f"by {worst:.1f}, and one near 99 % by {worst / 5:.1f} (standard error). "
        "The number after a model is that of the images it was learned from. What is called "
        "measured was learned and tested by this software, what is called printed stands in the "
        f"paper. {_rivals_told(study)}"
    )
    return table(["learned on", "model, images", *plan.test_on], rows, caption)


def _rival_rows(study: Study, level: str) -> list[tuple[str, Sequence[float | None], str]]:
    """Of every network that learned from a level, the one with the most images, and its figures."""
    best: dict[str, RivalPoint] = {}
    for point in rival_points(study):
        known = best.get(point.kind)
        if point.learn == level and (known is None or point.images >= known.images):
            best[point.kind] = point
    return [
        (
            f"{NAMES[kind]}, measured, {one.images:,}",
            [one.right.get(tested) for tested in study.plan.test_on],
            "other",
        )
        for kind, one in best.items()
    ]


def _rivals_told(study: Study) -> str:
    """Where the figures of the rivals come from."""
    scale = study.scale.rivals
    if study.rivals is not None:
        return "Rivals: from the files given."
    if scale is None or not rival_steps(study):
        return "Rivals: none measured here; --rivals takes the files of python -m bench.rival_runs."
    return (
        f"Rivals: {scale.images} images of {scale.side} px, {scale.epochs} epoch, to see that all "
        "of it works; so little teaches them nothing."
    )


def _rival_series(study: Study, first: int) -> list[Series]:
    """What rivals reached, for every line of the chart that is ours."""
    found, points_of = [], rival_points(study)
    for line in dict.fromkeys(one._replace(method=OURS) for one in study.plan.lines):
        for kind in dict.fromkeys(point.kind for point in points_of):
            mine = [
                (point.images, point.right[line.test])
                for point in sorted(points_of, key=lambda point: point.images)
                if (point.kind, point.learn) == (kind, line.learn) and line.test in point.right
            ]
            if mine:
                name = f"{NAMES[kind]}, measured: {_name(line)}"
                counts, right = zip(*mine, strict=True)
                found.append(Series(name, counts, right, colour=first + len(found)))
    return found


def efficiency(study: Study) -> str:
    """The chart of accuracy over the number of images learned from, and its numbers."""
    curves = {line: points(study, line) for line in study.plan.lines}
    ours = []
    for number, (line, found) in enumerate(curves.items()):
        if found:
            counts, means, spreads = zip(*found, strict=True)
            ours.append(Series(_name(line), counts, means, spreads, colour=number))
    if not ours:
        return paragraph("The files given hold fewer images than the smallest count of this scale.")
    known = [
        Series(one.name, one.images, one.accuracy, published=True, colour=one.line)
        for one in study.plan.known
    ]
    series = [*ours, *_rival_series(study, len(ours)), *known]
    chart = figure(
        line_chart(series, "images learned from", "% right"),
        f"Mean and standard deviation of {study.scale.runs} runs, each learned from other images "
        "as long as there are enough; of rivals a single run. Diamonds: figures that the paper "
        "gives in numbers.",
        look="chart",
    )
    counts = sorted({count for found in curves.values() for count, _, _ in found})
    rows = [
        TableRow([_name(line), *(_point(found, count) for count in counts)])
        for line, found in curves.items()
    ]
    return chart + table(["learned on, tested on", *(f"{count:,}" for count in counts)], rows)


def _name(line: ChartLine) -> str:
    return _with_method(f"{line.learn}, tested on {line.test}", line.method)


def _point(found: Sequence[tuple[int, float, float]], wanted: int) -> str:
    known = {count: (mean, spread) for count, mean, spread in found}
    if wanted not in known:
        return NO_FIGURE
    mean, spread = known[wanted]
    return f"{mean:.2f} ± {spread:.2f}"


def settings(study: Study, command: str) -> str:
    """The table of settings, versions and times."""
    plan, store, steps = study.plan, study.store, study_steps(study)
    tests = [step for step in steps if step.name.partition(", test ")[2]]
    answered = sum(store.result(step)["n"] for step in tests)
    learned = ", ".join(
        f"{learned_from(study, row):,} {_with_method(row.learn, row.method)}"
        for row in study.measured
    )
    return settings_table(
        {
            "command": command,
            "experiment": f"{plan.kind}, scale {study.scale_name}",
            "learned from": learned,
            "training files": _files(study.train),
            "test files": _files(study.test),
            "runs": f"{study.scale.runs}; run k learns from the k-th block of rows, with seed k",
            **plan.notes(study),
            "rivals": _rivals_told(study),
            "time": time_told(store, steps),
            "answers": f"{answered:,} images in {store.seconds(tests):,.0f} s",
        }
    )


def _files(sets: Mapping[str, DataSet]) -> str:
    """Where the images come from, in words."""
    told = []
    for level, data in sets.items():
        if data.step is None:
            told.append(f"{data.path.name}, {data.rows:,} rows")
        else:
            told.append(f"{level}, {data.rows:,} rows, seed {data.settings['recipe']['seed']}")
    return "; ".join(told)
