"""Letters: `mam evaluate cabc`, and what `mam learn objects` and `mam find` do with letters."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mam.commands.evaluate import Data, Json, Limit, row_count
from mam.commands.progress import progress_bar
from mam.commands.rivals import evaluate_rival, is_rival

if TYPE_CHECKING:
    import numpy as np

    from mam.vision.elastic.letters.finder import Match

DEFAULT_MODEL = "letters"


class Preset(StrEnum):
    """Whose settings the search has."""

    best = "best"
    paper = "paper"


Model = Annotated[str, typer.Option(help="A bank of elastic graphs: bundled name or file.")]
Chosen = Annotated[Preset, typer.Option(help="Our settings, or the paper's.")]


def register(evaluate: typer.Typer) -> None:
    """Add this file's commands to the application."""
    evaluate.command()(cabc)


def learn_letters(
    data: str, limit: int | None, out: Path, as_json: bool, preset: Preset = Preset.best
) -> None:
    """Learn one elastic graph from each object: letters of cABC, or masks of any objects."""
    import itertools
    import json
    import time

    from mam.data import rows_of
    from mam.tasks.learning import learn_objects

    start = time.perf_counter()
    with progress_bar("learning", row_count(data, limit)) as advance:
        rows = itertools.islice(rows_of(data), limit)
        bank = learn_objects(rows, data, advance, preset.value)
    spent = time.perf_counter() - start
    bank.save(out)
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


def find_letters(
    image: Path, model: str, copies: int, threshold: int, preset: Preset, out: Path | None
) -> "list[Match]":
    """Find objects in a picture whose pixels are ON above a threshold; draw them if wanted."""
    from mam.data import decode, grey
    from mam.vision.elastic.letters.finder import ObjectFinder

    finder = ObjectFinder.load(model, preset=preset.value, threshold=threshold)
    pixels = _reduced(grey(decode(image, str(image))), finder.bank_.config.get("side"))
    matches = finder.find(pixels, copies)
    if out is not None:
        from mam.core.whole import write_whole
        from mam.data import encode_png
        from mam.show.graphs import draw_matches

        write_whole(out, encode_png(draw_matches(pixels, matches)))
    return matches


def cabc(
    data: Data,
    model: Model = DEFAULT_MODEL,
    limit: Limit = None,
    preset: Annotated[
        Preset | None, typer.Option(help="Our settings, or the paper's; default: the model's own.")
    ] = None,
    causes: Annotated[
        bool, typer.Option("--causes", help="Say at which stage wrong answers went wrong.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Are two markers on the same letter? Measure on a cABC data set."""
    if is_rival(model):
        if causes or preset is not None:
            raise ValueError(f"{model}: a rival has neither causes nor presets")
        evaluate_rival(data, model, "cabc", limit, as_json)
        return
    from mam.tasks.cabc import evaluate
    from mam.vision.elastic.bank import Bank
    from mam.vision.elastic.letters.finder import ObjectFinder

    bank = Bank.load(model)
    chosen = bank.config.get("preset", "best") if preset is None else preset.value
    finder = ObjectFinder.of(bank, preset=chosen)
    with progress_bar("evaluating", row_count(data, limit)) as advance:
        report = evaluate(data, finder, limit, advance)
    if causes:
        from dataclasses import replace

        from mam.tasks.cabc_causes import causes_of

        with progress_bar("looking into errors", len(report.errors)) as advance:
            report = replace(report, causes=causes_of(data, report.errors, finder, advance))
    typer.echo(report.as_json() if as_json else report.as_text())


def _reduced(pixels: "np.ndarray", side: int | None) -> "np.ndarray":
    """The picture with at most the side that the graphs were learned at."""
    import numpy as np
    from PIL import Image

    longest = max(pixels.shape)
    if side is None or longest <= side:
        return pixels
    rows, cols = (max(1, round(n * side / longest)) for n in pixels.shape)
    return np.asarray(Image.fromarray(pixels).resize((cols, rows), Image.Resampling.BILINEAR))


def _name(category: int) -> str:
    return chr(ord("A") + category) if 0 <= category < 26 else str(category)


def as_text(matches: "list[Match]") -> str:
    """Matches as lines to read."""
    return "\n".join(
        f"{_name(match.category)}: graph {match.graph}, rows {match.vertices[:, 0].min()} to "
        f"{match.vertices[:, 0].max()}, columns {match.vertices[:, 1].min()} to "
        f"{match.vertices[:, 1].max()}, score {match.score:.0f}, margin {match.margin:.0f}"
        for match in matches
    )


def as_json(matches: "list[Match]") -> str:
    """Matches as one JSON object."""
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
                    "vertices": match.vertices.tolist(),
                }
                for match in matches
            ]
        }
    )
