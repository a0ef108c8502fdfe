"""`mam find`: letters or objects in a picture. Heavy imports live inside the command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.options import (
    LETTERS,
    GraphsOption,
    JsonOption,
    LetterModelOption,
    MaskName,
    MaskOption,
    PresetName,
    PresetOption,
)

if TYPE_CHECKING:
    from mam.vision.elastic.letters.finder import Match
    from mam.vision.elastic.photographs.detector import Detection


def register(app: typer.Typer) -> None:
    """Add this verb to the application."""
    app.command()(find)


def find(
    image: Annotated[Path, typer.Argument(help="A picture.")],
    model: LetterModelOption = LETTERS,
    copies: Annotated[
        int | None, typer.Option(help="Letters: how many (2); objects: of each (1).", min=1)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="A PNG of what was found.")] = None,
    masks: Annotated[
        Path | None, typer.Option(help="Objects: a PNG with the number of the object at each px.")
    ] = None,
    mask: MaskOption = MaskName.outline,
    depth: Annotated[Path | None, typer.Option(help="Objects: the picture's depth.")] = None,
    graphs: GraphsOption = 200,
    threshold: Annotated[int, typer.Option(help="Letters: a pixel is ON above this.")] = 12,
    preset: PresetOption = PresetName.best,
    as_json: JsonOption = False,
) -> None:
    """Find objects in a picture; the kind of model says how."""
    from mam.core.model_files import find_model, model_kind
    from mam.data.outputs import check_outputs
    from mam.vision.elastic.photographs.object_bank import KIND

    check_outputs([out, masks], [image, depth, find_model(model)])
    if model_kind(model) != KIND:
        found = find_letters(image, model, copies or 2, threshold, preset, out)
        typer.echo(_letters_as_json(found) if as_json else _letters_as_text(found))
        return
    from mam.core.whole import write_whole
    from mam.data import decode, encode_png
    from mam.data.read.depth import read_depth
    from mam.show.objects import draw_detections, label_map
    from mam.vision.elastic.photographs.detector import ObjectDetector

    detector = ObjectDetector.load(model, mask=mask.value, graphs=graphs)
    pixels = decode(image, str(image))
    objects = detector.find(pixels, None if depth is None else read_depth(depth), copies or 1)
    if out is not None:
        write_whole(out, encode_png(draw_detections(pixels, objects)))
    if masks is not None:
        write_whole(masks, encode_png(label_map(objects, pixels.shape[:2])))
    typer.echo(_objects_as_json(objects) if as_json else _objects_as_text(objects))


def find_letters(
    image: Path, model: str, copies: int, threshold: int, preset: PresetName, out: Path | None
) -> "list[Match]":
    """Find objects in a picture whose pixels are ON above a threshold; draw them if wanted."""
    from mam.core.resize import scale_to, scaled
    from mam.data import decode, grey
    from mam.vision.elastic.letters.finder import ObjectFinder

    finder = ObjectFinder.load(model, preset=preset.value, threshold=threshold)
    pixels = grey(decode(image, str(image)))
    pixels = scaled(pixels, scale_to(pixels.shape, finder.bank_.config.get("side")))
    matches = finder.find(pixels, copies)
    if out is not None:
        from mam.core.whole import write_whole
        from mam.data import encode_png
        from mam.show.elastic import draw_matches

        write_whole(out, encode_png(draw_matches(pixels, matches)))
    return matches


def _letters_as_text(matches: "list[Match]") -> str:
    return "\n".join(
        f"{_name(match.category)}: graph {match.graph}, rows {match.vertices[:, 0].min()} to "
        f"{match.vertices[:, 0].max()}, columns {match.vertices[:, 1].min()} to "
        f"{match.vertices[:, 1].max()}, score {match.score:.0f}, margin {match.margin:.0f}"
        for match in matches
    )


def _name(category: int) -> str:
    return chr(ord("A") + category) if 0 <= category < 26 else str(category)


def _letters_as_json(matches: "list[Match]") -> str:
    import json
    import math

    return json.dumps(
        {
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
            ]
        }
    )


def _objects_as_text(found: "list[Detection]") -> str:
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


def _objects_as_json(found: "list[Detection]") -> str:
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
                    "proof": one.certificate.proof,
                    "graph": one.graph,
                    "vertices": one.vertices.tolist(),
                    "types": one.types.tolist(),
                }
                for one in found
            ]
        }
    )
