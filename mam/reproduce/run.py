"""Do an experiment step by step, and write its page."""

from collections.abc import Callable, Mapping
from pathlib import Path

from mam.core.progress import Tell
from mam.core.whole import write_whole
from mam.data.outputs import check_outputs
from mam.reproduce.cabc import CABC
from mam.reproduce.challenge_page import challenge
from mam.reproduce.experiment import NONE, Experiment, Prepared, changed
from mam.reproduce.models import MODELS
from mam.reproduce.objects import OBJECTS
from mam.reproduce.pathfinder import PATHFINDER
from mam.reproduce.steps import Step, StepFolder

EXPERIMENTS: Mapping[str, Experiment] = {
    "pathfinder": challenge(PATHFINDER),
    "cabc": challenge(CABC),
    "objects": OBJECTS,
    "models": MODELS,
}

Notice = Callable[[str], None]  # something that a user should know, in a sentence


def prepare(
    name: str,
    scale: str,
    out: Path,
    data: Path | None = None,
    changes: Mapping[str, int] = NONE,
    rivals: Path | None = None,
) -> Prepared:
    """Open the folder of an experiment; what cannot work is refused here, before any work.

    ``changes`` are other numbers than the scale's, ``rivals`` is a folder of files that
    ``python -m bench.rival_runs`` wrote.
    """
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out}: is a file; --out is a folder")
    if not out.absolute().parent.is_dir():
        raise FileNotFoundError(f"{out.parent}: no such folder")
    if data is not None and not data.is_dir():
        raise FileNotFoundError(f"{data}: no such folder of data sets")
    folder = out / name
    experiment = EXPERIMENTS[name]
    size, words = changed(experiment.scales[scale], scale, changes)
    study = experiment.prepared(StepFolder(folder), size, words, data, rivals)
    folder.mkdir(parents=True, exist_ok=True)
    given = [] if data is None else data.glob("*.parquet")
    check_outputs({".html": [_page_of(folder)], ".json": [folder / "step.json"]}, given)
    return study


def _page_of(folder: Path) -> Path:
    """The page of an experiment lies beside the folder of its steps."""
    return folder.with_suffix(".html")


def run_steps(
    store: StepFolder,
    steps: list[Step],
    tell: Tell = lambda title, share: None,
    notice: Notice = lambda text: None,
) -> None:
    """Do what is not done yet; the share counts that alone. A damaged record is told of."""
    left = [step for step in steps if store.record(step) is None]
    for step in left:
        if (path := store.damaged(step)) is not None:
            notice(f"{path}: no whole record of a step; {step.name!r} is done again")
    total = sum(step.rows * step.cost for step in left) or 1.0
    before = 0.0
    for step in left:
        tell(step.name, before / total)
        told = 0

        def advance(rows: int, step: Step = step, before: float = before) -> None:
            nonlocal told
            told = min(told + rows, step.rows)
            tell(step.name, (before + told * step.cost) / total)

        store.run(step, advance)
        before += step.rows * step.cost
    tell("done", 1.0)


def reproduce(
    study: Prepared,
    tell: Tell = lambda title, share: None,
    notice: Notice = lambda text: None,
) -> Path:
    """Do an experiment, and return its page."""
    run_steps(study.store, study.steps, tell, notice)
    path = _page_of(study.store.folder)
    write_whole(path, study.page().encode())
    return path
