"""Do an experiment step by step, and write its page."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from mam.core.progress import Tell
from mam.core.whole_files import sweep, write_whole
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

# Does steps by the names of their files in other processes, and tells them as they are done.
Elsewhere = Callable[[Sequence[str]], Iterable[str]]
Notice = Callable[[str], None]  # something that a user should know, in a sentence


class Asked(NamedTuple):
    """What ``prepare`` is asked for, to be sent to other processes; paths are absolute."""

    name: str
    scale: str
    out: Path
    data: Path | None = None
    changes: tuple[tuple[str, int], ...] = ()
    rivals: Path | None = None


def do_step(asked: Asked, stem: str) -> str:
    """Do one step of an experiment here, by the name of its files; the name again."""
    study = _prepared(asked)
    [step] = [step for step in study.steps if step.stem == stem]
    study.store.run(step)
    return stem


@lru_cache(maxsize=2)
def _prepared(asked: Asked) -> Prepared:
    """An experiment stays open: what its steps share knows what was compiled for it."""
    name, scale, out, data, changes, rivals = asked
    return prepare(name, scale, out, data, dict(changes), rivals)


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
    return replace(
        study, command=command_of(Asked(name, scale, out, data, (*changes.items(),), rivals))
    )


def command_of(asked: Asked) -> str:
    """The command that asks for it; of paths the last name, since others have other folders.

    >>> command_of(Asked("cabc", "small", Path("runs"), None, (("test", 50),)))
    'mam reproduce cabc --scale small --test 50 --out runs'
    """
    words = ["mam", "reproduce", asked.name, "--scale", asked.scale]
    for option, folder in (("data", asked.data), ("rivals", asked.rivals)):
        words += [] if folder is None else [f"--{option}", folder.name]
    words += [word for name, count in asked.changes for word in (f"--{name}", str(count))]
    return " ".join([*words, "--out", asked.out.name])


def _page_of(folder: Path) -> Path:
    """The page of an experiment lies beside the folder of its steps."""
    return folder.with_suffix(".html")


def run_steps(
    store: StepFolder,
    steps: list[Step],
    tell: Tell = lambda title, share: None,
    notice: Notice = lambda text: None,
    elsewhere: Elsewhere | None = None,
) -> None:
    """Do what is not done yet; the share counts that alone. A damaged record is told of."""
    sweep(path for step in steps for path in store.files(step))
    left = [step for step in steps if store.record(step) is None]
    for step in left:
        if (path := store.damaged(step)) is not None:
            notice(f"{path}: no whole record of a step; {step.name!r} is done again")
    total = sum(step.rows * step.cost for step in left) or 1.0
    if elsewhere is None:
        _run_here(store, left, total, tell)
    else:
        _run_elsewhere(left, total, tell, elsewhere)
    tell("done", 1.0)


def _run_elsewhere(left: list[Step], total: float, tell: Tell, elsewhere: Elsewhere) -> None:
    """Do at once all steps that build on finished ones alone, until none is left."""
    done = 0.0
    tell("waiting for the first step", 0.0)
    while left:
        undone = {step.stem for step in left}
        ready = {
            step.stem: step
            for step in left
            if not undone.intersection(need.stem for need in step.needs)
        }
        for stem in elsewhere(list(ready)):
            step = ready[stem]
            done += step.rows * step.cost
            tell(step.name, done / total)
        left = [step for step in left if step.stem not in ready]


def _run_here(store: StepFolder, left: list[Step], total: float, tell: Tell) -> None:
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


def reproduce(
    study: Prepared,
    tell: Tell = lambda title, share: None,
    notice: Notice = lambda text: None,
    elsewhere: Elsewhere | None = None,
) -> Path:
    """Do an experiment, and return its page."""
    run_steps(study.store, study.steps, tell, notice, elsewhere)
    path = _page_of(study.store.folder)
    write_whole(path, study.page(study.command).encode(errors="xmlcharrefreplace"))
    return path
