"""`mam learn parts`."""

import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, QuietOption
from mam.commands.progress_bars import share_bar

if TYPE_CHECKING:
    from mam.vision.parts.masks import Noise
    from mam.vision.parts.part_learning import BinaryImages, PartLearner, PartLearningConfig


class NoiseName(StrEnum):
    """Whose noise the images have."""

    auto = "auto"
    pathfinder = "pathfinder"
    cabc = "cabc"


def parts(
    data: Annotated[str, typer.Argument(help="A data set: pathfinder, cABC or curves.")],
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    count: Annotated[int, typer.Option(help="Part types; 1 for cABC.")] = 16,
    size: Annotated[int, typer.Option(help="Side of a part in px, odd; 9 for cABC.")] = 7,
    images: Annotated[int, typer.Option(help="Images (letters of cABC) to learn from.")] = 10,
    seed: Annotated[int, typer.Option(help="The same seed gives the same parts.", min=0)] = 0,
    round: Annotated[
        bool | None,
        typer.Option(
            "--round/--square",
            help="Parts within a circle, or any. Default: a single part is round.",
        ),
    ] = None,
    noise: Annotated[
        NoiseName, typer.Option(help="Noise of the images; auto goes by the data.")
    ] = NoiseName.auto,
    pi01: Annotated[
        float | None, typer.Option(help="Rate of OFF among covered pixels, if not the noise's.")
    ] = None,
    pi10: Annotated[
        float | None, typer.Option(help="Rate of ON among uncovered pixels, if not the noise's.")
    ] = None,
    prior: Annotated[
        float | None, typer.Option(help="What a placement costs, below 0, if not the noise's.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option(help="The PNG of the parts; default: beside the model.")
    ] = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn object parts without supervision, from about ten images.

    \b
    Example:
      mam learn parts hard.parquet --out parts.safetensors --picture parts.png
    """
    from mam.data.outputs import MODEL, PNG, check_outputs
    from mam.vision.parts.part_learning import PartLearningConfig
    from mam.vision.parts.training import NOISES, training_images

    picture = picture or out.with_suffix(".png")
    check_outputs({MODEL: [out], PNG: [picture]}, [data])
    if images < 1:
        raise ValueError(f"--images {images}: parts are learned from at least one image")
    config = PartLearningConfig(count=count, side=size, round=round)
    masks, found_noise = training_images(data, images)
    chosen = found_noise if noise is NoiseName.auto else NOISES[noise.value]
    given = {"pi01": pi01, "pi10": pi10, "prior": prior}
    chosen = replace(chosen, **{name: value for name, value in given.items() if value is not None})
    start = time.perf_counter()
    learned = learned_parts(masks, config, chosen, seed, {"data": Path(data).name}, quiet)
    spent = time.perf_counter() - start
    _save(learned, out, picture)
    report = _as_json if as_json else _as_text
    typer.echo(report(learned, len(masks), out, picture, spent))


def learned_parts(
    masks: "BinaryImages",
    config: "PartLearningConfig",
    noise: "Noise",
    seed: int,
    source: dict[str, str],
    quiet: bool = False,
) -> "PartLearner":
    """Learn under a progress bar."""
    from mam.vision.parts.part_learning import PartLearner

    with share_bar("learning parts", quiet) as tell:
        learner = PartLearner(config, noise=noise, seed=seed)
        return learner.fit(masks, progress=tell, source=source)


def _save(learned: "PartLearner", out: Path, picture: Path) -> None:
    """Write the model and its picture, each whole or not at all."""
    from mam.core.whole_files import write_whole
    from mam.data import encode_png
    from mam.show.parts import part_sheet

    learned.parts_.save(out)
    write_whole(picture, encode_png(part_sheet(learned.parts_, learned.usage_)))


def _as_text(learned: "PartLearner", images: int, out: Path, picture: Path, seconds: float) -> str:
    usage = learned.usage_
    lines = [
        f"{out}: {len(learned.parts_)} parts of {learned.parts_.side} x {learned.parts_.side} px "
        f"from {images} images, {seconds:.1f} s",
        f"{int((usage > 0).sum())} parts used, {int(usage.sum())} placements: "
        + " ".join(str(int(n)) for n in usage),
        f"joint score {learned.history_[0]:.0f} -> {learned.history_[-1]:.0f}, "
        f"{learned.replaced_} parts started afresh, {learned.dropped_} dropped",
        f"{picture}: their picture",
    ]
    return "\n".join(lines)


def _as_json(learned: "PartLearner", images: int, out: Path, picture: Path, seconds: float) -> str:
    import json

    return json.dumps(
        {
            "out": str(out),
            "picture": str(picture),
            "parts": len(learned.parts_),
            "used": int((learned.usage_ > 0).sum()),
            "usage": learned.usage_.tolist(),
            "history": list(learned.history_),
            "replaced": learned.replaced_,
            "dropped": learned.dropped_,
            "images": images,
            "seconds": round(seconds, 2),
        }
    )
