"""The pathfinder experiment (paper, "Pathfinder challenge")."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

from mam.core.progress import Advance
from mam.data import PathfinderRow
from mam.reproduce.contour_figures import (
    draw_answers,
    draw_continuation,
    draw_parts,
    draw_seen,
    draw_sparsified,
)
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
from mam.tasks import pathfinder as task
from mam.tasks.report import Report
from mam.vision.curves.strokes.co_occurrences import LEAST
from mam.vision.curves.strokes.continuation import SMOOTHING
from mam.vision.curves.strokes.contour_grouper import ContourGrouper
from mam.vision.curves.strokes.presets import PRESETS
from mam.vision.parts.masks import PATHFINDER as PATHFINDER_NOISE
from mam.vision.parts.masks import Parts
from mam.vision.parts.part_learning import PartLearner

_BUNDLED = "pathfinder-parts"
_SECONDS = {"easy": 0.03, "medium": 0.03, "hard": 0.04, "ultimate": 0.1}  # an image, two cores
_SHOWN = Measured("hard")  # the row whose model and answers are drawn


def _groupers() -> dict[str, ContourGrouper]:
    """By level. One for all models, since array sizes and so compilations go with a grouper.

    Images of ultimate need larger arrays, in which the others would be slow.
    """
    common = ContourGrouper()
    return {"easy": common, "medium": common, "hard": common, "ultimate": ContourGrouper()}


def _parts(study: Study) -> Step | None:
    """The step that learns parts, for all levels as in the paper; None: they are bundled."""
    return parts_step(study, "parts", PartLearner, 20.0)


def _load_parts(study: Study) -> Parts:
    parts = _parts(study)
    return Parts.load(_BUNDLED if parts is None else study.store.file(parts))


def learn(study: Study, sample: Sample, preset: str) -> Step:
    """Learn how strokes continue each other."""
    level, count, run = sample
    data, parts = study.train[level], _parts(study)
    times = PRESETS[preset].sparsifications

    def work(path: Path, advance: Advance) -> Any:
        grouper = study.shared[level].set_params(parts=_load_parts(study), preset=preset, seed=run)
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
    name = f"learn {level} {count} run {run}" + ("" if preset == "best" else f" {preset}")
    needs = data.needs if parts is None else (*data.needs, parts)
    return Step(name, settings, work, count, times * _SECONDS[level], ".safetensors", needs)


def evaluate(study: Study, model: Step, level: str) -> Step:
    """Answer with the markers given and not in the picture, as the paper does."""

    def measure(count: int, advance: Advance) -> Report:
        path = str(study.test[level].path)
        return task.evaluate(path, _loaded(study, model, level), "clean", count, advance)

    return evaluation(study, model, level, _SECONDS[level], measure)


def _loaded(study: Study, model: Step, level: str) -> ContourGrouper:
    """A learned model, for images of a level."""
    found = ContourGrouper.load(study.store.file(model))
    grouper = study.shared[level].set_params(**found.get_params())
    grouper.continuation_ = found.continuation_
    return grouper


def _drawings(study: Study) -> Mapping[str, Step]:
    """Answers, parts and continuations of the model learned on hard images."""
    model, counted = model_step(study, _SHOWN), model_step(study, Measured("hard", PAPER))

    def parts(path: Path, advance: Advance) -> str:
        step = _parts(study)
        usage = None if step is None else study.store.result(step)["usage"]
        return draw_parts(_load_parts(study), usage, study.scale.parts)

    def sparsified(path: Path, advance: Advance) -> str:
        [row] = study.test["hard"].read([0])
        assert isinstance(row, PathfinderRow)
        return draw_sparsified(row, _load_parts(study))

    about = {"model": model.settings}
    return {
        "Decodings": answers_step(
            study, _SHOWN, lambda shown: draw_answers(shown, _loaded(study, model, "ultimate"))
        ),
        "Learned parts": Step("picture of parts", about, parts, needs=(model,)),
        "Learned continuations": Step(
            "picture of continuations",
            about,
            lambda path, advance: draw_continuation(_loaded(study, model, "hard")),
            needs=(model,),
        ),
        "Continuations by the paper's settings": Step(
            "picture of co-occurrences",
            {"model": counted.settings},
            lambda path, advance: draw_seen(_loaded(study, counted, "hard")),
            needs=(counted,),
        ),
        "An image made of parts": Step(
            "picture of a sparsified image",
            {**about, "data": study.test["hard"].settings},
            sparsified,
            needs=(model, *study.test["hard"].needs),
        ),
    }


def _notes(study: Study) -> Mapping[str, str]:
    count = study.scale.parts
    source = f"learned from {count} hard images" if count else "bundled"
    return {
        "parts": f"16 of 7 x 7 px, {source}",
        "continuation": "ours: smooth log odds over distance, bend and skew; 'paper settings' are "
        "the paper's own way in every step, with the pairs of parts seen in ten sparsifications of "
        "every contour (`--preset paper`)",
        "test protocol": "markers given, and not in the picture, as in the paper",
    }


def _in_full(preset: str) -> Mapping[str, Any]:
    """All settings of a preset that are numbers or words."""
    chosen = PRESETS[preset]
    functions = {"strokes", "learn", "read", "arrays"}
    told = {one.name: getattr(chosen, one.name) for one in fields(chosen)}
    own = {name: value for name, value in told.items() if name not in functions}
    own["noise"] = chosen.noise or PATHFINDER_NOISE
    return {**own, "smoothing": SMOOTHING} if preset == "best" else {**own, "least count": LEAST}


_quoted = partial(Quoted, model="paper, printed", images=5000)
_rival = partial(Quoted, model="H-CNN, printed", images=900_000, rival=True)

PATHFINDER = Challenge(
    kind="pathfinder",
    title="Pathfinder: which strokes form a contour?",
    about="Two markers: are they on the same broken contour? Strokes are parts, each pair of "
    "facing ends is an attention variable, and max-product decides which of them are ON.",
    test_on=("easy", "medium", "hard", "ultimate"),
    decoded=("hard", "ultimate"),
    methods={
        OURS: Method(partial(learn, preset="best"), evaluate),
        PAPER: Method(partial(learn, preset="paper"), evaluate, slow=True),
    },
    rows=(
        Measured("easy"),
        Measured("easy", PAPER),
        _quoted("easy", right=(98.74, 98.65, 98.21, 97.21)),
        _rival("easy", right=(99.47, 49.01, 49.48, 49.88)),
        Measured("medium"),
        Measured("medium", PAPER),
        _quoted("medium", right=(98.92, 99.00, 98.77, 98.33)),
        _rival("medium", right=(45.71, 98.02, 49.55, 49.90)),
        Measured("hard"),
        Measured("hard", PAPER),
        _quoted("hard", right=(98.92, 99.07, 98.80, 98.42)),
        _rival("hard", right=(46.95, 48.52, 97.60, 49.94)),
        _rival("ultimate", right=(29.52, 39.67, 56.94, 79.68)),
    ),
    lines=(
        ChartLine("hard", "hard"),
        ChartLine("easy", "ultimate"),
        ChartLine("hard", "hard", PAPER),
    ),
    known=(
        PaperPoints("paper, printed: hard, tested on hard", (5000,), (98.80,), 0),
        PaperPoints("paper, printed: easy, tested on ultimate", (1000, 5000), (91.0, 97.21), 1),
    ),
    scales={
        "smoke": Scale(
            train=20,
            test=8,
            counts=(5, 20),
            runs=2,
            parts=0,
            pictures=1,
            slow=(5, 8),
            rivals=RivalScale(8),
        ),
        "small": Scale(train=500, test=300, counts=(10, 50, 200, 500)),
        "paper": Scale(
            train=5000,
            test=5000,
            counts=(10, 50, 100, 500, 1000, 2000, 5000),
        ),
    },
    drawings=_drawings,
    notes=_notes,
    settings={OURS: _in_full("best"), PAPER: _in_full("paper")},
    equip=_groupers,
)
