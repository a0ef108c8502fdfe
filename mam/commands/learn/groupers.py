"""`mam learn contours` and `mam learn curves`."""

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.command_options import JsonOption, PresetName, QuietOption
from mam.commands.learn.parts import learned_parts
from mam.commands.over_shards import LearnClusterOption, taught
from mam.commands.progress_bars import progress_bar, row_count

if TYPE_CHECKING:
    from mam.scale.learning import LearnJob
    from mam.vision.curves.strands.curve_grouper import CurveGrouper
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper
    from mam.vision.parts.masks import Parts


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
    cluster: LearnClusterOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn from contours whose strokes are known in order how strokes continue each other.

    \b
    Example:
      mam learn contours hard.parquet --out contours.safetensors
    """
    from mam.core.model_files import find_model
    from mam.data.outputs import MODEL, check_outputs
    from mam.tasks.pathfinder import check_contours, fit
    from mam.vision.curves.strokes.contour_grouper import ContourGrouper

    check_outputs({MODEL: [out]}, [data] if parts is None else [data, find_model(parts)])
    check_contours(data)  # before parts are learned from it
    start = time.perf_counter()
    grouper = ContourGrouper(
        _parts_of(preset, data, seed, quiet) if parts is None else parts,
        preset=preset.value,
        sparsifications=sparsifications,
        seed=seed,
    )
    what = "pairs of neighbours on the contours of"
    if cluster is not None:
        with taught(partial(_contour_job, grouper), data, out, cluster, images, quiet) as folder:
            from mam.scale.learning import contours_from

            _save_grouper(contours_from(folder, grouper), out, start, what, as_json)
        return
    with progress_bar("learning contours", images, "images", quiet) as advance:
        fit(data, grouper, images, advance)
    _save_grouper(grouper, out, start, what, as_json)


def _contour_job(grouper: "ContourGrouper", folder: Path) -> "LearnJob":
    """What finds the strokes of each image, by parts that have a file."""
    from mam.scale.content import content_digest
    from mam.scale.learning import LearnJob
    from mam.vision.parts.masks import Parts

    parts = grouper.parts
    if isinstance(parts, Parts):
        # A name that nothing else has.
        path = folder / f"parts-{content_digest((parts.masks, parts.noise))[:16]}.safetensors"
        parts.save(path)
        parts = path
    known = {name: getattr(grouper, name) for name in ("preset", "sparsifications", "seed")}
    return LearnJob("contours", tuple(known.items()), (str(parts),))


def curves(
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    data: Annotated[
        list[str] | None, typer.Argument(help="Data sets of curves with a mask for each of them.")
    ] = None,
    count: Annotated[int, typer.Option(help="Generated images to learn from.", min=0)] = 100,
    seed: Annotated[int, typer.Option(help="The same seed gives the same model.", min=0)] = 0,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn from generated and from known curves how they continue through crossings and over gaps.

    \b
    Example:
      mam learn curves --out curves.safetensors
      mam learn curves charts.parquet --count 120 --out charts.safetensors
    """
    from mam.data.outputs import MODEL, check_outputs
    from mam.tasks.curves import fit
    from mam.vision.curves.strands.curve_grouper import CurveGrouper

    sources = list(data or ())
    check_outputs({MODEL: [out]}, sources)
    start = time.perf_counter()
    images = count + sum(row_count(source, None) or 0 for source in sources)
    with progress_bar("learning curves", images, "images", quiet) as advance:
        grouper = fit(CurveGrouper(), count, seed, advance, sources)
    _save_grouper(grouper, out, start, "known continuations of strands in", as_json)


def _parts_of(preset: PresetName, data: str, seed: int, quiet: bool) -> "Parts | str":
    """The parts of a preset where none are given."""
    if preset is PresetName.best:
        return "pathfinder-parts"
    from mam.vision.parts.masks import PATHFINDER_PAPER
    from mam.vision.parts.part_learning import PartLearningConfig
    from mam.vision.parts.training import training_images

    masks, _ = training_images(data, 10)
    source = {"data": Path(data).name}
    learned = learned_parts(masks, PartLearningConfig(), PATHFINDER_PAPER, seed, source, quiet)
    return learned.parts_


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
