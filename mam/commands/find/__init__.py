"""`mam find`: letters or objects in pictures. Heavy imports live inside the command."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import (
    GraphsOption,
    JsonLinesOption,
    LetterModelOption,
    MaskName,
    MaskOption,
    PresetOption,
    QuietOption,
)
from mam.commands.find.found_objects import FoundIn, write_tables
from mam.commands.over_shards import (
    ClusterOption,
    ItemSecondsOption,
    one_folder,
    refuse_without,
    run_over,
    tell,
)
from mam.commands.pictures import (
    PageOption,
    PicturesArgument,
    beside_each,
    called,
    each_picture,
    find_pictures,
    find_sources,
)
from mam.commands.shard_jobs import FindJob
from mam.core.defaults import LETTER_ON, LETTERS, OBJECT_GRAPHS

_MADE = "-found"
# Objects of other sizes take five times as long; letters are learned in many sizes.
_OBJECT_SCALES, _LETTER_SCALES = (0.65, 1.6), (1.0, 1.0)


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(find)


def find(
    pictures: PicturesArgument,
    model: LetterModelOption = LETTERS,
    copies: Annotated[
        int | None, typer.Option(help="Letters: how many (2); objects: of each (1).", min=1)
    ] = None,
    scales: Annotated[
        str | None,
        typer.Option(
            help="Sizes to look for, from,to: 1 as learned. Objects: 0.65,1.6; letters: 1,1."
        ),
    ] = None,
    page: PageOption = None,
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="What was found: a .png, of several pictures a folder; .json; .csv; repeatable."
        ),
    ] = None,
    masks: Annotated[
        Path | None,
        typer.Option(help="Objects: a PNG whose palette has the number of the object at each px."),
    ] = None,
    mask: MaskOption = MaskName.outline,
    depth: Annotated[Path | None, typer.Option(help="Objects: the picture's depth.")] = None,
    graphs: GraphsOption = OBJECT_GRAPHS,
    threshold: Annotated[int, typer.Option(help="Letters: a pixel is ON above this.")] = LETTER_ON,
    preset: PresetOption = None,
    cluster: ClusterOption = None,
    item_seconds: ItemSecondsOption = None,
    as_json: JsonLinesOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find objects in pictures, or say that they are not there; the kind of model says how.

    \b
    Examples:
      mam find letters.png --copies 3
      mam find shelf.jpg --model mug.safetensors --out found.png --out found.csv
      mam find shelves/ --model mug.safetensors --scales 0.5,2 --json
    """
    refuse_without(cluster, item_seconds=item_seconds)
    from mam.core.model_files import model_kind
    from mam.vision.elastic.bank import Bank
    from mam.vision.elastic.photographs.object_bank import KIND

    found: list[Path] = []
    drawn, tables = {}, []
    if cluster is None:
        found = find_pictures(pictures, _MADE)
        drawn, tables = _outputs(found, out or [], masks, depth, model)
    objects = model_kind(model) == KIND
    sizes = _OBJECT_SCALES if objects else _LETTER_SCALES
    sizes = sizes if scales is None else parse_scales(scales)
    known = {"mask": mask.value, "graphs": graphs, "scales": sizes}
    if not objects:
        chosen = Bank.load(model).preset if preset is None else preset.value
        known = {"preset": chosen, "threshold": threshold, "scales": sizes}
    job = FindJob(model, copies or (1 if objects else 2), objects, tuple(known.items()), page)
    if cluster is not None:
        if masks or depth:
            raise ValueError("--cluster: --masks and --depth are for one picture")
        folder = one_folder(out or [])
        sources = find_sources(pictures, _MADE)
        tell(run_over(job, sources, folder, cluster, item_seconds, quiet), as_json)
        return
    find_one = job.search(model, depth, masks)
    answers: list[FoundIn] = []

    def work(picture: Path) -> str:
        from mam.data import read_picture

        pixels = read_picture(picture, called(picture), page)
        answers.append(find_one(pixels, called(picture), drawn.get(picture)))
        return answers[-1].as_json() if as_json else answers[-1].as_text()

    each_picture(found, work, "finding", quiet, lambda: write_tables(answers, tables))


def parse_scales(text: str) -> tuple[float, float]:
    """`0.5,2` as two numbers.

    >>> parse_scales("0.5,2")
    (0.5, 2.0)
    """
    try:
        least, most = (float(number) for number in text.split(","))
    except ValueError:
        raise ValueError(f"--scales {text}: give two numbers such as 0.5,2") from None
    if not 0.1 <= least <= most <= 10:
        raise ValueError(f"--scales {text}: give two numbers from 0.1 to 10, the smaller first")
    return least, most


def _outputs(
    found: Sequence[Path], out: Sequence[Path], masks: Path | None, depth: Path | None, model: str
) -> tuple[dict[Path, Path], list[Path]]:
    """Where each picture is drawn, and the tables; refused before any work where that is wrong."""
    from mam.core.model_files import find_model
    from mam.data.outputs import CSV, JSON, PNG, check_outputs

    if len(found) > 1 and (masks or depth):
        raise ValueError("--masks and --depth are for one picture")
    tables = {kind: [path for path in out if path.suffix.lower() == kind] for kind in (JSON, CSV)}
    drawings = [path for path in out if path.suffix.lower() not in tables]
    if max(len(drawings), *map(len, tables.values())) > 1:
        raise ValueError("--out: give one drawing, one .json and one .csv at most")
    drawn = beside_each(found, _MADE, drawings[0]) if drawings else {}
    check_outputs(
        {(PNG, JSON, CSV): drawn.values(), PNG: [masks], **tables},
        [*found, depth, find_model(model)],
    )
    return drawn, [path for paths in tables.values() for path in paths]
