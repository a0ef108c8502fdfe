"""The cABC experiment (paper, "cABC challenge")."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

from mam.data import CabcRow
from mam.reproduce.challenge import Challenge
from mam.reproduce.letter_figures import draw_answers, draw_graphs, draw_parts
from mam.reproduce.steps import Step
from mam.reproduce.study import ChartLine, PaperPoints, Published, Scale
from mam.tasks import cabc as task
from mam.tasks.report import Advance
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.parts.learning import PartLearner, PartLearningConfig
from mam.vision.parts.masks import CABC, Parts
from mam.vision.parts.training import binary_images

_LEARNING = 0.05  # seconds an image of two letters, two cores
_PART = PartLearningConfig(count=1, side=9)  # facts: one part of 9 x 9


class CabcStudy(Challenge):
    """Are two markers on the same of two overlapping letters?"""

    kind: ClassVar[str] = "cabc"
    title: ClassVar[str] = "cABC: which letters are these?"
    about: ClassVar[str] = (
        "Two ring markers on two overlapping, bent letters: are they on the same one? An elastic "
        "graph is learned from every training letter; the pair of graphs that best explains an "
        "image gives the answer."
    )
    learn_on: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    test_on: ClassVar[tuple[str, ...]] = ("easy", "medium", "hard")
    decoded: ClassVar[tuple[str, ...]] = ("hard", "easy")
    lines: ClassVar[tuple[ChartLine, ...]] = (ChartLine("hard", "hard"),)
    scales: ClassVar[Mapping[str, Scale]] = {
        "smoke": Scale(train=8, test=3, counts=(2, 8), runs=2, parts=0, pictures=1),
        "small": Scale(train=600, test=150, counts=(10, 50, 200, 600), parts=4),
        "paper": Scale(train=45_000, test=5000, counts=(50, 500, 5000, 45_000)),
    }
    published: ClassVar[Published] = Published(
        rival="TD+H-CNN",
        rival_images=45_000,
        images=45_000,
        ours={
            "easy": (90.10, 87.40, 86.36),
            "medium": (89.22, 87.74, 86.82),
            "hard": (89.00, 87.20, 88.42),
        },
        rivals={
            "easy": (97.50, 89.60, 57.90),
            "medium": (95.00, 93.00, 61.60),
            "hard": (82.40, 82.20, 85.60),
        },
        known=(
            PaperPoints("paper: hard, tested on hard", (45_000,), (88.42,), 0),
            PaperPoints("TD+H-CNN: hard, tested on hard", (45_000,), (85.60,)),
        ),
    )

    def learn(self, level: str, count: int, run: int, method: str = "") -> Step:
        """Learn an elastic graph from every letter."""
        data = self.train[level]

        def work(path: Path, advance: Advance) -> Any:
            finder = task.fit(self._letters(level, count, run))
            finder.save(path)
            bank = finder.bank_
            return {"graphs": len(bank), "vertices": round(float(bank.vertex_count.mean()), 1)}

        settings = {"graphs": count, "run": run, "data": data.settings}
        name = f"learn {level} {count} run {run}"
        return Step(name, settings, work, count, _LEARNING, ".safetensors")

    def evaluate(self, model: Step, level: str) -> Step:
        """Answer images with ring markers in them."""
        data, count = self.test[level], self.tested_on(level)

        def work(path: Path, advance: Advance) -> Any:
            finder = ObjectFinder.load(self.store.file(model))
            return json.loads(task.evaluate(str(data.path), finder, count, advance).as_json())

        settings = {"model": model.settings, "images": count, "data": data.settings}
        # Most of an image is matching the best candidates; the rest grows with the bank.
        cost = 0.9 + 0.0004 * model.rows
        return Step(f"{model.name}, test {level}", settings, work, count, cost, needs=(model,))

    def part(self) -> Step | None:
        """The step that learns a part from a few letters, to show it; None: none is learned."""
        data = self.train["hard"]
        count = min(self.scale.parts, data.rows)
        if not count:
            return None

        def work(path: Path, advance: Advance) -> Any:
            rows = data.read(data.block(count, 0))
            masks = (m for row in rows for m in binary_images(row, str(data.path)))
            learner = PartLearner(_PART, noise=CABC).fit(list(islice(masks, count)))
            learner.parts_.save(path)
            return {"usage": learner.usage_.tolist()}

        settings = {"part": count, "data": data.settings}
        return Step("part", settings, work, count, 15.0, ".safetensors")

    def drawings(self) -> Mapping[str, Step]:
        """Answers of the bank learned on hard images, the part, and some graphs."""
        model, part = self.model("hard"), self.part()

        def answers(path: Path, advance: Advance) -> str:
            finder = ObjectFinder.load(self.store.file(model))
            return self.draw_answers(lambda shown: draw_answers(shown, finder))

        def parts(path: Path, advance: Advance) -> str:
            learned = None if part is None else Parts.load(self.store.file(part))
            return draw_parts(learned, self.scale.parts)

        def graphs(path: Path, advance: Advance) -> str:
            return draw_graphs(list(self._letters("hard", min(self.scale.pictures, 2), 0)))

        about = {"data": self.train["hard"].settings, "pictures": self.scale.pictures}
        needs = () if part is None else (part,)
        known = {"part": None if part is None else part.settings}
        return {
            "Decodings": self.answers_step(answers),
            "Object part": Step("picture of the part", known, parts, needs=needs),
            "Elastic graphs": Step("pictures of graphs", about, graphs),
        }

    def notes(self) -> Mapping[str, str]:
        """Settings worth a line on the page."""
        return {
            "search": "the preset 'best': turned and scaled copies of every graph; markers weigh "
            "the pairs of candidates",
            "test protocol": "ring markers are in the picture, and found in it",
        }

    def _letters(self, level: str, count: int, run: int) -> Iterator[CabcRow]:
        data = self.train[level]
        for number, row in enumerate(data.read(data.block(count, run))):
            if not isinstance(row, CabcRow):
                raise ValueError(f"{data.path}: row {number} is not of cABC")
            yield row
