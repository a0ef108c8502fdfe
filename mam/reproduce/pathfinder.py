"""The pathfinder experiment (paper, "Pathfinder challenge")."""

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from mam.reproduce.challenge import Challenge
from mam.reproduce.contour_figures import draw_answers, draw_continuation, draw_parts
from mam.reproduce.steps import Step
from mam.reproduce.study import ChartLine, PaperPoints, Published, Scale
from mam.tasks import pathfinder as task
from mam.tasks.report import Advance
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.presets import PRESETS
from mam.vision.parts.learning import PartLearner
from mam.vision.parts.masks import Parts
from mam.vision.parts.training import binary_images

_BUNDLED = "pathfinder-parts"
_SECONDS = {"easy": 0.03, "medium": 0.03, "hard": 0.04, "ultimate": 0.1}  # an image, two cores


class PathfinderStudy(Challenge):
    """Are two markers on the same broken contour?"""

    kind: ClassVar[str] = "pathfinder"
    title: ClassVar[str] = "Pathfinder: which strokes form a contour?"
    about: ClassVar[str] = (
        "Two markers: are they on the same broken contour? Strokes are parts, each pair of facing "
        "ends is an attention variable, and max-product decides which of them are ON."
    )
    learn_on: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    test_on: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard", "ultimate")
    decoded: ClassVar[tuple[str, ...]] = ("hard", "ultimate")
    lines: ClassVar[tuple[ChartLine, ...]] = (
        ChartLine("hard", "hard"),
        ChartLine("easy", "ultimate"),
        ChartLine("hard", "hard", "paper"),
    )
    scales: ClassVar[Mapping[str, Scale]] = {
        "smoke": Scale(train=20, test=8, counts=(5, 20), parts=0, pictures=1),
        "small": Scale(train=500, test=300, counts=(10, 50, 200, 500)),
        "paper": Scale(
            train=5000,
            test=5000,
            counts=(10, 50, 100, 500, 1000, 2000, 5000),
        ),
    }
    published: ClassVar[Published] = Published(
        rival="H-CNN",
        rival_images=900_000,
        images=5000,
        ours={
            "easy": (98.74, 98.65, 98.21, 97.21),
            "medium": (98.92, 99.00, 98.77, 98.33),
            "hard": (98.92, 99.07, 98.80, 98.42),
        },
        rivals={
            "easy": (99.47, 49.01, 49.48, 49.88),
            "medium": (45.71, 98.02, 49.55, 49.90),
            "hard": (46.95, 48.52, 97.60, 49.94),
            "ultimate": (29.52, 39.67, 56.94, 79.68),
        },
        known=(
            PaperPoints("paper: hard, tested on hard", (5000,), (98.80,), 0),
            PaperPoints("paper: easy, tested on ultimate", (1000, 5000), (91.0, 97.21), 1),
        ),
    )

    @cached_property
    def parts(self) -> Step | None:
        """The step that learns parts, for all levels as in the paper; None: they are bundled."""
        data = self.train["hard"]
        count = min(self.scale.parts, data.rows)
        if not count:
            return None

        def work(path: Path, advance: Advance) -> Any:
            rows = data.read(data.block(count, 0))
            masks = [m for row in rows for m in binary_images(row, str(data.path))]
            learner = PartLearner().fit(masks)
            learner.parts_.save(path)
            return {"usage": learner.usage_.tolist()}

        settings = {"parts": count, "data": data.settings}
        return Step("parts", settings, work, count, 20.0, ".safetensors")

    def learn(self, level: str, count: int, run: int, method: str = "") -> Step:
        """Learn how strokes continue each other."""
        data, parts = self.train[level], self.parts
        preset = method or "best"
        times = PRESETS[preset].sparsifications

        def work(path: Path, advance: Advance) -> Any:
            grouper = self._groupers[level].set_params(
                parts=self._load_parts(),
                preset=preset,
                seed=run,
            )
            rows = list(data.read(data.block(count, run)))
            task.fit_rows(rows, str(data.path), grouper, advance).save(path)
            return grouper.provenance_

        settings = {
            "contours": preset,
            "images": count,
            "run": run,
            "parts": _BUNDLED if parts is None else parts.settings,
            "data": data.settings,
        }
        name = f"learn {level} {count} run {run} {method}".strip()
        needs = () if parts is None else (parts,)
        return Step(name, settings, work, count, times * _SECONDS[level], ".safetensors", needs)

    def evaluate(self, model: Step, level: str) -> Step:
        """Answer with the markers given and not in the picture, as the paper does."""
        data, count = self.test[level], self.tested_on(level)

        def work(path: Path, advance: Advance) -> Any:
            grouper = self._loaded(model, level)
            report = task.evaluate(str(data.path), grouper, "clean", count, advance)
            return json.loads(report.as_json())

        settings = {"model": model.settings, "images": count, "data": data.settings}
        name = f"{model.name}, test {level}"
        return Step(name, settings, work, count, _SECONDS[level], needs=(model,))

    def drawings(self) -> Mapping[str, Step]:
        """Answers, parts and continuations of the model learned on hard images."""
        model = self.model("hard")

        def answers(path: Path, advance: Advance) -> str:
            grouper = self._loaded(model, "ultimate")
            return self.draw_answers(lambda shown: draw_answers(shown, grouper))

        def parts(path: Path, advance: Advance) -> str:
            usage = None if self.parts is None else self.store.result(self.parts)["usage"]
            return draw_parts(self._load_parts(), usage, self.scale.parts)

        about = {"model": model.settings}
        return {
            "Decodings": self.answers_step(answers),
            "Learned parts": Step("picture of parts", about, parts, needs=(model,)),
            "Learned continuations": Step(
                "picture of continuations",
                about,
                lambda path, advance: draw_continuation(self._loaded(model, "hard")),
                needs=(model,),
            ),
        }

    def notes(self) -> Mapping[str, str]:
        """Settings worth a line on the page."""
        count = self.scale.parts
        source = f"learned from {count} hard images" if count else "bundled"
        return {
            "parts": f"16 of 7 x 7 px, {source}",
            "continuation": "smooth log odds over distance, bend and skew; 'paper' is the paper's "
            "own way in every step, with the pairs of parts seen in ten sparsifications of every "
            "contour (`--preset paper`)",
            "test protocol": "markers given, and not in the picture, as in the paper",
        }

    @cached_property
    def _groupers(self) -> dict[str, ContourGrouper]:
        """One for all models, since array sizes and so compilations go with a grouper.

        Images of ultimate need larger arrays, in which the others would be slow.
        """
        common, large = ContourGrouper(), ContourGrouper()
        return {level: large if level == "ultimate" else common for level in self.test_on}

    def _loaded(self, model: Step, level: str) -> ContourGrouper:
        """A learned model, for images of a level."""
        found = ContourGrouper.load(self.store.file(model))
        grouper = self._groupers[level].set_params(**found.get_params())
        grouper.continuation_ = found.continuation_
        return grouper

    def _load_parts(self) -> Parts:
        return Parts.load(_BUNDLED if self.parts is None else self.store.file(self.parts))
