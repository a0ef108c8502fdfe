"""What commands with `--cluster` share: many pictures or rows, a folder of answers, a summary."""

import json
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mam.commands.ending import ends_on_request
from mam.commands.progress_bars import progress_bar
from mam.core.limits import ITEM_SECONDS
from mam.core.words import counted

if TYPE_CHECKING:
    from mam.core.over import Over
    from mam.scale import HeldRun, Outcome, Shard, ShardJob

ClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Many pictures over processes and machines: local, local:N, tcp://HOST:PORT, or a "
        "YAML file for SLURM, PBS, Kubernetes. Answers go to the folder --out.",
        show_default=False,
    ),
]
LearnClusterOption = Annotated[
    str | None,
    typer.Option(
        help="Learn over processes and machines: local, local:N, tcp://HOST:PORT, or a YAML file "
        "for SLURM, PBS, Kubernetes. The model is the same.",
        show_default=False,
    ),
]
ItemSecondsOption = Annotated[
    float | None,
    typer.Option(
        help=f"With --cluster: a picture that takes longer is set aside; default: {ITEM_SECONDS}.",
        min=0.1,
        show_default=False,
    ),
]
AnswersOption = Annotated[
    Path | None,
    typer.Option(help="With --cluster: a folder for the shards of the answers."),
]


@contextmanager
def over_cluster(cluster: str | None, quiet: bool) -> "Iterator[Over]":
    """What runs functions on a cluster and says what befalls it; without one, ``map``."""
    if cluster is None:
        yield map
        return
    from mam.scale.clusters import check_cluster
    from mam.scale.spread import spread_over

    check_cluster(cluster)
    with spread_over(cluster, _told(quiet)) as spread:
        yield spread


def _told(quiet: bool) -> "Callable[[str], None]":
    return lambda line: None if quiet else typer.echo(f"mam: {line}", err=True)


def run_over(
    job: "ShardJob",
    sources: Sequence[str | Path],
    out: Path | None,
    cluster: str,
    item_seconds: float | int | None = None,
    quiet: bool = False,
    limit: int | None = None,
    wanted: Container[int] | None = None,
) -> "Outcome":
    """Run a job over a cluster, with progress."""
    from mam.scale import plan_shards

    if out is None:
        raise ValueError("--cluster: give --out FOLDER for the shards of the answers")
    if out.suffix:
        raise ValueError(f"{out}: with --cluster, --out is a folder, for shards of answers")
    if out.resolve() in {folder.resolve() for folder in {Path(one).parent for one in sources}}:
        raise ValueError(f"{out}: the input lies there; choose a folder of its own for --out")
    shards = plan_shards(sources, limit=limit, wanted=wanted)
    with _held(job, shards, out, cluster, item_seconds or ITEM_SECONDS, quiet) as run:
        return run.outcome


@contextmanager
def _held(
    job: "ShardJob",
    shards: "Sequence[Shard]",
    folder: Path,
    cluster: str,
    item_seconds: float | int,
    quiet: bool,
) -> "Iterator[HeldRun]":
    from mam.scale import held_run

    known = {"cluster": cluster, "item_seconds": item_seconds, "say": _told(quiet)}
    total = sum(map(len, shards))
    kept = "finished shards are kept, the same command goes on"
    with ExitStack() as held:
        with ends_on_request(kept), progress_bar("all shards", total, "items", quiet) as advance:
            run = held.enter_context(held_run(job, shards, folder, advance=advance, **known))
        yield run


@contextmanager
def taught(
    make_job: "Callable[[Path], ShardJob]",
    data: str,
    out: Path,
    cluster: str,
    limit: int | None,
    quiet: bool,
) -> Iterator[Path]:
    """The folder of what each row taught on a cluster.

    It lies beside the model that is made of it and written in this block, and goes with its end,
    unless something else is in it. Models that the job needs may be put there.
    """
    from mam.scale import plan_shards
    from mam.scale.clusters import check_cluster

    check_cluster(cluster)
    shards = plan_shards([data], limit=limit)
    folder = out.with_name(f"{out.name}.shards")
    folder.mkdir(exist_ok=True)
    job = make_job(folder)
    with _held(job, shards, folder, cluster, ITEM_SECONDS, quiet) as run:
        yield folder
        run.manifest.remove(path for path in map(Path, job.models) if path.parent == folder)


def one_folder(given: Sequence[Path]) -> Path | None:
    """The folder for answers, where one is named at most."""
    if len(given) > 1:
        raise ValueError("--cluster: give one folder, --out FOLDER")
    return given[0] if given else None


def refuse_without(cluster: str | None, **given: object) -> None:
    """Refuse options that only a cluster heeds where there is none.

    >>> refuse_without(None, item_seconds=7)
    Traceback (most recent call last):
    ...
    ValueError: --item-seconds is for runs with --cluster: add --cluster local, or leave it out
    """
    for name, value in given.items():
        if cluster is None and value is not None:
            option = f"--{name.replace('_', '-')}"
            raise ValueError(
                f"{option} is for runs with --cluster: add --cluster local, or leave it out"
            )


class OnCluster(NamedTuple):
    """Where an evaluation is done, how much of it, and how it is told."""

    cluster: str | None
    out: Path | None
    item_seconds: float | int | None
    limit: int | None
    as_json: bool
    quiet: bool


def evaluate_over(
    task: str,
    data: str,
    model: str,
    known: dict[str, Any],
    on: OnCluster,
    wanted: Container[int] | None = None,
) -> None:
    """Evaluate on a cluster; the report is that of one process."""
    from mam.scale.evaluation import EvaluateJob, report_of

    assert on.cluster is not None
    job = EvaluateJob(task, model, tuple(known.items()))
    outcome = run_over(job, [data], on.out, on.cluster, on.item_seconds, on.quiet, on.limit, wanted)
    report = report_of(task, outcome.folder, outcome.seconds)
    typer.echo(report.as_json() if on.as_json else report.as_text())


def tell(outcome: "Outcome", as_json: bool) -> None:
    """Say what became of a run; its answers are in the folder."""
    if as_json:
        about = {
            "out": str(outcome.folder),
            "items": outcome.items,
            "kept": outcome.kept,
            "errors": outcome.errors,
            "set_aside": outcome.set_aside,
            "per_second": round(outcome.per_second, 2),
        }
        typer.echo(json.dumps(about))
        return
    lines = [
        f"{outcome.folder}: {counted(outcome.items, 'item')}, {outcome.per_second:.1f} a second"
        + (f", {outcome.kept} of them from before" if outcome.kept else "")
    ]
    if outcome.errors:
        lines.append(f"{counted(outcome.errors, 'item')} without an answer: see the column error")
    lines += [f"{item}: set aside, {why}" for item, why in outcome.set_aside.items()]
    typer.echo("\n".join(lines))
