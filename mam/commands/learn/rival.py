"""`mam learn rival`: neural baselines."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.ending import ends_on_request
from mam.commands.progress_bars import progress_bar

if TYPE_CHECKING:
    from mam.rivals.learn import Progress
    from mam.rivals.settings import Settings


class NetworkName(StrEnum):
    """Which network."""

    hcnn = "h-cnn"
    tdhcnn = "td-h-cnn"
    convnext = "convnext"
    resnet = "resnet"


def rival(
    data: Annotated[str, typer.Argument(help="A data set: pathfinder or cABC.")],
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors; never replaced.")],
    kind: Annotated[NetworkName, typer.Option(help="Which network.")] = NetworkName.hcnn,
    images: Annotated[
        int | None, typer.Option(help="Only so many images, from the first.", min=1)
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Default: 2 for pathfinder, 32 for cABC.", min=1)
    ] = None,
    rate: Annotated[
        float | None, typer.Option(help="Of Nadam; default: 1e-3 for pathfinder, 1e-4 for cABC.")
    ] = None,
    batch: Annotated[int, typer.Option(help="Images in a step.", min=1)] = 32,
    side: Annotated[int, typer.Option(help="To which images are reduced, px.", min=1)] = 160,
    seed: Annotated[int, typer.Option(help="Of weights and order.", min=0)] = 0,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on where the same command stopped, if it did.")
    ] = False,
    minutes: Annotated[
        float | None, typer.Option(help="Stop after so long, with a checkpoint.", min=0)
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads that decode; default: all cores.", min=1)
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn a neural baseline: H-CNN, TD+H-CNN, or a modern one of its size.

    \b
    Example:
      mam learn rival hard.parquet --out rival.safetensors --resume
    """
    from mam.rivals.extra import check_extra

    check_extra()
    from mam.core.workers import cores
    from mam.data.outputs import MODEL, check_outputs
    from mam.data.read.labelled import read_labelled
    from mam.rivals.learn import checkpoint_path, learn_rival
    from mam.rivals.settings import EPOCHS, RATES, Settings

    check_outputs({MODEL: [out], ".checkpoint": [checkpoint_path(out)]}, [data])
    pictures = read_labelled(data, images)
    if images is not None and len(pictures) < images:
        raise ValueError(f"{data}: has {len(pictures)} images, not {images}")
    settings = Settings(
        network=kind.value,
        task=pictures.task,
        images=len(pictures),
        digest=pictures.digest(),
        side=side,
        batch=batch,
        rate=RATES[pictures.task] if rate is None else rate,
        epochs=epochs or EPOCHS[pictures.task],
        seed=seed,
    )
    total = settings.steps * batch
    kept = "the last checkpoint is kept, go on with the same command and --resume"
    with ends_on_request(kept), progress_bar("learning", total, "images", quiet) as advance:
        progress = learn_rival(
            pictures,
            settings,
            out,
            resume=resume,
            workers=workers or cores(),
            minutes=minutes,
            told=lambda count, loss: advance(count, f"loss {loss:.4f}"),
        )
    typer.echo(_report(progress, settings, out, as_json))


def _report(progress: "Progress", settings: "Settings", out: Path, as_json: bool) -> str:
    import dataclasses
    import json

    if as_json:
        about = {**settings.as_dict(), **dataclasses.asdict(progress)}
        return json.dumps({"out": str(out), **about})
    loss = "" if progress.loss is None else f", loss {progress.loss:.4f}"
    speed = f", {progress.images_per_second:.1f} images/s" if progress.images_per_second else ""
    if progress.finished:
        seen = progress.steps * settings.batch
        return (
            f"{out}: {settings.network} from {seen:,} images{loss}, {progress.seconds:.1f} s{speed}"
        )
    return (
        f"stopped at step {progress.step:,} of {progress.steps:,}{loss}{speed}; "
        "go on with the same command and --resume"
    )
