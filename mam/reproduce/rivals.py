"""Rivals on a challenge's page: measured before, or tiny ones learned here.

Figures come from the files of ``python -m bench.rival_runs``, one ``KIND-TASK-LEVEL.json`` for a
network and the level it learned from, or, at a scale with ``rivals``, from steps of the study.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mam.core.json_text import read_json
from mam.core.progress import Advance
from mam.reproduce.plan import RivalPoint, RivalScale, Study
from mam.reproduce.steps import Step
from mam.rivals.extra import missing_extra

NAMES = {"h-cnn": "H-CNN", "td-h-cnn": "TD+H-CNN", "convnext": "ConvNeXt", "resnet": "ResNet"}
_LEARNED = "hard"  # the level that tiny rivals learn from
_SECONDS = 1.0  # an image, two cores: compiling, mostly


def read_rivals(folder: Path, task: str) -> tuple[RivalPoint, ...]:
    """What was measured of a task: a point for each count of images of each file."""
    if not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder of rivals' figures")
    files = sorted(folder.glob(f"*-{task}-*.json"))
    if not files:
        raise FileNotFoundError(
            f"{folder}: no KIND-{task}-LEVEL.json in it; python -m bench.rival_runs writes them"
        )
    return tuple(point for path in files for point in _points(path, task))


def _points(path: Path, task: str) -> list[RivalPoint]:
    kind, _, level = path.stem.rpartition(f"-{task}-")
    if kind not in NAMES:
        raise ValueError(f"{path}: {kind} is no rival; known are {', '.join(NAMES)}")
    try:
        runs = read_json(path)["runs"]
        done = [run for run in runs.values() if "accuracy" in run]  # others are under way
        found = [_point(run, kind, level) for run in done]
        others = {(run["settings"]["network"], run["settings"]["task"]) for run in done}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(
            f"{path}: no file of python -m bench.rival_runs ({error}); remove it"
        ) from None
    if others - {(kind, task)}:
        raise ValueError(f"{path}: its name says {kind} and {task}, its settings {min(others)}")
    return sorted(found, key=lambda point: point.images)


def _point(run: Mapping[str, Any], kind: str, level: str) -> RivalPoint:
    settings = run["settings"]
    right = {name: 100 * float(share) for name, share in run["accuracy"].items()}
    if any(not 0 <= one <= 100 for one in right.values()):
        raise ValueError(f"accuracy {run['accuracy']}")
    return RivalPoint(kind, level, int(settings["images"]), right)


def rival_steps(study: Study) -> list[Step]:
    """The steps that learn and test tiny rivals; none where figures are given."""
    scale = study.scale.rivals
    if scale is None or study.rivals is not None or missing_extra():
        return []
    return [_step(study, scale, kind) for kind in scale.kinds]


def rival_points(study: Study) -> tuple[RivalPoint, ...]:
    """The figures of all rivals; steps must be done."""
    if study.rivals is not None:
        return study.rivals
    found = []
    for step in rival_steps(study):
        result = study.store.result(step)
        right = {level: 100 * share for level, share in result["accuracy"].items()}
        kind, images = step.settings["rival"], step.settings["images"]
        found.append(RivalPoint(kind, _LEARNED, images, right))
    return tuple(found)


def _step(study: Study, scale: RivalScale, kind: str) -> Step:
    data = study.train[_LEARNED]
    count = min(scale.images, data.rows)

    def work(path: Path, advance: Advance) -> Any:
        from mam.data.read.labelled import read_labelled
        from mam.rivals.learn import learn_rival
        from mam.rivals.predict import Rival
        from mam.rivals.settings import RATES, Settings
        from mam.tasks.rivals import evaluate

        pictures, task = read_labelled(str(data.path), count), study.plan.kind
        digest, batch = pictures.digest(), min(scale.batch, count)
        settings = Settings(kind, task, count, digest, scale.side, batch, RATES[task], scale.epochs)
        learn_rival(
            pictures, settings, path, resume=True, told=lambda images, loss: advance(images)
        )
        rival = Rival.load(path)
        right = {
            level: evaluate(str(one.path), rival, task, study.scale.test).figures["accuracy"]
            for level, one in study.test.items()
        }
        about = {name: rival.provenance[name] for name in ("parameters", "images_seen", "loss")}
        return {**about, "accuracy": right}

    settings = {
        "rival": kind,
        "images": count,
        "side": scale.side,
        "batch": scale.batch,
        "epochs": scale.epochs,
        "data": data.settings,
        "tests": [one.settings for one in study.test.values()],
        "tested": study.scale.test,
    }
    rows, name = scale.epochs * count, f"rival {kind} {_LEARNED} {count}"
    needs = tuple(need for one in [data, *study.test.values()] for need in one.needs)
    return Step(name, settings, work, rows, _SECONDS, ".safetensors", needs)
