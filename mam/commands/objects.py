"""`mam learn objects`, `mam find`, `mam evaluate objects`, `mam edges`: heavy imports inside."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands import letters
from mam.commands.evaluate import Data, Json, Limit, row_count
from mam.commands.progress import progress_bar

if TYPE_CHECKING:
    from mam.vision.elastic.photographs.detector import Detection


class SplitName(StrEnum):
    """Which rows count."""

    all = "all"
    train = "train"
    test = "test"


class MaskName(StrEnum):
    """What the mask of a found object is."""

    outline = "outline"
    hull = "hull"


Chosen = Annotated[
    SplitName,
    typer.Option(help="train, test: 70 % and 30 % of the scenes, frames with the largest masks."),
]
Name = Annotated[str | None, typer.Option(help="Of the object; only this one, if there are more.")]
Depth = Annotated[bool, typer.Option("--depth", help="Use the scenes' depth as a channel.")]
Masks = Annotated[
    MaskName, typer.Option(help="The learned outline, or the convex hull of the parts.")
]
Graphs = Annotated[int, typer.Option(help="Graphs of each object, with variants.", min=1)]
Seed = Annotated[int, typer.Option(help="The same seed gives the same answer.", min=0)]


def register(app: typer.Typer, learn: typer.Typer, evaluate: typer.Typer) -> None:
    """Add this file's commands to the application."""
    learn.command("objects")(learn_objects)
    evaluate.command("objects")(evaluate_objects)
    app.command()(find)
    app.command()(edges)


def learn_objects(
    data: Annotated[str, typer.Argument(help="Photographs with masks, scenes, or cABC.")],
    out: Annotated[Path, typer.Option(help="The model to write, .safetensors.")],
    name: Name = None,
    split: Chosen = SplitName.all,
    depth: Depth = False,
    graphs: Graphs = 200,
    seed: Seed = 0,
    limit: Limit = None,
    preset: Annotated[
        letters.Preset, typer.Option(help="Letters of cABC: our way, or the paper's.")
    ] = letters.Preset.best,
    as_json: Json = False,
) -> None:
    """Learn elastic graphs of objects: in photographs with masks, or letters of cABC."""
    import json
    import time

    from mam.data import ObjectRow, PictureRow, rows_of
    from mam.data.outputs import check_outputs

    check_outputs([out], [data])
    first = next(iter(rows_of(data)), None)
    if not isinstance(first, ObjectRow | PictureRow):
        letters.learn_letters(data, limit, out, as_json, preset)
        return
    if preset is not letters.Preset.best:
        raise ValueError(f"{data}: --preset paper is for letters of cABC, not for photographs")
    from mam.tasks.objects import RowChoice, examples_of, object_rows
    from mam.vision.elastic.photographs.detector import ObjectDetector

    choice = RowChoice(split.value, depth, limit, seed)
    examples = examples_of(object_rows(data, choice), data, name)
    start = time.perf_counter()
    detector = ObjectDetector(graphs=graphs, seed=seed).fit_examples(examples)
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


def find(
    image: Annotated[Path, typer.Argument(help="A picture.")],
    model: letters.Model = letters.DEFAULT_MODEL,
    copies: Annotated[
        int | None, typer.Option(help="Letters: how many (2); objects: of each (1).", min=1)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A PNG of what was found.")] = None,
    masks: Annotated[
        Path | None, typer.Option(help="Objects: a PNG with the number of the object at each px.")
    ] = None,
    mask: Masks = MaskName.outline,
    depth: Annotated[Path | None, typer.Option(help="Objects: the picture's depth.")] = None,
    graphs: Graphs = 200,
    threshold: Annotated[int, typer.Option(help="Letters: a pixel is ON above this.")] = 12,
    preset: letters.Chosen = letters.Preset.best,
    as_json: Json = False,
) -> None:
    """Find objects in a picture; the kind of model says how."""
    from mam.core.model_files import find_model, model_kind
    from mam.data.outputs import check_outputs
    from mam.vision.elastic.photographs.object_bank import KIND

    check_outputs([out, masks], [image, depth, find_model(model)])
    if model_kind(model) != KIND:
        found = letters.find_letters(image, model, copies or 2, threshold, preset, out)
        typer.echo(letters.as_json(found) if as_json else letters.as_text(found))
        return
    from mam.core.whole import write_whole
    from mam.data import decode, encode_png
    from mam.data.depth import read_depth
    from mam.show.objects import draw_detections, label_map
    from mam.vision.elastic.photographs.detector import ObjectDetector

    detector = ObjectDetector.load(model, mask=mask.value, graphs=graphs)
    pixels = decode(image, str(image))
    objects = detector.find(pixels, None if depth is None else read_depth(depth), copies or 1)
    if out is not None:
        write_whole(out, encode_png(draw_detections(pixels, objects)))
    if masks is not None:
        write_whole(masks, encode_png(label_map(objects, pixels.shape[:2])))
    typer.echo(_as_json(objects) if as_json else _as_text(objects))


def evaluate_objects(
    data: Data,
    model: Annotated[str | None, typer.Option(help="A model of `mam learn objects`.")] = None,
    leave_out: Annotated[
        bool, typer.Option("--leave-out", help="Learn on all frames but one, find in that one.")
    ] = False,
    name: Name = None,
    split: Chosen = SplitName.all,
    depth: Depth = False,
    mask: Masks = MaskName.outline,
    graphs: Graphs = 200,
    seed: Seed = 0,
    limit: Limit = None,
    as_json: Json = False,
) -> None:
    """Where are objects in photographs? IoU of found and true masks."""
    from mam.tasks.objects import RowChoice, evaluate
    from mam.tasks.objects import leave_out as measure_without
    from mam.vision.elastic.photographs.detector import ObjectDetector

    if leave_out == (model is not None):
        raise ValueError("give either --model FILE, or --leave-out to learn from the data itself")
    choice = RowChoice(split.value, depth, limit, seed)
    with progress_bar("finding", row_count(data, limit)) as advance:
        if model is None:

            def make() -> ObjectDetector:
                return ObjectDetector(graphs=graphs, mask=mask.value, seed=seed)

            report = measure_without(data, make, choice, advance)
        else:
            detector = ObjectDetector.load(model, graphs=graphs, mask=mask.value, seed=seed)
            report = evaluate(data, detector, choice, name, advance)
    typer.echo(report.as_json() if as_json else report.as_text())


def edges(
    image: Annotated[Path, typer.Argument(help="A picture, grey or in colour.")],
    out: Annotated[Path, typer.Option(help="The PNG of its edges; the hue is the direction.")],
    depth: Annotated[
        Path | None, typer.Option(help="The picture's depth, one more channel.")
    ] = None,
) -> None:
    """Draw the edges of a picture: responses of filters of 16 directions, thinned."""
    import numpy as np

    from mam.core.whole import write_whole
    from mam.data import decode, encode_png
    from mam.data.depth import read_depth
    from mam.data.outputs import check_outputs
    from mam.show.objects import draw_edges
    from mam.vision.images.photo_edges import as_channels, find_edges

    check_outputs([out], [image, depth])
    far = None if depth is None else read_depth(depth)
    found = find_edges(as_channels(decode(image, str(image)), far, name=str(image)))
    strength = np.asarray(found.strength)
    write_whole(out, encode_png(draw_edges(strength, np.asarray(found.type))))
    typer.echo(f"{out}: {int((strength > 0.04).sum())} px of edges")


def _as_text(found: "list[Detection]") -> str:
    lines = []
    for one in found:
        if not one.there:
            lines.append(f"{one.name}: not there, score {one.score:.2f} of {one.threshold:.2f}")
            continue
        (top, left), (bottom, right) = one.vertices.min(0), one.vertices.max(0)
        cut = ", cut by the border" if one.cut else ""
        lines.append(
            f"{one.name}: rows {top} to {bottom}, columns {left} to {right}, {int(one.mask.sum())} "
            f"px, score {one.score:.2f} of {one.threshold:.2f}, margin {one.margin:.2f}{cut}"
        )
    return "\n".join(lines)


def _as_json(found: "list[Detection]") -> str:
    import json
    import math

    return json.dumps(
        {
            "objects": [
                {
                    "name": one.name,
                    "there": one.there,
                    "score": round(one.score, 3),
                    "threshold": round(one.threshold, 3),
                    "margin": round(one.margin, 3) if math.isfinite(one.margin) else None,
                    "pixels": int(one.mask.sum()),
                    "cut": one.cut,
                    "graph": one.graph,
                    "vertices": one.vertices.tolist(),
                    "types": one.types.tolist(),
                }
                for one in found
            ]
        }
    )
