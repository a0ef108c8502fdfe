"""The cABC experiment (paper, "cABC challenge")."""

from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from mam.core.progress import Advance
from mam.data import CabcRow
from mam.reproduce.drawn_answers import ShownRow
from mam.reproduce.letter_figures import draw_answers, draw_graphs, draw_parts
from mam.reproduce.plan import (
    OURS,
    PAPER,
    Challenge,
    ChartLine,
    Measured,
    Method,
    PaperPoints,
    Quoted,
    RivalScale,
    Sample,
    Scale,
    Study,
)
from mam.reproduce.steps import Step
from mam.reproduce.study import answers_step, evaluation, model_step, parts_step
from mam.tasks import cabc as task
from mam.tasks.cabc_pairs import MARKERS
from mam.tasks.report import Report
from mam.vision.elastic.letters.finder import ObjectFinder
from mam.vision.elastic.letters.letter_search import LetterSearchConfig
from mam.vision.elastic.springs import FACTOR, LONGEST, TOLERANCE
from mam.vision.parts.masks import CABC as NOISE
from mam.vision.parts.masks import Parts
from mam.vision.parts.message_cover import MESSAGES
from mam.vision.parts.part_learning import PartLearner, PartLearningConfig

# Seconds on two cores, by preset: an image of two letters to learn from, one to answer.
_LEARNING = {"best": 0.05, "paper": 8.0}
_MATCHING = {"best": 0.9, "paper": 10.0}
_EDGES = {"factor": FACTOR, "tolerance": TOLERANCE, "longest": LONGEST}
_PART = PartLearningConfig(count=1, side=9)  # facts: one part of 9 x 9
_SHOWN = Measured("hard")  # the row whose model and answers are drawn


def learn(study: Study, sample: Sample, preset: str) -> Step:
    """Learn an elastic graph from every letter."""

    def work(path: Path, advance: Advance) -> Any:
        finder = task.fit(_letters(study, sample), preset=preset)
        finder.save(path)
        bank = finder.bank_
        return {"graphs": len(bank), "vertices": round(float(bank.vertex_count.mean()), 1)}

    level, count, run = sample
    data = study.train[level]
    settings = {"graphs": count, "run": run, "preset": preset, "data": data.settings}
    name = f"learn {level} {count} run {run}" + ("" if preset == "best" else f" {preset}")
    cost = _LEARNING[preset]
    return Step(name, settings, work, count, cost, ".safetensors", data.needs)


def evaluate(study: Study, model: Step, level: str, preset: str, method: str) -> Step:
    """Answer images with ring markers in them."""

    def measure(count: int, advance: Advance) -> Report:
        finder = ObjectFinder.load(study.store.file(model), preset=preset)
        return task.evaluate(str(study.test[level].path), finder, count, advance)

    # Most of an image is matching the best candidates; the rest grows with the bank.
    cost = _MATCHING[preset] + 0.0004 * model.rows
    return evaluation(study, model, level, cost, measure, method)


def _method(name: str, preset: str, slow: bool = False) -> Method:
    tested = partial(evaluate, preset=preset, method=name)
    return Method(partial(learn, preset=preset), tested, slow)


def _letters(study: Study, sample: Sample) -> Iterator[CabcRow]:
    data = study.train[sample.level]
    for number, row in enumerate(data.read(data.block(sample.count, sample.run))):
        if not isinstance(row, CabcRow):
            raise ValueError(f"{data.path}: row {number} is not of cABC")
        yield row


def _drawings(study: Study) -> Mapping[str, Step]:
    """Answers of the bank learned on hard images, a part learned to be shown, and some graphs."""
    model = model_step(study, _SHOWN)
    part = parts_step(study, "part", partial(PartLearner, _PART, noise=NOISE), 15.0)

    def answers(shown: list[ShownRow]) -> str:
        return draw_answers(shown, ObjectFinder.load(study.store.file(model)))

    def parts(path: Path, advance: Advance) -> str:
        learned = None if part is None else Parts.load(study.store.file(part))
        return draw_parts(learned, study.scale.parts)

    def graphs(path: Path, advance: Advance) -> str:
        return draw_graphs(list(_letters(study, Sample("hard", min(study.scale.pictures, 2)))))

    about = {"data": study.train["hard"].settings, "pictures": study.scale.pictures}
    needs = () if part is None else (part,)
    known = {"part": None if part is None else part.settings}
    return {
        "Decodings": answers_step(study, _SHOWN, answers),
        "Object part": Step("picture of the part", known, parts, needs=needs),
        "Elastic graphs": Step(
            "pictures of graphs", about, graphs, needs=study.train["hard"].needs
        ),
    }


def _notes(study: Study) -> Mapping[str, str]:
    return {
        "search": "ours, the preset 'best': turned and scaled copies of every graph; markers weigh "
        "the pairs of candidates. 'paper settings' are the paper's own way in every step "
        "(`--preset paper`)",
        "test protocol": "ring markers are in the picture, and found in it",
    }


_quoted = partial(Quoted, model="paper, printed", images=45_000)
_rival = partial(Quoted, model="TD+H-CNN, printed", images=45_000, rival=True)

CABC = Challenge(
    kind="cabc",
    title="cABC: which letters are these?",
    about="Two ring markers on two overlapping, bent letters: are they on the same one? An "
    "elastic graph is learned from every training letter; the pair of graphs that best explains "
    "an image gives the answer.",
    test_on=("easy", "medium", "hard"),
    decoded=("hard", "easy"),
    methods={OURS: _method(OURS, "best"), PAPER: _method(PAPER, "paper", slow=True)},
    rows=(
        Measured("easy"),
        Measured("easy", PAPER),
        _quoted("easy", right=(90.10, 87.40, 86.36)),
        _rival("easy", right=(97.50, 89.60, 57.90)),
        Measured("medium"),
        Measured("medium", PAPER),
        _quoted("medium", right=(89.22, 87.74, 86.82)),
        _rival("medium", right=(95.00, 93.00, 61.60)),
        Measured("hard"),
        Measured("hard", PAPER),
        _quoted("hard", right=(89.00, 87.20, 88.42)),
        _rival("hard", right=(82.40, 82.20, 85.60)),
    ),
    lines=(ChartLine("hard", "hard"), ChartLine("easy", "hard")),
    known=(
        PaperPoints("paper, printed: hard, tested on hard", (45_000,), (88.42,), 0),
        PaperPoints("TD+H-CNN, printed: hard, tested on hard", (45_000,), (85.60,)),
    ),
    scales={
        "smoke": Scale(
            train=8,
            test=3,
            counts=(2, 8),
            runs=2,
            parts=0,
            pictures=1,
            slow=(1, 1),
            rivals=RivalScale(8),
        ),
        "small": Scale(train=600, test=150, counts=(10, 50, 200, 600), parts=4, slow=(20, 20)),
        "paper": Scale(train=45_000, test=5000, counts=(50, 500, 5000, 45_000)),
    },
    drawings=_drawings,
    notes=_notes,
    settings={
        OURS: {"noise": NOISE, "edges": _EDGES, "search": LetterSearchConfig(), "markers": MARKERS},
        PAPER: {
            "noise": NOISE,
            "sparsifier": MESSAGES,
            "edges": _EDGES,
            "search": LetterSearchConfig.paper(),
        },
    },
)
