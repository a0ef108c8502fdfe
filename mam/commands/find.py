"""`mam find`: letters or objects in a picture. Heavy imports live inside the command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.options import (
    LETTERS,
    GraphsOption,
    JsonLinesOption,
    LetterModelOption,
    MaskName,
    MaskOption,
    PresetName,
    PresetOption,
    QuietOption,
)
from mam.commands.pictures import (
    PageOption,
    PicturesArgument,
    beside,
    called,
    each_picture,
    find_pictures,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from mam.vision.elastic.letters.finder import Match
    from mam.vision.elastic.photographs.detector import Detection, ObjectDetector

_MADE = "-found"


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(find)


def find(
    pictures: PicturesArgument,
    model: LetterModelOption = LETTERS,
    copies: Annotated[
        int | None, typer.Option(help="Letters: how many (2); objects: of each (1).", min=1)
    ] = None,
    page: PageOption = None,
    out: Annotated[
        Path | None, typer.Option(help="A PNG of what was found; of several pictures a folder.")
    ] = None,
    masks: Annotated[
        Path | None,
        typer.Option(help="Objects: a PNG whose palette has the number of the object at each px."),
    ] = None,
    mask: MaskOption = MaskName.outline,
    depth: Annotated[Path | None, typer.Option(help="Objects: the picture's depth.")] = None,
    graphs: GraphsOption = 200,
    threshold: Annotated[int, typer.Option(help="Letters: a pixel is ON above this.")] = 12,
    preset: PresetOption = PresetName.best,
    as_json: JsonLinesOption = False,
    quiet: QuietOption = False,
) -> None:
    """Find objects in pictures; the kind of model says how.

    \b
    Examples:
      mam find letters.png --copies 3
      mam find shelf.jpg --model mug.safetensors --out found.png
      mam find shelves/ --model mug.safetensors --json
    """
    from mam.core.model_files import find_model, model_kind
    from mam.data.outputs import PNG, check_outputs
    from mam.vision.elastic.photographs.object_bank import KIND

    found = find_pictures(pictures, _MADE)
    if len(found) > 1 and (masks or depth):
        raise ValueError("--masks and --depth are for one picture")
    drawn = {one: out and beside(one, _MADE, out, len(found) > 1) for one in found}
    check_outputs({PNG: [*drawn.values(), masks]}, [*found, depth, find_model(model)])
    if model_kind(model) != KIND:
        find_one = letter_search(model, copies or 2, threshold, preset, as_json)
    else:
        detector = load_detector(model, mask, graphs)
        find_one = object_search(detector, copies or 1, depth, masks, as_json)

    def work(picture: Path) -> str:
        from mam.data import read_picture

        pixels = read_picture(picture, called(picture), page)
        return find_one(pixels, called(picture), drawn[picture])

    each_picture(found, work, "finding", quiet)


def letter_search(
    model: str, copies: int, threshold: int, preset: PresetName, as_json: bool
) -> "Callable[[np.ndarray, str, Path | None], str]":
    """What finds letters, pixels that are ON above a threshold, draws them and tells of them."""
    from mam.core.resize import scale_to, scaled
    from mam.core.whole import write_whole
    from mam.data import encode_png, grey
    from mam.show.elastic import draw_matches
    from mam.vision.elastic.letters.finder import ObjectFinder
    from mam.vision.images.ink import is_photograph

    finder = ObjectFinder.load(model, preset=preset.value, threshold=threshold)

    def find_one(picture: "np.ndarray", name: str, out: Path | None) -> str:
        pixels = grey(picture)
        if is_photograph(pixels):
            raise ValueError(
                f"{name}: looks like a photograph, and {model} finds bright shapes on black; give "
                "--model FILE, learned from such pictures by mam learn objects"
            )
        pixels = scaled(pixels, scale_to(pixels.shape, finder.bank_.config.get("side")))
        matches = finder.find(pixels, copies)
        if out is not None:
            write_whole(out, encode_png(draw_matches(pixels, matches)))
        return (_letters_as_json if as_json else _letters_as_text)(matches, name)

    return find_one


def load_detector(model: str, mask: MaskName, graphs: int) -> "ObjectDetector":
    """What finds the objects of a model."""
    from mam.vision.elastic.photographs.detector import ObjectDetector

    return ObjectDetector.load(model, mask=mask.value, graphs=graphs)


def object_search(
    detector: "ObjectDetector", copies: int, depth: Path | None, masks: Path | None, as_json: bool
) -> "Callable[[np.ndarray, str, Path | None], str]":
    """What finds objects in a photograph, draws them and tells of them."""
    from mam.core.whole import write_whole
    from mam.data import encode_png
    from mam.data.pixels import rgb
    from mam.data.read.depth import read_depth
    from mam.show.objects import draw_detections, encode_labels, label_map

    far = None if depth is None else read_depth(depth)

    def find_one(picture: "np.ndarray", name: str, out: Path | None) -> str:
        pixels = rgb(picture) if picture.ndim == 3 else picture
        objects = detector.find(pixels, far, copies)
        if out is not None:
            write_whole(out, encode_png(draw_detections(pixels, objects)))
        if masks is not None:
            write_whole(masks, encode_labels(label_map(objects, pixels.shape[:2])))
        return (_objects_as_json if as_json else _objects_as_text)(objects, name)

    return find_one


def _letters_as_text(matches: "list[Match]", name: str) -> str:
    lines = []
    for one in matches:
        (top, left), (bottom, right) = one.vertices.min(0), one.vertices.max(0)
        lines.append(
            f"{name}: {_name(one.category)}, graph {one.graph}, rows {top} to {bottom}, "
            f"columns {left} to {right}, score {one.score:.0f}, margin {one.margin:.0f}"
        )
    return "\n".join(lines)


def _name(category: int) -> str:
    return chr(ord("A") + category) if 0 <= category < 26 else str(category)


def _letters_as_json(matches: "list[Match]", name: str) -> str:
    import json
    import math

    return json.dumps(
        {
            "picture": name,
            "matches": [
                {
                    "graph": match.graph,
                    "category": match.category,
                    "score": round(match.score, 3),
                    "margin": round(match.margin, 3) if math.isfinite(match.margin) else None,
                    "proof": match.certificate.proof,
                    "vertices": match.vertices.tolist(),
                }
                for match in matches
            ],
        }
    )


def _objects_as_text(found: "list[Detection]", name: str) -> str:
    lines = []
    for one in found:
        if not one.there:
            lines.append(f"{name}: {one.name} is not there, {_score(one)}")
            continue
        (top, left), (bottom, right) = one.vertices.min(0), one.vertices.max(0)
        cut = ", cut by the border" if one.cut else ""
        lines.append(
            f"{name}: {one.name}, rows {top} to {bottom}, columns {left} to {right}, "
            f"{int(one.mask.sum())} px, {_score(one)}, margin {one.margin:.2f}{cut}"
        )
    return "\n".join(lines)


def _score(one: "Detection") -> str:
    return f"score {one.score:.2f} (there from {one.threshold:.2f} on)"


def _objects_as_json(found: "list[Detection]", name: str) -> str:
    import json
    import math

    return json.dumps(
        {
            "picture": name,
            "objects": [
                {
                    "name": one.name,
                    "there": one.there,
                    "score": round(one.score, 3),
                    "threshold": round(one.threshold, 3),
                    "margin": round(one.margin, 3) if math.isfinite(one.margin) else None,
                    "pixels": int(one.mask.sum()),
                    "cut": one.cut,
                    "proof": one.certificate.proof,
                    "graph": one.graph,
                    "vertices": one.vertices.tolist(),
                    "types": one.types.tolist(),
                }
                for one in found
            ],
        }
    )
