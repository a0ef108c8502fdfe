"""The page of a study: the paper's table and chart with ours beside them, pictures, settings."""

import math
import platform
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import jax

from mam import __version__
from mam.reproduce.steps import Step
from mam.reproduce.study import Line, Study
from mam.show.chart import Series, line_chart
from mam.show.page import TableRow, figure, page, paragraph, table

_PACKAGES = ("jax", "numpy", "scipy", "scikit-image")
NO_FIGURE = "–"


def summary(study: Study) -> dict[str, Any]:
    """The figures of a study as JSON."""
    return {
        "experiment": study.kind,
        "scale": study.scale_name,
        "table": {
            learned: {
                tested: _round(study.right(study.table[learned, tested]))
                for tested in study.test_on
            }
            for learned in study.learn_on
        },
        "curves": [
            {
                "learned_on": line.learn,
                "tested_on": line.test,
                "method": line.method or "ours",
                "images": [count for count, _, _ in study.points(line)],
                "mean": [_round(mean) for _, mean, _ in study.points(line)],
                "deviation": [_round(spread) for _, _, spread in study.points(line)],
            }
            for line in study.lines
        ],
        "seconds": round(seconds_of(study, study.steps()), 1),
    }


def _round(per_cent: float) -> float:
    return round(per_cent, 2)


def seconds_of(study: Study, steps: Sequence[Step]) -> float:
    """The time that finished steps took when they were done."""
    return sum(found.seconds for step in steps if (found := study.store.record(step)) is not None)


def study_page(study: Study) -> str:
    """Return the page; every step must be done."""
    source = "files given" if next(iter(study.test.values())).step is None else "our generator"
    lead = f"{study.about} Scale: {study.scale_name}; images: {source}."
    sections = [
        ("Learned on one level, tested on all", generalisation(study)),
        ("Learned from few images", efficiency(study)),
        *((name, study.store.result(step)) for name, step in study.drawings().items()),
        ("Settings, versions and times", _settings(study)),
    ]
    return page(study.title, lead, sections)


def generalisation(study: Study) -> str:
    """The table: ours, the paper's model and its rival."""
    paper, rows = study.published, []
    for learned in paper.rivals:
        if learned in study.learn_on:
            found = [study.right(study.table[learned, tested]) for tested in study.test_on]
            images = f"ours, {study.learned_from(learned):,}"
            rows.append(TableRow([learned, images, *map(_shown, found)], "first ours"))
            theirs = map(_shown, paper.ours[learned])
            rows.append(TableRow(["", f"paper, {paper.images:,}", *theirs]))
        first = "" if learned in study.learn_on else learned
        look = "other" if learned in study.learn_on else "first other"
        rivals = map(_shown, paper.rivals[learned])
        name = f"{paper.rival}, {paper.rival_images:,}"
        rows.append(TableRow([first, name, *rivals], look))
    tested = ", ".join(f"{study.tested_on(level):,} {level}" for level in study.test_on)
    worst = 50 / math.sqrt(min(study.tested_on(level) for level in study.test_on))
    caption = (
        f"Per cent right. Ours: tested on {tested} images, so that chance moves a figure near 50 % "
        f"by {worst:.1f}, and one near 99 % by {worst / 5:.1f} (standard error). "
        f"The number after a model is that of the images it was learned from."
    )
    return table(["learned on", "model, images", *study.test_on], rows, caption)


def _shown(per_cent: float) -> str:
    return f"{per_cent:.2f}"


def efficiency(study: Study) -> str:
    """The chart of accuracy over the number of images learned from, and its numbers."""
    curves = {line: study.points(line) for line in study.lines}
    ours = []
    for number, (line, points) in enumerate(curves.items()):
        if points:
            counts, means, spreads = zip(*points, strict=True)
            ours.append(Series(_name(line), counts, means, spreads, colour=number))
    if not ours:
        return paragraph("The files given hold fewer images than the smallest count of this scale.")
    known = [
        Series(one.name, one.images, one.accuracy, published=True, colour=one.line)
        for one in study.published.known
    ]
    chart = figure(
        line_chart([*ours, *known], "images learned from", "% right"),
        f"Mean and standard deviation of {study.scale.runs} runs, each learned from other images "
        "as long as there are enough. Diamonds: figures that the paper gives in numbers.",
        look="chart",
    )
    counts = sorted({count for points in curves.values() for count, _, _ in points})
    rows = [
        TableRow([_name(line), *(_point(points, count) for count in counts)])
        for line, points in curves.items()
    ]
    return chart + table(["learned on, tested on", *(f"{count:,}" for count in counts)], rows)


def _name(line: Line) -> str:
    method = f" ({line.method})" if line.method else ""
    return f"{line.learn}, tested on {line.test}{method}"


def _point(points: Sequence[tuple[int, float, float]], wanted: int) -> str:
    found = {count: (mean, spread) for count, mean, spread in points}
    if wanted not in found:
        return NO_FIGURE
    mean, spread = found[wanted]
    return f"{mean:.2f} ± {spread:.2f}"


def _settings(study: Study) -> str:
    steps = study.steps()
    tests = [step for step in steps if step.name.partition(", test ")[2]]
    answered = sum(study.store.result(step)["n"] for step in tests)
    device = jax.devices()[0]
    rates = {
        "experiment": f"{study.kind}, scale {study.scale_name}",
        "learned from": ", ".join(f"{study.learned_from(one):,} {one}" for one in study.learn_on),
        "training files": _files(study, "train"),
        "test files": _files(study, "test"),
        "runs": f"{study.scale.runs}; run k learns from the k-th block of rows, with seed k",
        **study.notes(),
        "time": f"{seconds_of(study, steps):,.0f} s for {len(steps)} steps, compiling included",
        "answers": f"{answered:,} images in {seconds_of(study, tests):,.0f} s",
        "device": f"{device.device_kind} ({device.platform}), {platform.machine()}",
        "versions": ", ".join(
            [
                f"mam {__version__}",
                f"Python {platform.python_version()}",
                *(f"{name} {version(name)}" for name in _PACKAGES),
            ]
        ),
    }
    return table(["what", "setting"], [TableRow([name, said]) for name, said in rates.items()])


def _files(study: Study, use: str) -> str:
    """Where the images come from, in words."""
    sets = study.train if use == "train" else study.test
    told = []
    for level, data in sets.items():
        if data.step is None:
            told.append(f"{data.path.name}, {data.rows:,} rows")
        else:
            told.append(f"{level}, {data.rows:,} rows, seed {data.settings['recipe']['seed']}")
    return "; ".join(told)
