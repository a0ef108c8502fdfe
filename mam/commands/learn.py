"""`mam learn`: models from data. Heavy imports live inside the commands."""

import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.progress import progress_bar

if TYPE_CHECKING:
    from mam.vision.curves.strands.curve_grouper import CurveGrouper
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper
    from mam.vision.parts.learning import Images, PartLearner, PartLearningConfig
    from mam.vision.parts.masks import Noise, Parts

learn = typer.Typer(help="Learn a model from data.", no_args_is_help=True)


class NoiseName(StrEnum):
    """Whose noise the images have."""

    auto = "auto"
    pathfinder = "pathfinder"
    cabc = "cabc"


class PresetName(StrEnum):
    """Whose way of grouping contours."""

    best = "best"
    paper = "paper"


def register(app: typer.Typer) -> None:
    """Add this file's commands to the application."""
    app.add_typer(learn, name="learn")


@learn.callback()
def _group() -> None:
    pass


@learn.command()
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Learn object parts without supervision, from about ten images."""
    from mam.data.outputs import check_outputs
    from mam.vision.parts.learning import PartLearningConfig
    from mam.vision.parts.training import NOISES, training_images

    picture = picture or out.with_suffix(".png")
    check_outputs([out, picture], [data])
    if images < 1:
        raise ValueError(f"--images {images}: parts are learned from at least one image")
    config = PartLearningConfig(count=count, side=size, round=round)
    masks, found_noise = training_images(data, images)
    chosen = found_noise if noise is NoiseName.auto else NOISES[noise.value]
    given = {"pi01": pi01, "pi10": pi10, "prior": prior}
    chosen = replace(chosen, **{name: value for name, value in given.items() if value is not None})
    start = time.perf_counter()
    learned = _learned(masks, config, chosen, seed, {"data": Path(data).name})
    spent = time.perf_counter() - start
    _save(learned, out, picture)
    report = _as_json if as_json else _as_text
    typer.echo(report(learned, len(masks), out, picture, spent))


@learn.command()
def contours(
    data: Annotated[str, typer.Argument(help="A pathfinder data set.")],
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    parts: Annotated[
        str | None,
        typer.Option(
            help="Parts: a bundled name or a file of `mam learn parts`. Default: "
            "pathfinder-parts, or learned from the first ten images for the preset paper."
        ),
    ] = None,
    images: Annotated[int, typer.Option(help="Images to learn from.", min=1)] = 1000,
    preset: Annotated[
        PresetName, typer.Option(help="best, or the paper's own way in every step.")
    ] = PresetName.best,
    sparsifications: Annotated[
        int | None, typer.Option(help="Of every image; 1, or 10 for the preset paper.", min=1)
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Learn from contours whose strokes are known in order how strokes continue each other."""
    from mam.core.model_files import find_model
    from mam.data.outputs import check_outputs
    from mam.tasks.pathfinder import fit
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    check_outputs([out], [data] if parts is None else [data, find_model(parts)])
    start = time.perf_counter()
    grouper = ContourGrouper(
        _parts_of(preset, data, seed) if parts is None else parts,
        preset=preset.value,
        sparsifications=sparsifications,
        seed=seed,
    )
    with progress_bar("learning contours", images, "images") as advance:
        fit(data, grouper, images, advance)
    _save_grouper(grouper, out, start, "pairs of neighbours on the contours of", as_json)


@learn.command()
def curves(
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    count: Annotated[int, typer.Option(help="Generated images to learn from.", min=1)] = 120,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Learn from generated curves how they continue through crossings and over gaps."""
    from mam.data.outputs import check_outputs
    from mam.tasks.curves import fit
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    check_outputs([out])
    start = time.perf_counter()
    with progress_bar("learning curves", count, "images") as advance:
        grouper = fit(CurveGrouper(), count, seed, advance)
    _save_grouper(grouper, out, start, "known continuations of strands in", as_json)


def _parts_of(preset: PresetName, data: str, seed: int) -> "Parts | str":
    """The parts of a preset where none are given."""
    if preset is PresetName.best:
        return "pathfinder-parts"
    from mam.vision.parts.learning import PartLearningConfig
    from mam.vision.parts.masks import PATHFINDER_PAPER
    from mam.vision.parts.training import training_images

    masks, _ = training_images(data, 10)
    source = {"data": Path(data).name}
    return _learned(masks, PartLearningConfig(), PATHFINDER_PAPER, seed, source).parts_


def _save_grouper(
    grouper: "ContourGrouper | CurveGrouper", out: Path, start: float, what: str, as_json: bool
) -> None:
    """Write a model, and say from how many neighbours (``what``) it was learned."""
    import json

    grouper.save(out)
    learned = grouper.provenance_
    spent = time.perf_counter() - start
    if as_json:
        typer.echo(json.dumps({"out": str(out), **learned, "seconds": round(spent, 2)}))
        return
    typer.echo(
        f"{out}: {learned['neighbours']:,} {what} {learned['images']:,} images, {spent:.1f} s"
    )


def _learned(
    masks: "Images", config: "PartLearningConfig", noise: "Noise", seed: int, source: dict[str, str]
) -> "PartLearner":
    """Learn under a progress bar."""
    from mam.vision.parts.learning import PartLearner

    with progress_bar("learning parts", 100, "%") as advance:
        done = 0.0

        def tell(stage: str, share: float) -> None:
            nonlocal done
            advance(100 * share - done, stage)
            done = 100 * share

        learner = PartLearner(config, noise=noise, seed=seed)
        return learner.fit(masks, progress=tell, source=source)


def _save(learned: "PartLearner", out: Path, picture: Path) -> None:
    """Write the model and its picture, each whole or not at all."""
    from mam.core.whole import write_whole
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
