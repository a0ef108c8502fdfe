"""The page of a challenge: the paper's table and chart, ours beside them, pictures, settings."""

import math
from collections.abc import Sequence
from typing import Any

from mam.reproduce.study import ChartLine, Study
from mam.reproduce.versions import device_and_versions
from mam.show.chart import Series, line_chart
from mam.show.page import TableRow, figure, page, paragraph, table

NO_FIGURE = "–"


class Challenge(Study):
    """A challenge with markers: a study whose page has the paper's table and chart."""

    def page(self) -> str:
        """The page, as HTML; every step must be done."""
        given = all(one.step is None for one in self.test.values())
        source = "files given" if given else "our generator"
        lead = f"{self.about} Scale: {self.scale_name}; images: {source}."
        sections = [
            ("Learned on one level, tested on all", generalisation(self)),
            ("Learned from few images", efficiency(self)),
            ("Test images", self.store.result(self.images_step())),
            *((name, self.store.result(step)) for name, step in self.drawings().items()),
            ("Settings, versions and times", settings(self)),
        ]
        return page(self.title, lead, sections)

    def summary(self) -> dict[str, Any]:
        """The figures, as JSON."""
        return {
            "experiment": self.kind,
            "scale": self.scale_name,
            "table": {
                learned: {
                    tested: round(self.right(self.table[learned, tested]), 2)
                    for tested in self.test_on
                }
                for learned in self.learn_on
            },
            "curves": [_curve(line, self.points(line)) for line in self.lines],
            "seconds": round(self.seconds(self.steps()), 1),
        }


def _curve(line: ChartLine, points: Sequence[tuple[int, float, float]]) -> dict[str, Any]:
    return {
        "learned_on": line.learn,
        "tested_on": line.test,
        "method": line.method or "ours",
        "images": [count for count, _, _ in points],
        "mean": [round(mean, 2) for _, mean, _ in points],
        "deviation": [round(spread, 2) for _, _, spread in points],
    }


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


def _name(line: ChartLine) -> str:
    method = f" ({line.method})" if line.method else ""
    return f"{line.learn}, tested on {line.test}{method}"


def _point(points: Sequence[tuple[int, float, float]], wanted: int) -> str:
    found = {count: (mean, spread) for count, mean, spread in points}
    if wanted not in found:
        return NO_FIGURE
    mean, spread = found[wanted]
    return f"{mean:.2f} ± {spread:.2f}"


def settings(study: Study) -> str:
    """The table of settings, versions and times."""
    steps = study.steps()
    tests = [step for step in steps if step.name.partition(", test ")[2]]
    answered = sum(study.store.result(step)["n"] for step in tests)
    rates = {
        "experiment": f"{study.kind}, scale {study.scale_name}",
        "learned from": ", ".join(f"{study.learned_from(one):,} {one}" for one in study.learn_on),
        "training files": _files(study, "train"),
        "test files": _files(study, "test"),
        "runs": f"{study.scale.runs}; run k learns from the k-th block of rows, with seed k",
        **study.notes(),
        "time": f"{study.seconds(steps):,.0f} s for {len(steps)} steps, compiling included",
        "answers": f"{answered:,} images in {study.seconds(tests):,.0f} s",
        **device_and_versions(),
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
