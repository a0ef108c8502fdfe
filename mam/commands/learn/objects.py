"""`mam learn objects`: elastic graphs of objects in photographs, or of letters."""

from pathlib import Path
from typing import Annotated

import typer

from mam.commands.command_options import (
    GraphsOption,
    JsonOption,
    LimitOption,
    ObjectNameOption,
    PresetName,
    QuietOption,
    SceneDepthOption,
    SeedOption,
    SplitName,
    SplitOption,
)
from mam.commands.over_shards import LearnClusterOption, over_cluster, taught
from mam.commands.progress_bars import progress_bar, row_count, working
from mam.core.defaults import OBJECT_GRAPHS
from mam.core.words import counted


def objects(
    data: Annotated[str, typer.Argument(help="Photographs with masks, scenes, or cABC.")],
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    name: ObjectNameOption = None,
    split: SplitOption = SplitName.all,
    depth: SceneDepthOption = False,
    graphs: GraphsOption = OBJECT_GRAPHS,
    seed: SeedOption = 0,
    limit: LimitOption = None,
    preset: Annotated[
        PresetName, typer.Option(help="Letters of cABC: our way, or the paper's.")
    ] = PresetName.best,
    cluster: LearnClusterOption = None,
    as_json: JsonOption = False,
    quiet: QuietOption = False,
) -> None:
    """Learn elastic graphs of objects: in photographs with masks, or letters of cABC.

    \b
    Example:
      mam learn objects mugs/ --name mug --out mug.safetensors
    """
    import json
    import time

    from mam.data import ObjectRow, PictureRow, rows_of
    from mam.data.outputs import MODEL, check_outputs

    check_outputs({MODEL: [out]}, [data])
    first = next(iter(rows_of(data)), None)
    if not isinstance(first, ObjectRow | PictureRow):
        _learn_letters(data, limit, out, preset, cluster, as_json, quiet)
        return
    if preset is not PresetName.best:
        raise ValueError(f"{data}: --preset paper is for letters of cABC, not for photographs")
    from mam.tasks.objects import RowChoice, examples_of, fit, object_rows
    from mam.vision.elastic.photographs.detector import ObjectDetector

    choice = RowChoice(split.value, depth, limit, seed)
    examples = examples_of(object_rows(data, choice), data, name)
    start = time.perf_counter()
    title = f"learning from {counted(len(examples), 'picture')}"
    with working(title, quiet), over_cluster(cluster, quiet) as over:
        detector = fit(examples, ObjectDetector(graphs=graphs, seed=seed), over)
    detector.save(out)
    model = detector.library.model
    about = {
        "out": str(out),
        "objects": list(model.names),
        "pictures": len(examples),
        "graphs": len(model),
        "vertices": round(float(model.graphs.vertex_count.mean()), 1),
        "edges": round(float(model.graphs.edge_count.mean()), 1),
        "thresholds": [round(float(value), 3) for value in model.threshold],
        "seconds": round(time.perf_counter() - start, 2),
    }
    typer.echo(
        json.dumps(about)
        if as_json
        else f"{out}: {', '.join(model.names)}; "
        "{graphs} graphs of {vertices} vertices and {edges} edges, {seconds} s".format(**about)
    )


def _learn_letters(
    data: str,
    limit: int | None,
    out: Path,
    preset: PresetName,
    cluster: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Learn one elastic graph from each object: letters of cABC, or masks of any objects."""
    import itertools
    import json
    import time

    from mam.data import rows_of
    from mam.tasks.learning import learn_objects, learns_letters

    start = time.perf_counter()
    if cluster is not None:
        from mam.scale.learning import LearnJob, bank_from

        letters = preset.value if learns_letters(rows_of(data), data, preset.value) else None
        known = () if letters is None else (("preset", letters),)
        job = LearnJob("masks" if letters is None else "letters", known)
        with taught(lambda folder: job, data, out, cluster, limit, quiet) as folder:
            bank = bank_from(folder, data, letters)
            bank.save(out)
    else:
        with progress_bar("learning", row_count(data, limit), quiet=quiet) as advance:
            rows = itertools.islice(rows_of(data), limit)
            bank = learn_objects(rows, data, advance, preset.value)
        bank.save(out)
    spent = time.perf_counter() - start
    about = {
        "out": str(out),
        "graphs": len(bank),
        "vertices": round(float(bank.vertex_count.mean()), 1),
        "edges": round(float(bank.edge_count.mean()), 1),
        "seconds": round(spent, 2),
        "per_second": round(len(bank) / spent, 1),
    }
    typer.echo(
        json.dumps(about)
        if as_json
        else "{out}: {graphs} graphs of {vertices} vertices and {edges} edges, {seconds} s, "
        "{per_second} a second".format(**about)
    )
